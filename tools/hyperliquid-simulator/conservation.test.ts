import { expect } from 'chai'
import * as fc from 'fast-check'
import { actions } from './exchange/actions/execute.ts'
import { fromPrice } from './exchange/amounts.ts'
import { createClock, accountOf, createEngine, type Engine } from './exchange/engine.ts'
import { createDriver, type Driver } from './exchange/driver.ts'
import { wrongSums } from './exchange/wrong-sums.ts'
import { defaultRules } from './exchange/rules.ts'
import { createNonces } from './exchange/signing.ts'

const users = ['0xa', '0xb', '0xc', '0xd'].map((start) => start.padEnd(42, '0'))
/** Some oftener, so that orders meet. */
const assets = [0, 0, 0, 0, 4, 4, 10_107, 10_107, 10_000]
const context = { nonces: createNonces(), nonce: 0 }

type Step = (engine: Engine, driver: Driver) => unknown

const act =
  (user: string, type: string, action: object): Step =>
  (engine) =>
    actions[type]!.run(engine, accountOf(engine, user), action, context)

const user = fc.constantFrom(...users)
const dollars = fc.integer({ min: 1, max: 30_000 }).map(String)

/** An order near the market's price, on its grid. */
const order: fc.Arbitrary<Step> = fc
  .record({
    user,
    asset: fc.constantFrom(...assets),
    b: fc.boolean(),
    r: fc.nat(5).map((n) => n === 0),
    tif: fc.constantFrom('Gtc', 'Gtc', 'Gtc', 'Ioc', 'Alo'),
    ticks: fc.integer({ min: -3, max: 3 }),
    lots: fc.integer({ min: 1, max: 600 }),
  })
  .map(({ user: owner, asset, b, r, tif, ticks, lots }) => (engine: Engine) => {
    const market = engine.listing.byAsset(asset)!
    const px = engine.states.get(market.coin)!.markPx
    const step = 10n ** BigInt(Math.max(8 - market.maxDecimals, px.toString().length - 4))
    const price = (px / step + BigInt(ticks)) * step
    // Lots that are worth some hundred dollars each.
    const lot = 10n ** BigInt(8 - market.szDecimals)
    const size = ((30n * 10n ** 16n) / (px * lot) + 1n) * lot * BigInt(lots)
    const wire = { a: asset, b, p: fromPrice(price), s: fromPrice(size), r: r && market.kind === 'perp', t: { limit: { tif } } }
    return actions['order']!.run(engine, accountOf(engine, owner), { orders: [wire], grouping: 'na' }, context)
  })

const cancel: fc.Arbitrary<Step> = fc.tuple(user, fc.nat(20)).map(([owner, at]) => (engine: Engine) => {
  const open = [...accountOf(engine, owner).open.values()]
  const found = open[at % Math.max(1, open.length)]
  return found && actions['cancel']!.run(engine, accountOf(engine, owner), { cancels: [{ a: found.market.asset, o: found.oid }] }, context)
})

const transfer: fc.Arbitrary<Step> = fc
  .tuple(user, fc.boolean(), dollars)
  .map(([owner, toPerp, amount]) => act(owner, 'usdClassTransfer', { amount, toPerp }))

const leverage: fc.Arbitrary<Step> = fc
  .tuple(user, fc.constantFrom(0, 4), fc.boolean(), fc.integer({ min: 1, max: 40 }))
  .map(([owner, asset, isCross, value]) => act(owner, 'updateLeverage', { asset, isCross, leverage: value }))

const margin: fc.Arbitrary<Step> = fc
  .tuple(user, fc.constantFrom(0, 4), fc.integer({ min: -500_000_000, max: 500_000_000 }))
  .map(([owner, asset, ntli]) => act(owner, 'updateIsolatedMargin', { asset, isBuy: true, ntli }))

const lending: fc.Arbitrary<Step> = fc
  .tuple(user, fc.constantFrom('supply', 'withdraw', 'borrow', 'repay'), fc.constantFrom(0, 150, 197), fc.option(dollars))
  .map(([owner, operation, token, amount]) => act(owner, 'borrowLend', { operation, token, amount }))

const mode: fc.Arbitrary<Step> = fc
  .tuple(user, fc.boolean())
  .map(([owner, enabled]) => act(owner, 'userPortfolioMargin', { user: owner, enabled }))

const send: fc.Arbitrary<Step> = fc
  .tuple(user, user, dollars, fc.boolean())
  .map(([from, destination, amount, spot]) =>
    spot
      ? act(from, 'spotSend', { destination, amount, token: 'USDC:0x6d1e7cde53ba9467b783cb7c530ce054', time: 0 })
      : act(from, 'usdSend', { destination, amount, time: 0 }),
  )

const withdrawal: fc.Arbitrary<Step> = fc
  .tuple(user, dollars)
  .map(([owner, amount]) => act(owner, 'withdraw3', { amount, destination: owner, time: 0 }))

const price: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom('BTC', 'BTC', 'PURR', '@107'), fc.integer({ min: -25, max: 25 }))
  .map(([coin, percent]) => (engine: Engine, driver: Driver) => {
    const px = engine.states.get(coin)!.markPx
    const step = 10n ** BigInt(px.toString().length - 4)
    driver.setOracle(coin, fromPrice(((px * BigInt(100 + percent)) / 100n / step) * step))
  })

const hours: fc.Arbitrary<Step> = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: -20, max: 20 }))
  .map(([count, rate]) => (engine: Engine, driver: Driver) => {
    driver.setFunding('BTC', `${rate < 0 ? '-' : ''}0.00${String(Math.abs(rate)).padStart(2, '0')}`)
    engine.clock.advance(count * 3_600_000)
    driver.clock.advance(0)
  })

const steps = fc.array(
  fc.oneof(
    { arbitrary: order, weight: 12 },
    { arbitrary: cancel, weight: 3 },
    { arbitrary: lending, weight: 4 },
    transfer,
    leverage,
    margin,
    mode,
    send,
    withdrawal,
    { arbitrary: price, weight: 2 },
    hours,
  ),
  { minLength: 20, maxLength: 80, size: 'max' },
)

function start() {
  const engine = createEngine(false, defaultRules, createClock())
  const driver = createDriver(engine, () => {})
  driver.lend('USDC', '50000')
  for (const each of users) {
    driver.deposit(each, '3000')
    driver.credit(each, 'USDC', '20000')
    driver.credit(each, 'PURR', '50000')
    driver.credit(each, 'HYPE', '500')
    driver.credit(each, 'UBTC', '0.2')
  }
  driver.setMode(users[0]!, 'portfolioMargin')
  return { engine, driver }
}

describe('money on the simulator of Hyperliquid', () => {
  it('is the same to the unit after whatever is done', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const { engine, driver } = start()
        for (const step of list) {
          step(engine, driver)
          const wrong = wrongSums(engine)
          expect(wrong, wrong.join('; ')).to.deep.equal([])
        }
      }),
      { numRuns: 200 },
    )
  })

  it('moves at all in such runs', () => {
    const seen = { fills: 0, liquidations: 0, loans: 0, fundings: 0, isolated: 0 }
    for (const list of fc.sample(steps, { numRuns: 100, seed: 7 })) {
      const { engine, driver } = start()
      for (const step of list) step(engine, driver)
      for (const { fills, updates, loans, fundings, positions } of engine.accounts.values()) {
        seen.fills += fills.length
        seen.fundings += fundings.length
        seen.liquidations += updates.filter(({ delta }) => delta.type === 'liquidation').length
        seen.loans += [...loans.values()].filter(({ borrowed }) => borrowed > 0n).length
        seen.isolated += [...positions.values()].filter(({ isolatedUsd }) => isolatedUsd !== undefined).length
      }
    }
    for (const [what, count] of Object.entries(seen)) expect(count, what).to.be.above(5)
  })
})
