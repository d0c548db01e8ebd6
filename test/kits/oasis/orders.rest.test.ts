import { expect } from 'chai'
import type { Wallet } from 'ethers'
import fc from 'fast-check'
import { SluiceError } from '../../../core/contracts/index.ts'
import { formatRaw, toRaw } from '../../../core/base/decimal.ts'
import { oasis } from '../../../kits/oasis/index.ts'
import { markets } from '../../../plugins/oasis/markets.ts'
import { at, tokens } from '../amm/devnet-fixture.ts'
import { createOasisFixture, type OasisFixture } from './fixture.ts'

const name = 'WETH-DAI'

describe('orders in a matching market', function () {
  this.timeout(300_000)
  let fixture: OasisFixture
  let maker: Wallet
  let taker: Wallet

  before(async () => {
    fixture = await createOasisFixture()
    maker = await fixture.newTrader()
    taker = await fixture.newTrader()
  })
  beforeEach(() => fixture.empty(name))
  after(() => fixture?.end())

  const refusal = async (work: Promise<unknown>): Promise<SluiceError> => {
    const error: unknown = await work.catch((thrown: unknown) => thrown)
    return error instanceof SluiceError ? error : expect.fail(String(error))
  }
  const ordersOf = async (owner: Wallet) => fixture.exchange.orders(owner.address, { market: await fixture.named(name) }, at())
  const tradesOf = async (owner: Wallet, orderId?: string) =>
    fixture.exchange.trades(
      { market: await fixture.named(name), owner: owner.address, limit: 50, ...(orderId !== undefined && { orderId }) },
      at(),
    )
  const newest = async (owner: Wallet) => (await ordersOf(owner))[0] ?? expect.fail('There is no order.')
  const locked = async (owner: Wallet, symbol: string) =>
    (await fixture.exchange.balances(owner.address, at())).find((each) => each.symbol === symbol)?.locked ?? '0'

  it('rest at their price, lock what they pay, and return it to the unit when they are cancelled', async () => {
    for (const [side, token, amount] of [
      ['SELL', tokens.WETH, '1.5'],
      ['BUY', tokens.DAI, '4515.75'],
    ] as const) {
      const before = await fixture.balance(maker.address, token)
      const { outcome, receipt } = await fixture.place(maker, name, fixture.limit(side, '3010.5', '1.5'))
      expect(outcome).to.deep.equal({ orderId: outcome.orderId, state: 'OPEN', filledAmount: '0' })
      const level = [{ price: '3010.5', quantity: '1.5' }]
      expect(await fixture.book(name)).to.deep.equal(side === 'SELL' ? { buys: [], sells: level } : { buys: level, sells: [] })
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

      expect((await fixture.cancel(maker, name, orderId)).outcome).to.deep.equal({ orderId, state: 'CANCELED' })
      expect(await fixture.balance(maker.address, token)).to.equal(before)
      expect(await locked(maker, token.symbol)).to.equal('0')
      expect((await newest(maker)).state).to.equal('CANCELED')
    }
  })

  it('fill in parts against others, each part a trade of both sides', async () => {
    const { outcome } = await fixture.place(maker, name, fixture.limit('SELL', '3010.5', '3'))
    for (const filledAmount of ['1', '2']) {
      const part = await fixture.place(taker, name, fixture.limit('BUY', '3010.5', '1'))
      expect(part.outcome).to.deep.equal({ state: 'FILLED', filledAmount: '1', averagePrice: '3010.5' })
      expect(await newest(maker)).to.include({ state: 'PARTIALLY_FILLED', filledAmount, averagePrice: '3010.5', amount: '3' })
    }
    const last = await fixture.place(taker, name, fixture.limit('BUY', '3011', '1.25'))
    expect(last.outcome).to.deep.include({ state: 'PARTIALLY_FILLED', filledAmount: '1', averagePrice: '3010.5' })
    expect(await newest(maker)).to.include({ state: 'FILLED', filledAmount: '3', averagePrice: '3010.5' })
    // What was taken at once belongs to the order whose rest is offered.
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
    expect(bought[0]?.blockNumber).to.equal(last.receipt.blockNumber)
    const everybodys = await fixture.exchange.trades({ market: await fixture.named(name), limit: 3 }, at())
    expect(everybodys.map(({ side, orderId }) => [side, orderId])).to.deep.equal(Array.from({ length: 3 }, () => ['BUY', undefined]))
  })

  it('can be found by id and cancelled where nodes give no logs, with what is left of them', async () => {
    const { outcome } = await fixture.place(maker, name, fixture.limit('SELL', '3010.5', '3'))
    await fixture.place(taker, name, fixture.limit('BUY', '3010.5', '1'))
    const venue = fixture.venue({ routerAddress: fixture.address })
    const logs = async (): Promise<never> => {
      throw new SluiceError('NETWORK', 'The node gives no logs.', { retryAfterSeconds: 2 })
    }
    const exchange = oasis({ ...venue, reader: { ...venue.reader, logs } }, { markets })
    const { orderId = '' } = outcome
    const byId = async (id: string) => exchange.orders(maker.address, { names: [{ orderId: id }] }, at())
    expect(await byId(orderId)).to.have.length(1)
    expect((await byId(orderId))[0]).to.include({ orderId, side: 'SELL', price: '3010.5', amount: '2', leftAmount: '2', state: 'OPEN' })
    const market = await fixture.named(name)
    const [planned] = await exchange.act(maker.address, [{ do: 'cancel', market, order: { orderId } }], at())
    if (!planned || 'via' in planned.plan) throw new Error('A cancel goes the way of transactions.')
    await fixture.execute(planned.plan, maker)
    expect((await newest(maker)).state).to.equal('CANCELED')
    // How it ended only logs tell.
    expect((await refusal(byId(orderId))).name).to.equal('NETWORK')
    expect((await fixture.exchange.orders(maker.address, { names: [{ orderId }] }, at()))[0]).to.include({
      orderId,
      state: 'CANCELED',
      filledAmount: '1',
    })
    expect(await fixture.exchange.orders(taker.address, { names: [{ orderId }] }, at())).to.deep.equal([])
  })

  it('that buy from several offers get their whole amount for what those offers ask', async () => {
    await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    await fixture.place(maker, name, fixture.limit('SELL', '3010', '1'))
    const before = await fixture.balance(taker.address, tokens.DAI)
    const { outcome, plan } = await fixture.place(taker, name, fixture.limit('BUY', '3020', '2'))
    expect(outcome).to.deep.equal({ state: 'FILLED', filledAmount: '2', averagePrice: '3005' })
    expect(before - (await fixture.balance(taker.address, tokens.DAI))).to.equal(6010n * 10n ** 18n)
    expect(plan.needs.map(({ amountRaw }) => amountRaw)).to.deep.equal([6040n * 10n ** 18n, 6040n * 10n ** 18n])
  })

  it('at market buy their whole amount, and sell all of it but a unit, and what is worth less than the smallest unit of quote', async () => {
    const market = 'WETH-USDC'
    const unit = 10n ** 18n
    let left = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ price: fc.bigInt(10n ** 9n, 4n * 10n ** 9n), amountRaw: fc.bigInt(unit / 10n, unit) }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.bigInt(1n, 100n),
        fc.boolean(),
        async (offers, percent, isBuy) => {
          await fixture.empty(market)
          for (const { price, amountRaw } of offers)
            await fixture.place(maker, market, fixture.limit(isBuy ? 'SELL' : 'BUY', formatRaw(price, 6), formatRaw(amountRaw, 18)))
          const amountRaw = (offers.reduce((sum, each) => sum + each.amountRaw, 0n) * percent) / 101n
          const worstRaw = offers.map(({ price }) => price).reduce((a, b) => (a > b === isBuy ? a : b))
          const boundRaw = isBuy ? worstRaw + worstRaw / 100n : worstRaw - worstRaw / 100n
          const bound = formatRaw(boundRaw, 6)
          const [weth, usdc] = [await fixture.balance(taker.address, tokens.WETH), await fixture.balance(taker.address, tokens.USDC)]
          const { outcome } = await fixture.place(taker, market, fixture.atMarket(isBuy ? 'BUY' : 'SELL', bound, formatRaw(amountRaw, 18)))
          const movedRaw = (await fixture.balance(taker.address, tokens.WETH)) - weth
          const quoteRaw = (await fixture.balance(taker.address, tokens.USDC)) - usdc
          expect(outcome).to.include({ state: 'FILLED', filledAmount: formatRaw(isBuy ? movedRaw : -movedRaw, 18) })
          if (isBuy) expect(movedRaw).to.equal(amountRaw)
          else {
            const unsoldRaw = amountRaw + movedRaw
            // By the lowest of the prices, at which a unit of quote is worth most. An offer pays whole units of quote, so its own price may be lower.
            const isWorthLess = offers.some((each) => (unsoldRaw - 1n) * ((each.price * each.amountRaw) / unit) <= each.amountRaw)
            expect(unsoldRaw >= 0n && isWorthLess, `${unsoldRaw} unsold`).to.equal(true)
            expect(quoteRaw * unit >= amountRaw * boundRaw - unit, 'the proceeds of the whole amount').to.equal(true)
            if (unsoldRaw > 0n) left += 1
          }
        },
      ),
      { numRuns: 25 },
    )
    expect(left).to.be.above(0)
  })

  it('that sell at better prices end once they got their quote amount: the rest is neither sold nor left in the book', async () => {
    await fixture.place(maker, name, fixture.limit('BUY', '3000', '2'))
    const before = await fixture.balance(taker.address, tokens.WETH)
    const { outcome } = await fixture.place(taker, name, fixture.limit('SELL', '1500', '2'))
    expect(outcome).to.deep.equal({ state: 'CANCELED', filledAmount: '1', averagePrice: '3000' })
    expect(before - (await fixture.balance(taker.address, tokens.WETH))).to.equal(10n ** 18n)
    expect(await ordersOf(taker)).to.have.length((await ordersOf(taker)).filter(({ side }) => side === 'BUY').length)
  })

  it('at market are filled whole within their price, or not at all', async () => {
    await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    await fixture.place(maker, name, fixture.limit('SELL', '3010', '1'))
    await fixture.place(maker, name, fixture.limit('BUY', '2990', '1'))
    await fixture.place(maker, name, fixture.limit('BUY', '2980', '1'))
    const bought = await fixture.place(taker, name, fixture.atMarket('BUY', '3010', '1.5'))
    expect(bought.outcome).to.deep.equal({ state: 'FILLED', filledAmount: '1.5', averagePrice: '3003.33333333333334' })
    const sold = await fixture.place(taker, name, fixture.atMarket('SELL', '2980', '1.5'))
    expect(sold.outcome).to.deep.equal({ state: 'FILLED', filledAmount: '1.5', averagePrice: '2986.66666666666666' })
    for (const [side, bound, code] of [
      ['BUY', '3009.99', 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE'],
      ['SELL', '2980.01', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'],
    ] as const) {
      expect((await refusal(fixture.place(taker, name, fixture.atMarket(side, bound, '0.5')))).name).to.equal(code)
      const short = await refusal(fixture.place(taker, name, fixture.atMarket(side, side === 'BUY' ? '9999' : '1', '0.6')))
      expect([short.name, short.message]).to.deep.equal([
        'TRADE_FAILED',
        'The order book of WETH-DAI has less than 0.6 WETH on the other side: trade less.',
      ])
    }
  })

  it('at market keep their limit on chain when the book has moved in between', async () => {
    const { outcome } = await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    await fixture.place(maker, name, fixture.limit('SELL', '3010', '1'))
    const action = { do: 'create', market: await fixture.named(name), order: fixture.atMarket('BUY', '3000', '1') } as const
    const [planned] = await fixture.exchange.act(taker.address, [action], at())
    await fixture.cancel(maker, name, outcome.orderId ?? '')
    if (!planned || 'via' in planned.plan) throw new Error('An order is a transaction.')
    const receipt = await fixture.execute(planned.plan, taker)
    expect(receipt.status).to.equal(0)
    expect(fixture.exchange.outcome(receipt, planned.plan.memo)).to.deep.equal([{ state: 'REJECTED', reason: 'the transaction failed' }])
  })

  it('match each other if they belong to one wallet, which gets both sides', async () => {
    const resting = await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    const before = await fixture.balance(maker.address, tokens.WETH)
    const crossing = await fixture.place(maker, name, fixture.limit('BUY', '3000', '1'))
    expect(crossing.outcome).to.include({ state: 'FILLED', filledAmount: '1' })
    expect((await fixture.balance(maker.address, tokens.WETH)) - before).to.equal(10n ** 18n)
    const [first, second] = await tradesOf(maker)
    expect([first?.side, second?.side]).to.have.members(['BUY', 'SELL'])
    expect([first?.tradeId, second?.tradeId].map((tradeId) => tradeId?.replace(/-maker$/, ''))).to.deep.equal([
      first?.tradeId,
      first?.tradeId,
    ])
    expect(first?.tradeId).not.to.equal(second?.tradeId)
    expect(await tradesOf(maker, resting.outcome.orderId)).to.have.length(1)
  })

  it('leave the book when their rest is less than the minimum of an offer', async () => {
    const resting = await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    const before = await fixture.balance(maker.address, tokens.WETH)
    await fixture.place(taker, name, fixture.limit('BUY', '3000', '0.9995'))
    expect(await newest(maker)).to.include({ orderId: resting.outcome.orderId, state: 'CANCELED', filledAmount: '0.9995' })
    expect((await fixture.balance(maker.address, tokens.WETH)) - before).to.equal(5n * 10n ** 14n)
    // The same holds for the rest of a new offer.
    await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    const { outcome } = await fixture.place(taker, name, fixture.limit('BUY', '3000', '1.0003'))
    expect(outcome).to.deep.equal({ state: 'CANCELED', filledAmount: '1', averagePrice: '3000' })
    expect(await fixture.book(name)).to.deep.equal({ buys: [], sells: [] })
  })

  it('cannot be cancelled by others, twice, or in another market', async () => {
    const { outcome } = await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    const { orderId = '' } = outcome
    for (const [wallet, market, id] of [
      [taker, name, orderId],
      [maker, 'WETH-USDC', orderId],
      [maker, name, '987654321987'],
      [maker, name, '-1'],
      [maker, name, '0x1'],
    ] as const)
      expect((await refusal(fixture.cancel(wallet, market, id))).name).to.equal('UNKNOWN_ORDER')
    await fixture.cancel(maker, name, orderId)
    expect((await refusal(fixture.cancel(maker, name, orderId))).details).to.deep.equal({ reason: 'the order was cancelled already' })
    const filled = await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    await fixture.place(taker, name, fixture.limit('BUY', '3000', '1'))
    const over = await refusal(fixture.cancel(maker, name, filled.outcome.orderId ?? ''))
    expect([over.name, over.details]).to.deep.equal(['TRADE_FAILED', { reason: 'the order was filled already' }])
    expect((await refusal(fixture.cancel(taker, name, filled.outcome.orderId ?? ''))).name).to.equal('UNKNOWN_ORDER')
  })

  it('take one round trip to plan, in any number, each with its own plan', async () => {
    const market = await fixture.named(name)
    const resting = await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    const create = (price: string) => ({ do: 'create', market, order: fixture.limit('SELL', price, '1') }) as const
    const cancel = { do: 'cancel', market, order: { orderId: resting.outcome.orderId ?? '' } } as const
    fixture.counted.rpc = 0
    const plans = await fixture.exchange.act(maker.address, [create('3001'), cancel, create('3002')], at())
    expect(fixture.counted.rpc).to.equal(1)
    expect(plans.map(({ covers }) => covers)).to.deep.equal([[0], [1], [2]])
  })

  it('fail if their value rounds to nothing, or is more than the market can store', async () => {
    for (const [order, problem] of [
      [fixture.limit('BUY', '0.0000001', '1'), 'amount: 1 WETH at 0.0000001 USDC is less than 0.000001 USDC, the smallest unit.'],
      [fixture.limit('SELL', '1', `1${'0'.repeat(30)}`), `amount: 1${'0'.repeat(30)} WETH is more than the market can store.`],
      [fixture.limit('SELL', `1${'0'.repeat(40)}`, '1'), `price: 1 WETH at 1${'0'.repeat(40)} USDC is more than the market can store.`],
    ] as const) {
      const { name: code, message, details } = await refusal(fixture.place(maker, 'WETH-USDC', order))
      expect([code, message]).to.deep.equal(['INCOMPLETE_PARAMS', problem])
      expect(details).to.deep.equal([{ field: problem.split(':')[0], problem: problem.split(': ')[1]?.replace(/\.$/, '') }])
    }
  })

  it('that should match rest if another trader is faster, and have enough gas for it', async () => {
    const resting = await fixture.place(maker, name, fixture.limit('SELL', '3000', '1'))
    const action = { do: 'create', market: await fixture.named(name), order: fixture.limit('BUY', '3000', '1') } as const
    const [planned] = await fixture.exchange.act(taker.address, [action], at())
    if (!planned || 'via' in planned.plan) throw new Error('An order is a transaction.')
    const { prepared } = await fixture.chain.rail.check(planned.plan.steps, planned.plan.needs, taker.address, { feeOverrides: {} }, at())
    const gasLimit = prepared[0]?.gas.gasLimit ?? 0n
    await fixture.cancel(maker, name, resting.outcome.orderId ?? '')
    const receipt = await fixture.execute(planned.plan, taker, gasLimit)
    expect(fixture.exchange.outcome(receipt, planned.plan.memo)[0]).to.include({ state: 'OPEN', filledAmount: '0' })
  })

  it('never pay past their price, whatever is offered before they are mined', async () => {
    const [weth, usdc] = [tokens.WETH, tokens.USDC]
    await fixture.empty('WETH-USDC')
    const action = { do: 'create', market: await fixture.named('WETH-USDC'), order: fixture.limit('SELL', '3000', '1') } as const
    const [planned] = await fixture.exchange.act(taker.address, [action], at())
    if (!planned || 'via' in planned.plan) throw new Error('An order is a transaction.')
    // All of it but the last unit at its price, and that unit for 10 WETH.
    const market = fixture.market.connect(maker)
    for (const [payRaw, buyRaw] of [
      [3000n * 10n ** 6n - 1n, 10n ** 18n - 10n ** 9n],
      [10n ** 6n, 10n ** 25n],
    ])
      await (
        await market.getFunction('offer(uint256,address,uint256,address,uint256,bool)')(
          payRaw,
          usdc.address,
          buyRaw,
          weth.address,
          0n,
          false,
          { gasLimit: 1_000_000n },
        )
      ).wait()
    const before = await fixture.balance(taker.address, weth)
    await fixture.execute(planned.plan, taker, 3_000_000n)
    expect(before - (await fixture.balance(taker.address, weth)) <= 10n ** 18n).to.equal(true)
  })

  it('match offers of their price that rounding has moved by less than a unit, and those behind them', async () => {
    await fixture.empty('WETH-USDC')
    await fixture.place(maker, 'WETH-USDC', fixture.limit('SELL', '3000', '1'))
    await fixture.place(taker, 'WETH-USDC', fixture.limit('BUY', '3000', '0.333333333333333333'))
    await fixture.place(maker, 'WETH-USDC', fixture.limit('SELL', '3000', '1'))
    expect((await fixture.book('WETH-USDC')).sells.map(({ price }) => price)).to.deep.equal(['3000', '3000.0000015'])
    const { outcome } = await fixture.place(taker, 'WETH-USDC', fixture.limit('BUY', '3000', '0.5'))
    expect(outcome).to.deep.equal({ state: 'FILLED', filledAmount: '0.5', averagePrice: '3000' })
  })

  it('never trade past their price, however amounts are rounded, and match offers of exactly that price', async () => {
    const [usdc, market] = [tokens.USDC, await fixture.named('WETH-USDC')]
    await fixture.empty('WETH-USDC')
    let met = 0
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          isBuy: fc.boolean(),
          tick: fc.integer({ min: -2, max: 2 }),
          digits: fc.bigInt(10n ** 16n, 3n * 10n ** 18n),
        }),
        async ({ isBuy, tick, digits }) => {
          // No trader matches his own offers here.
          const trader = isBuy ? maker : taker
          const price = `${3000 + tick}.1234567`
          const order = fixture.limit(isBuy ? 'BUY' : 'SELL', price, formatRaw(digits, 18))
          const before = await fixture.balance(trader.address, usdc)
          const had = await fixture.balance(trader.address, tokens.WETH)
          const { outcome } = await fixture.actBy(trader, { do: 'create', market, order })
          const { filledAmount = '0', averagePrice, orderId } = outcome
          if (averagePrice === undefined) return
          met += 1
          const offer = orderId === undefined ? undefined : await fixture.market.getFunction('offers').staticCall(orderId)
          const restsRaw: bigint = offer?.pay_amt ?? 0n
          const movedRaw = (await fixture.balance(trader.address, usdc)) - before
          const wethRaw = (await fixture.balance(trader.address, tokens.WETH)) - had
          // Exact: units of quote times 10^7 against units of base at the price.
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
    const { buys, sells } = await fixture.book('WETH-USDC')
    if (buys[0] && sells[0]) expect(Number(buys[0].price)).to.be.below(Number(sells[0].price))
  })
})
