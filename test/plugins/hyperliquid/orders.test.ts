import { expect } from 'chai'
import { Wallet } from 'ethers'
import type { BookAction, BookMarket, CLOB, NewOrder } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { at, landedOf, only, startVenue, type TestVenue } from './venue.ts'

const order = (some: Partial<NewOrder>): NewOrder => ({
  clientOrderId: 'one',
  side: 'BUY',
  orderType: 'LIMIT',
  timeInForce: 'GTC',
  price: '39',
  amount: '1',
  ...some,
})

describe('orders at Hyperliquid', () => {
  let venue: TestVenue
  before(async () => {
    venue = await startVenue()
  })
  after(() => venue.stop())

  async function marketOf(book: CLOB<Evm>, name: string): Promise<BookMarket> {
    const found = (await book.markets(at)).find(({ base, quote }) => `${base}-${quote}` === name)
    if (!found) throw new Error(`no market ${name}`)
    return found
  }

  function newWallet() {
    const wallet = Wallet.createRandom()
    venue.exchange.credit(wallet.address.toLowerCase(), 'USDC', '100000')
    venue.exchange.credit(wallet.address.toLowerCase(), 'HYPE', '1000')
    return wallet
  }

  async function act(wallet: Pick<Wallet, 'address' | 'signTypedData'>, actions: readonly BookAction[]) {
    const plans = await venue.CLOB.act(wallet.address, actions, at)
    return Promise.all(
      plans.map(async ({ plan, covers }) => {
        if (!('via' in plan)) throw new Error('it goes by the chain')
        const { reception } = only(await venue.carryOut(plan, wallet))
        return { covers, outcomes: venue.CLOB.outcome(landedOf(reception).receipt, plan.memo) }
      }),
    )
  }

  it('go to markets that are listed with their grids', async () => {
    const market = await marketOf(venue.CLOB, 'HYPE-USDC')
    expect(market).to.deep.include({
      id: '@107',
      prices: { significantFigures: 5, maxDecimals: 6 },
      lotSize: '0.01',
      minNotional: '10',
      makerFee: '0.0004',
      takerFee: '0.0007',
      status: 'open',
    })
    const perps = await venue.PERP_CLOB.markets(at)
    expect(perps.map(({ base, quote, status }) => `${base}-${quote} ${status}`)).to.include.members(['BTC-USD open', 'MATIC-USD closed'])
    expect(perps[0]).to.deep.include({ prices: { significantFigures: 5, maxDecimals: 1 }, lotSize: '0.00001' })
  })

  it('that were partly filled are returned as such, also when the newest fills are of other orders', async () => {
    const market = await marketOf(venue.CLOB, 'HYPE-USDC')
    const [wallet, stranger] = [newWallet(), '0x00000000000000000000000000000000000000ee']
    venue.exchange.place(stranger, { coin: '@107', side: 'SELL', price: '39', size: '0.4' })
    await act(wallet, [{ do: 'create', market, order: order({ timeInForce: 'IOC', clientOrderId: 'part' }) }])
    const rests = order({ side: 'SELL', price: '41', amount: '600', clientOrderId: 'rests' })
    await act(wallet, [{ do: 'create', market, order: rests }])
    for (let count = 0; count < 2000; count += 1) venue.exchange.place(stranger, { coin: '@107', side: 'BUY', price: '41', size: '0.3' })

    const [named] = await venue.CLOB.orders(wallet.address, { names: [{ clientOrderId: 'part' }] }, at)
    expect(named).to.include({ state: 'CANCELED', filledAmount: '0.4', averagePrice: '39' })
    const [listed] = await venue.CLOB.orders(wallet.address, { market }, at)
    expect(listed).to.include({ state: 'FILLED', filledAmount: '600' })
    expect(await venue.CLOB.orders(wallet.address, { market }, at), 'what nobody tells how it ended').to.have.length(1)
  })

  it('fail before signing if the wallet cannot pay for them, MARKET orders at their worst price', async () => {
    const market = await marketOf(venue.CLOB, 'HYPE-USDC')
    const wallet = newWallet()
    const atMarket = (some: Partial<NewOrder>) => ({
      do: 'create' as const,
      market,
      order: order({ orderType: 'MARKET', timeInForce: 'IOC', ...some }),
    })
    for (const [some, details] of [
      [
        { price: '40', amount: '2500.01' },
        { token: 'USDC', current: '100000', needed: '100000.4' },
      ],
      [
        { side: 'SELL', price: '30', amount: '1000.01' },
        { token: 'HYPE', current: '1000', needed: '1000.01' },
      ],
    ] as const) {
      const refused: unknown = await venue.CLOB.act(wallet.address, [atMarket(some)], at).catch((error: unknown) => error)
      expect(refused).to.deep.include({ name: 'INSUFFICIENT_BALANCE', details })
    }
    expect(await venue.CLOB.act(wallet.address, [atMarket({ price: '40', amount: '2500' })], at)).to.have.length(1)
  })

  it('rest, are partly filled by others, and are cancelled', async () => {
    const market = await marketOf(venue.CLOB, 'HYPE-USDC')
    const wallet = newWallet()
    const placed = only(await act(wallet, [{ do: 'create', market, order: order({}) }]))
    const { orderId, state } = only(placed.outcomes)
    expect(state).to.equal('OPEN')

    venue.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '39', size: '0.4' })
    const shown = only(await venue.CLOB.orders(wallet.address, { names: [{ clientOrderId: 'one' }] }, at))
    expect(shown).to.deep.include({
      orderId,
      clientOrderId: 'one',
      side: 'BUY',
      orderType: 'LIMIT',
      price: '39',
      amount: '1',
      filledAmount: '0.4',
      averagePrice: '39',
      state: 'PARTIALLY_FILLED',
    })
    expect(await venue.CLOB.orders(wallet.address, { market }, at)).to.have.length(1)

    const cancelled = only(await act(wallet, [{ do: 'cancel', market, order: { clientOrderId: 'one' } }]))
    expect(only(cancelled.outcomes).state).to.equal('CANCELED')
    expect(only(await venue.CLOB.orders(wallet.address, {}, at))).to.include({ state: 'CANCELED', filledAmount: '0.4' })
    const again = only(await act(wallet, [{ do: 'cancel', market, order: { orderId: String(orderId) } }]))
    expect(only(again.outcomes)).to.have.property('state', 'REJECTED')
  })
})
