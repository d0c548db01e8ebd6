import { expect } from 'chai'
import type { FollowedPricing, Quote, Swap } from '../../../core/contracts/index.ts'
import { createMarket, type Market, type QuoteVenue } from '../../../core/market/index.ts'
import { temporaryFolder } from '../../devnet/test-devnet.ts'
import { until } from '../../market/recorder.ts'
import { at } from '../uniswap-v2/trading-floor.ts'
import { randomBits } from '../uniswap-v3/math/random-bits.ts'
import { moveLiquidity } from './move-liquidity.ts'
import { walkDesk, type Choice } from './walk-desk.ts'
import { openWalkFloor, type WalkFloor } from './walk-floor.ts'

const wanted = Number(process.env['SLUICE_WALK_QUOTES'] ?? 5_000)
const seed = Number(process.env['SLUICE_WALK_SEED'] ?? 1)
/** After every block that something happened in. */
const quotesEach = 25
const deepest = 5
const inADay = () => Math.floor(Date.now() / 1000) + 86_400

describe(`${wanted} quotes from memory (SLUICE_WALK_QUOTES) on a random walk, seed ${seed} (SLUICE_WALK_SEED)`, () => {
  const { below, bits } = randomBits(seed)
  const told = { different: 0, equal: 0, defect: 0, reorganisation: 0 }
  let place: Awaited<ReturnType<typeof temporaryFolder>>
  let floor: WalkFloor
  let desk: ReturnType<typeof walkDesk>
  let market: Market
  let venue: QuoteVenue

  before(async function () {
    this.timeout(120_000)
    place = await temporaryFolder()
    floor = await openWalkFloor()
    desk = walkDesk(floor, pick)
    const count = (what: string) => {
      if (Object.hasOwn(told, what)) told[what as keyof typeof told] += 1
    }
    const counters = { trouble: (_: unknown, what: string) => count(what), check: (_: unknown, what: string) => count(what), update() {} }
    market = createMarket({ staleBlocks: 2, staleSeconds: 60, checkSeconds: 1 }, place.folder, { info() {}, warn() {} }, counters)
    // As the directory hands a family's plugins to who knows no family.
    const pricing = floor.amm.followed as unknown as FollowedPricing
    const chainImpl = floor.chain as unknown as QuoteVenue['chainImpl']
    venue = { chain: 'ethereum', network: 'local', connector: 'uniswap', chainImpl, pricing }
  })
  after(async () => {
    await market?.stop()
    await floor?.close()
    await place?.remove()
  })

  const pick = <T>(from: readonly T[]): T => {
    const one = from[below(from.length)]
    if (one === undefined) throw new Error('There is nothing to pick.')
    return one
  }
  const anySwap = (): Swap => {
    const [tokenIn, tokenOut] = [pick(floor.tokens), pick(floor.tokens)]
    if (desk.onChain(tokenIn) === desk.onChain(tokenOut)) return anySwap()
    const exact = pick(['in', 'out'] as const)
    const { decimals } = exact === 'in' ? tokenIn : tokenOut
    return { tokenIn, tokenOut, exact, amountRaw: 1n + bits(Math.ceil(decimals * Math.log2(10)) + below(24)) }
  }
  const remembered = async (swap: Swap, choice: Choice): Promise<Quote> => market.quotes.quote(venue, swap, choice, at())

  /** What the chain has now is what is in memory. */
  async function caughtUp(): Promise<void> {
    const block = await floor.rpc('eth_getBlockByNumber', 'latest', false)
    const hash = typeof block === 'object' && block !== null && 'hash' in block ? block.hash : undefined
    await until(() => market.following.all()[0]?.synchroniser.tip?.hash === hash, 'the newest block in memory')
  }

  async function trade(): Promise<void> {
    for (let tries = 0; tries < 20; tries += 1) {
      const quote = await remembered(anySwap(), {}).catch(() => undefined)
      if (!quote || quote.swap.exact === 'out' || quote.amountRaw * 2n < quote.spotAmountRaw) continue
      const plan = floor.amm.swap(quote, { recipient: floor.trader, boundRaw: quote.amountRaw, deadline: inADay() })
      expect((await floor.carryOut(plan)).status, 'a trade at the very price from memory').to.equal(1)
      return
    }
  }

  it('equal the exchange’s own to the unit after every block, over trades, liquidity that moves and reorganisations', async function () {
    this.timeout(60_000 + wanted * 100)
    const move = moveLiquidity(floor, { below, bits })
    await remembered(anySwap(), {}).catch(() => undefined)
    for (let round = 0; desk.counted.quotes < wanted; round += 1) {
      if (round % 7 === 3) await move()
      else if (round % 11 === 5) await floor.rpc('anvil_reorg', 1 + below(deepest), [])
      else await trade()
      await caughtUp()
      const asked = Array.from({ length: quotesEach }, () => ({
        swap: anySwap(),
        choice: pick<Choice>([{}, {}, { version: 'v3' }, { version: 'v2' }]),
      }))
      await Promise.all(
        asked.map(({ swap, choice }) => desk.holdAlike(() => remembered(swap, choice), swap, choice, `seed ${seed}, round ${round}`)),
      )
    }
    const { v2, v3, mixed, split, hops } = desk.counted
    for (const each of [v2, v3, mixed, split, ...hops, told.reorganisation]) expect(each).to.be.above(0)
    // Samples were compared all the while.
    expect(told.equal).to.be.above(0)
    expect([told.different, told.defect]).to.deep.equal([0, 0])
  })
})
