import { expect } from 'chai'
import type { Wallet } from 'ethers'
import fc from 'fast-check'
import { SluiceError } from '../../../core/contracts/index.ts'
import { formatRaw, toRaw } from '../../../core/decimal.ts'
import { at, tokens } from '../amm/v2/trading-floor.ts'
import { openOasisFloor, type OasisFloor } from './oasis-floor.ts'

const name = 'WETH-DAI'

describe('orders in a matching market', function () {
  this.timeout(180_000)
  let floor: OasisFloor
  let maker: Wallet
  let taker: Wallet

  before(async () => {
    floor = await openOasisFloor()
    maker = await floor.newTrader()
    taker = await floor.newTrader()
  })
  beforeEach(() => floor.empty(name))
  after(() => floor?.end())

  const refusal = async (work: Promise<unknown>): Promise<SluiceError> => {
    const error: unknown = await work.catch((thrown: unknown) => thrown)
    return error instanceof SluiceError ? error : expect.fail(String(error))
  }
  const ordersOf = async (owner: Wallet) => floor.exchange.orders(owner.address, { market: await floor.named(name) }, at())
  const tradesOf = async (owner: Wallet, orderId?: string) =>
    floor.exchange.trades(
      { market: await floor.named(name), owner: owner.address, limit: 50, ...(orderId !== undefined && { orderId }) },
      at(),
    )
  const newest = async (owner: Wallet) => (await ordersOf(owner))[0] ?? expect.fail('There is no order.')
  const locked = async (owner: Wallet, symbol: string) =>
    (await floor.exchange.balances(owner.address, at())).find((each) => each.symbol === symbol)?.locked ?? '0'

  it('rest at their price, lock what they pay, and give it back to the unit when they are cancelled', async () => {
    for (const [side, token, amount] of [
      ['SELL', tokens.WETH, '1.5'],
      ['BUY', tokens.DAI, '4515.75'],
    ] as const) {
      const before = await floor.balance(maker.address, token)
      const { outcome, receipt } = await floor.place(maker, name, floor.limit(side, '3010.5', '1.5'))
      expect(outcome).to.deep.equal({ orderId: outcome.orderId, state: 'OPEN', filledAmount: '0' })
      const level = [{ price: '3010.5', quantity: '1.5' }]
      expect(await floor.book(name)).to.deep.equal(side === 'SELL' ? { buys: [], sells: level } : { buys: level, sells: [] })
      const { orderId = '' } = outcome
      expect(await newest(maker)).to.include({
        orderId,
        txHash: receipt.transactionHash,
        side,
        price: '3010.5',
        amount: '1.5',
        filledAmount: '0',
        state: 'OPEN',
      })
      expect(await locked(maker, token.symbol)).to.equal(amount)

      expect((await floor.cancel(maker, name, orderId)).outcome).to.deep.equal({ orderId, state: 'CANCELED' })
      expect(await floor.balance(maker.address, token)).to.equal(before)
      expect(await locked(maker, token.symbol)).to.equal('0')
      expect((await newest(maker)).state).to.equal('CANCELED')
    }
  })

  it('are filled in parts by others, each part a trade of both', async () => {
    const { outcome } = await floor.place(maker, name, floor.limit('SELL', '3010.5', '3'))
    for (const filledAmount of ['1', '2']) {
      const part = await floor.place(taker, name, floor.limit('BUY', '3010.5', '1'))
      expect(part.outcome).to.deep.equal({ state: 'FILLED', filledAmount: '1', averagePrice: '3010.5' })
      expect(await newest(maker)).to.include({ state: 'PARTIALLY_FILLED', filledAmount, averagePrice: '3010.5', amount: '3' })
    }
    const last = await floor.place(taker, name, floor.limit('BUY', '3011', '1.25'))
    expect(last.outcome).to.deep.include({ state: 'PARTIALLY_FILLED', filledAmount: '1', averagePrice: '3010.5' })
    expect(await newest(maker)).to.include({ state: 'FILLED', filledAmount: '3', averagePrice: '3010.5' })
    // What was taken at once belongs to the order, whose rest is offered.
    expect(await newest(taker)).to.include({ state: 'PARTIALLY_FILLED', amount: '1.25', filledAmount: '1', price: '3011' })
    const sold = await tradesOf(maker, outcome.orderId)
    expect(sold.map(({ side, price, amount, fee }) => [side, price, amount, fee])).to.deep.equal(
      Array.from({ length: 3 }, () => ['SELL', '3010.5', '1', '0']),
    )
    const bought = await tradesOf(taker)
    expect(bought.map(({ side, orderId }) => [side, orderId])).to.deep.equal([
      ['BUY', last.outcome.orderId],
      ['BUY', undefined],
      ['BUY', undefined],
    ])
    expect(bought.map(({ tradeId }) => tradeId)).to.deep.equal(sold.map(({ tradeId }) => tradeId))
    const everybodys = await floor.exchange.trades({ market: await floor.named(name), limit: 3 }, at())
    expect(everybodys.map(({ side, orderId }) => [side, orderId])).to.deep.equal(Array.from({ length: 3 }, () => ['BUY', undefined]))
  })

  it('that buy across several offers get all of their amount for what those ask', async () => {
    await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    await floor.place(maker, name, floor.limit('SELL', '3010', '1'))
    const before = await floor.balance(taker.address, tokens.DAI)
    const { outcome, plan } = await floor.place(taker, name, floor.limit('BUY', '3020', '2'))
    expect(outcome).to.deep.equal({ state: 'FILLED', filledAmount: '2', averagePrice: '3005' })
    expect(before - (await floor.balance(taker.address, tokens.DAI))).to.equal(6010n * 10n ** 18n)
    expect(plan.needs.map(({ amountRaw }) => amountRaw)).to.deep.equal([6040n * 10n ** 18n, 6040n * 10n ** 18n])
  })

  it('that sell at better prices end with the quote that they asked for: the rest is not sold, and not left in the book', async () => {
    await floor.place(maker, name, floor.limit('BUY', '3000', '2'))
    const before = await floor.balance(taker.address, tokens.WETH)
    const { outcome } = await floor.place(taker, name, floor.limit('SELL', '1500', '2'))
    expect(outcome).to.deep.equal({ state: 'CANCELED', filledAmount: '1', averagePrice: '3000' })
    expect(before - (await floor.balance(taker.address, tokens.WETH))).to.equal(10n ** 18n)
    expect(await ordersOf(taker)).to.have.length((await ordersOf(taker)).filter(({ side }) => side === 'BUY').length)
  })

  it('at market are filled whole within their price, or not at all', async () => {
    await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    await floor.place(maker, name, floor.limit('SELL', '3010', '1'))
    await floor.place(maker, name, floor.limit('BUY', '2990', '1'))
    await floor.place(maker, name, floor.limit('BUY', '2980', '1'))
    const bought = await floor.place(taker, name, floor.atMarket('BUY', '3010', '1.5'))
    expect(bought.outcome).to.deep.equal({ state: 'FILLED', filledAmount: '1.5', averagePrice: '3003.33333333333334' })
    const sold = await floor.place(taker, name, floor.atMarket('SELL', '2980', '1.5'))
    expect(sold.outcome).to.deep.equal({ state: 'FILLED', filledAmount: '1.5', averagePrice: '2986.66666666666666' })
    for (const [side, bound, code] of [
      ['BUY', '3009.99', 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE'],
      ['SELL', '2980.01', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'],
    ] as const) {
      expect((await refusal(floor.place(taker, name, floor.atMarket(side, bound, '0.5')))).name).to.equal(code)
      const short = await refusal(floor.place(taker, name, floor.atMarket(side, side === 'BUY' ? '9999' : '1', '0.6')))
      expect([short.name, short.message]).to.deep.equal([
        'TRADE_FAILED',
        'The order book of WETH-DAI has less than 0.6 WETH for it: trade less.',
      ])
    }
  })

  it('at market keep their bound on chain, where the book has moved meanwhile', async () => {
    const { outcome } = await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    await floor.place(maker, name, floor.limit('SELL', '3010', '1'))
    const action = { do: 'create', market: await floor.named(name), order: floor.atMarket('BUY', '3000', '1') } as const
    const [planned] = await floor.exchange.act(taker.address, [action], at())
    await floor.cancel(maker, name, outcome.orderId ?? '')
    if (!planned || 'via' in planned.plan) throw new Error('An order is a transaction.')
    const receipt = await floor.execute(planned.plan, taker)
    expect(receipt.status).to.equal(0)
    expect(floor.exchange.outcome(receipt, planned.plan.memo)).to.deep.equal([{ state: 'REJECTED', reason: 'the transaction failed' }])
  })

  it('of one wallet may meet each other, and both sides are told', async () => {
    const resting = await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    const before = await floor.balance(maker.address, tokens.WETH)
    const crossing = await floor.place(maker, name, floor.limit('BUY', '3000', '1'))
    expect(crossing.outcome).to.include({ state: 'FILLED', filledAmount: '1' })
    expect((await floor.balance(maker.address, tokens.WETH)) - before).to.equal(10n ** 18n)
    const [first, second] = await tradesOf(maker)
    expect([first?.side, second?.side]).to.have.members(['BUY', 'SELL'])
    expect(first?.tradeId).to.equal(second?.tradeId)
    expect(await tradesOf(maker, resting.outcome.orderId)).to.have.length(1)
  })

  it('are taken out of the book where what is left of them is less than an offer must pay', async () => {
    const resting = await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    const before = await floor.balance(maker.address, tokens.WETH)
    await floor.place(taker, name, floor.limit('BUY', '3000', '0.9995'))
    expect(await newest(maker)).to.include({ orderId: resting.outcome.orderId, state: 'CANCELED', filledAmount: '0.9995' })
    expect((await floor.balance(maker.address, tokens.WETH)) - before).to.equal(5n * 10n ** 14n)
    // And so is what is left of one that has just come.
    await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    const { outcome } = await floor.place(taker, name, floor.limit('BUY', '3000', '1.0003'))
    expect(outcome).to.deep.equal({ state: 'CANCELED', filledAmount: '1', averagePrice: '3000' })
    expect(await floor.book(name)).to.deep.equal({ buys: [], sells: [] })
  })

  it('cannot be cancelled by others, twice, or in another market', async () => {
    const { outcome } = await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    const { orderId = '' } = outcome
    for (const [wallet, market, id] of [
      [taker, name, orderId],
      [maker, 'WETH-USDC', orderId],
      [maker, name, '987654321987'],
      [maker, name, '-1'],
      [maker, name, '0x1'],
    ] as const)
      expect((await refusal(floor.cancel(wallet, market, id))).name).to.equal('UNKNOWN_ORDER')
    await floor.cancel(maker, name, orderId)
    expect((await refusal(floor.cancel(maker, name, orderId))).details).to.deep.equal({ reason: 'the order was cancelled already' })
    const filled = await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    await floor.place(taker, name, floor.limit('BUY', '3000', '1'))
    const over = await refusal(floor.cancel(maker, name, filled.outcome.orderId ?? ''))
    expect([over.name, over.details]).to.deep.equal(['TRADE_FAILED', { reason: 'the order was filled already' }])
    expect((await refusal(floor.cancel(taker, name, filled.outcome.orderId ?? ''))).name).to.equal('UNKNOWN_ORDER')
  })

  it('come in any number in one round trip, each a plan of its own', async () => {
    const market = await floor.named(name)
    const resting = await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    const create = (price: string) => ({ do: 'create', market, order: floor.limit('SELL', price, '1') }) as const
    const cancel = { do: 'cancel', market, order: { orderId: resting.outcome.orderId ?? '' } } as const
    floor.counted.rpc = 0
    const plans = await floor.exchange.act(maker.address, [create('3001'), cancel, create('3002')], at())
    expect(floor.counted.rpc).to.equal(1)
    expect(plans.map(({ covers }) => covers)).to.deep.equal([[0], [1], [2]])
  })

  it('that come to nothing, or to more than the market can keep, are refused', async () => {
    for (const [order, problem] of [
      [
        floor.limit('BUY', '0.0000001', '1'),
        'amount: 1 WETH at 0.0000001 USDC come to less than 0.000001 USDC, which is the least that there is.',
      ],
      [floor.limit('SELL', '1', `1${'0'.repeat(30)}`), `amount: 1${'0'.repeat(30)} WETH is more than the market can keep.`],
      [floor.limit('SELL', `1${'0'.repeat(40)}`, '1'), `price: 1 WETH at 1${'0'.repeat(40)} USDC come to more than the market can keep.`],
    ] as const) {
      const { name: code, message, details } = await refusal(floor.place(maker, 'WETH-USDC', order))
      expect([code, message]).to.deep.equal(['INCOMPLETE_PARAMS', problem])
      expect(details).to.deep.equal([{ field: problem.split(':')[0], problem: problem.split(': ')[1]?.replace(/\.$/, '') }])
    }
  })

  it('that were to be filled rest where somebody else came first, and have the gas for it', async () => {
    const resting = await floor.place(maker, name, floor.limit('SELL', '3000', '1'))
    const action = { do: 'create', market: await floor.named(name), order: floor.limit('BUY', '3000', '1') } as const
    const [planned] = await floor.exchange.act(taker.address, [action], at())
    if (!planned || 'via' in planned.plan) throw new Error('An order is a transaction.')
    const { prepared } = await floor.chain.rail.check(planned.plan.steps, planned.plan.needs, taker.address, { wish: {} }, at())
    const gasLimit = prepared[0]?.gas.gasLimit ?? 0n
    await floor.cancel(maker, name, resting.outcome.orderId ?? '')
    const receipt = await floor.execute(planned.plan, taker, gasLimit)
    expect(floor.exchange.outcome(receipt, planned.plan.memo)[0]).to.include({ state: 'OPEN', filledAmount: '0' })
  })

  it('meet offers of their price that rounding has moved by less than a unit, and those behind', async () => {
    await floor.empty('WETH-USDC')
    await floor.place(maker, 'WETH-USDC', floor.limit('SELL', '3000', '1'))
    await floor.place(taker, 'WETH-USDC', floor.limit('BUY', '3000', '0.333333333333333333'))
    await floor.place(maker, 'WETH-USDC', floor.limit('SELL', '3000', '1'))
    expect((await floor.book('WETH-USDC')).sells.map(({ price }) => price)).to.deep.equal(['3000', '3000.0000015'])
    const { outcome } = await floor.place(taker, 'WETH-USDC', floor.limit('BUY', '3000', '0.5'))
    expect(outcome).to.deep.equal({ state: 'FILLED', filledAmount: '0.5', averagePrice: '3000' })
  })

  it('never trade past their price, however amounts are rounded, and meet offers of that very price', async () => {
    const [usdc, market] = [tokens.USDC, await floor.named('WETH-USDC')]
    await floor.empty('WETH-USDC')
    let met = 0
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          isBuy: fc.boolean(),
          tick: fc.integer({ min: -2, max: 2 }),
          digits: fc.bigInt(10n ** 16n, 3n * 10n ** 18n),
        }),
        async ({ isBuy, tick, digits }) => {
          // Nobody meets himself.
          const trader = isBuy ? maker : taker
          const price = `${3000 + tick}.1234567`
          const order = floor.limit(isBuy ? 'BUY' : 'SELL', price, formatRaw(digits, 18))
          const before = await floor.balance(trader.address, usdc)
          const had = await floor.balance(trader.address, tokens.WETH)
          const { outcome } = await floor.actBy(trader, { do: 'create', market, order })
          const { filledAmount = '0', averagePrice, orderId } = outcome
          if (averagePrice === undefined) return
          met += 1
          const offer = orderId === undefined ? undefined : await floor.market.getFunction('offers').staticCall(orderId)
          const restsRaw: bigint = offer?.pay_amt ?? 0n
          const movedRaw = (await floor.balance(trader.address, usdc)) - before
          const wethRaw = (await floor.balance(trader.address, tokens.WETH)) - had
          // Exactly: units of quote times 10^7 against units of base at the price.
          const limitRaw = (toRaw(filledAmount, 18) ?? 0n) * BigInt(price.replace('.', ''))
          const [paidRaw, gotRaw] = [-(movedRaw + (isBuy ? restsRaw : 0n)), movedRaw]
          if (isBuy) expect(paidRaw * 10n ** 19n <= limitRaw, `${paidRaw} for ${filledAmount} at ${price}`).to.equal(true)
          else expect(gotRaw * 10n ** 19n >= limitRaw, `${gotRaw} for ${filledAmount} at ${price}`).to.equal(true)
          expect(isBuy ? wethRaw : -(wethRaw + restsRaw)).to.equal(toRaw(filledAmount, 18) ?? 0n)
        },
      ),
      { numRuns: 60, endOnFailure: true },
    )
    expect(met).to.be.above(10)
    const { buys, sells } = await floor.book('WETH-USDC')
    if (buys[0] && sells[0]) expect(Number(buys[0].price)).to.be.below(Number(sells[0].price))
  })
})
