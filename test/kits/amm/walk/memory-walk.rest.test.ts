import { expect } from 'chai'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { at } from '../devnet-fixture.ts'
import { drawing } from './any-swap.ts'
import { givenOrRefused } from './given-or-refused.ts'
import { poolLife } from './pool-life.ts'
import { walkChecker } from './walk-checker.ts'
import { openWalkFixture, type WalkFixture } from './walk-fixture.ts'
import { type Choice, msOf, patiently, type QuoteFromMemory, quotesOf, seed, walkInMemory } from './walk-in-memory.ts'

const quotes = quotesOf(0.8)
/** After every block with a change. */
const quotesEach = 40
const inADay = () => Math.floor(Date.now() / 1000) + 86_400

describe(`${quotes} quotes of Uniswap from memory (SLUICE_WALK_QUOTES) on a random walk, seed ${seed} (SLUICE_WALK_SEED)`, () => {
  let fixture: WalkFixture
  before(async function () {
    this.timeout(400_000)
    fixture = await openWalkFixture()
  })
  after(() => fixture?.close())

  it('equal the exchange’s own to the unit after every block, over random changes and reorganisations', async function () {
    this.timeout(msOf(quotes))
    const random = randomBits(seed)
    const { pick, anySwap } = drawing(fixture.tokens, fixture.wrapped, random)
    const checker = walkChecker(fixture, pick)
    const life = await poolLife(fixture, random)
    let same = 0
    const swapNow = () => anySwap(random.below(24))

    async function trade(remembered: QuoteFromMemory): Promise<void> {
      for (let tries = 0; tries < 20; tries += 1) {
        const quote = await remembered(swapNow(), {}).catch(() => undefined)
        if (!quote || quote.swap.exact === 'out' || quote.amountRaw * 2n < quote.spotAmountRaw) continue
        const plan = fixture.amm.swap(quote, { recipient: fixture.trader, boundRaw: quote.amountRaw, deadline: inADay() })
        expect((await fixture.carryOut(plan)).status, 'a trade at the very price from memory').to.equal(1)
        return
      }
    }

    await walkInMemory(
      {
        ...fixture,
        happen: (round, remembered) => (round % 4 === 3 ? life.next() : trade(remembered)),
        anySwap: swapNow,
        anyChoice: () => pick<Choice>([{}, {}, { version: 'v3' }, { version: 'v2' }]),
        async hold(give, swap, choice, what) {
          const quote = await checker.holdAlike(give, swap, choice, what)
          // What was asked of the memory before makes no difference: the chain is asked without it.
          const anew = await givenOrRefused(patiently(() => fixture.amm.quote(swap, choice, at())))
          if (quote?.head.number !== anew?.head.number) return
          same += 1
          expect([quote?.amountRaw, quote?.route], `${what} from the chain`).to.deep.equal([anew?.amountRaw, anew?.route])
        },
      },
      random,
      quotes,
      quotesEach,
    )
    const {
      v2,
      v3,
      mixed,
      split,
      hops: [one, two, three],
    } = checker.counted
    const counted = { v2, v3, mixed, split, one, two, three, same, ...life.counted }
    for (const [what, count] of Object.entries(counted)) expect(count, what).to.be.above(0)
  })
})
