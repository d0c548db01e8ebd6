import { expect } from 'chai'
import type { Quote } from '../../../../core/contracts/index.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { drawing } from './any-swap.ts'
import { poolLife } from './pool-life.ts'
import { walkChecker, type Choice } from './walk-checker.ts'
import { openWalkFixture, type WalkFixture } from './walk-fixture.ts'

const trades = Number(process.env['SLUICE_WALK_TRADES'] ?? 60)
const seed = Number(process.env['SLUICE_WALK_SEED'] ?? 1)
/** Once in this many steps. */
const [moveEvery, compareEvery] = [20, 10]
const inADay = () => Math.floor(Date.now() / 1000) + 86_400

describe(`a random walk of ${trades} trades (SLUICE_WALK_TRADES), seed ${seed} (SLUICE_WALK_SEED)`, () => {
  const random = randomBits(seed)
  const { below } = random
  let fixture: WalkFixture
  before(async function () {
    this.timeout(400_000)
    fixture = await openWalkFixture()
  })
  after(() => fixture?.close())

  /** Moves the price in every way, but seldom to where nothing is left to trade. */
  const worthTrading = ({ swap, amountRaw, spotAmountRaw }: Quote) =>
    (swap.exact === 'in' ? amountRaw * 2n > spotAmountRaw : spotAmountRaw * 2n > amountRaw) || below(20) === 0

  it('gets at each step a quote exact to the unit and a fill as quoted, or a refusal where the exchange refuses', async function () {
    this.timeout(180_000 + trades * 500)
    const { pick, anySwap } = drawing(fixture.tokens, fixture.wrapped, random)
    const checker = walkChecker(fixture, pick)
    const life = await poolLife(fixture, random)
    for (let [step, traded] = [0, 0]; traded < trades; step += 1) {
      if (step % moveEvery === 0) await life.next()
      // From one unit to more than the pools hold, and sometimes more than the supply.
      const swap = anySwap(below(20) === 0 ? pick([50, 70, 255]) : 24)
      const choice = pick<Choice>([{}, {}, {}, { version: 'v3' }, { version: 'v3' }, { version: 'v2' }])
      const what = `seed ${seed}, step ${step}: ${swap.tokenIn.symbol} → ${swap.tokenOut.symbol}, ${swap.amountRaw} ${swap.exact}, ${choice.version ?? 'any'}`
      if (step % compareEvery === 0) await checker.noneBetter(swap, choice, what)
      const quote = await checker.quoteAlike(swap, choice, what)
      if (!quote || !worthTrading(quote)) continue
      // The bound is the quote itself: one unit less output, or more input, would revert.
      const plan = fixture.amm.swap(quote, { recipient: fixture.trader, boundRaw: quote.amountRaw, deadline: inADay() })
      const receipt = await fixture.carryOut(plan)
      expect(receipt.status, `${what} was traded`).to.equal(1)
      const [amountInRaw, amountOutRaw] = swap.exact === 'in' ? [swap.amountRaw, quote.amountRaw] : [quote.amountRaw, swap.amountRaw]
      expect(fixture.amm.fill(receipt, plan.memo), `${what} was traded`).to.deep.equal({ amountInRaw, amountOutRaw })
      traded += 1
    }
    const { v2, v3, mixed, split, refusals, compared, hops } = checker.counted
    if (process.env['SLUICE_WALK_TRADES']) console.log(`      ${JSON.stringify(checker.counted)}`)
    for (const each of [v2, v3, mixed, split, refusals, compared, ...hops]) expect(each).to.be.above(0)
  })
})
