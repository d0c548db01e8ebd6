import { expect } from 'chai'
import { SluiceError, type AMM, type Quote, type Swap, type Token } from '../../../core/contracts/index.ts'
import { randomBits } from '../uniswap-v3/math/random-bits.ts'
import { at } from '../uniswap-v2/trading-floor.ts'
import { moveLiquidity } from './move-liquidity.ts'
import { ownQuoter, type OwnQuoter } from './own-quoter.ts'
import { openWalkFloor, type WalkFloor } from './walk-floor.ts'
import { routesBetween, type WalkRoute } from './walk-pools.ts'

const trades = Number(process.env['SLUICE_WALK_TRADES'] ?? 100)
const seed = Number(process.env['SLUICE_WALK_SEED'] ?? Date.now() % 100_000)
/** Every so many steps. */
const [moveEvery, compareEvery] = [20, 10]
const mostCompared = 40
const inADay = () => Math.floor(Date.now() / 1000) + 86_400

type Choice = Parameters<AMM['quote']>[1]

describe(`a random walk of ${trades} trades (SLUICE_WALK_TRADES), seed ${seed} (SLUICE_WALK_SEED)`, () => {
  const { below, bits } = randomBits(seed)
  const counted = { quotes: 0, refusals: 0, compared: 0, v2: 0, v3: 0, mixed: 0, hops: [0, 0, 0] }
  let floor: WalkFloor
  let ask: OwnQuoter
  before(async function () {
    this.timeout(120_000)
    floor = await openWalkFloor()
    ask = ownQuoter(floor.contracts, floor.rpc)
  })
  after(() => floor.close())

  const pick = <T>(from: readonly T[]): T => {
    const one = from[below(from.length)]
    if (one === undefined) throw new Error('There is nothing to pick.')
    return one
  }
  const onChain = ({ native, address }: Token) => (native ? floor.wrapped : address)

  /** From one unit to more than the pools hold, and now and then to more than there is. */
  const anySwap = (): Swap => {
    const [tokenIn, tokenOut] = [pick(floor.tokens), pick(floor.tokens)]
    if (onChain(tokenIn) === onChain(tokenOut)) return anySwap()
    const exact = pick(['in', 'out'] as const)
    const { decimals } = exact === 'in' ? tokenIn : tokenOut
    const width = below(20) === 0 ? pick([112, 130, 255]) : Math.ceil(decimals * Math.log2(10)) + 24
    return { tokenIn, tokenOut, exact, amountRaw: 1n + bits(width) }
  }

  const routeOf = ({ route }: Quote): WalkRoute => ({
    tokens: [...route.slice(0, 1).map(({ tokenIn }) => tokenIn), ...route.map(({ tokenOut }) => tokenOut)],
    pools: route.map(({ pool }) => {
      const known = floor.pools.find(({ address }) => address === pool)
      if (!known) throw new Error(`The factories know no pool ${pool}.`)
      return known
    }),
  })

  /** Some of the routes that the connector may take. */
  const others = ({ tokenIn, tokenOut, exact }: Swap, choice: Choice, most: number): readonly WalkRoute[] => {
    const all = routesBetween(floor.pools, onChain(tokenIn), onChain(tokenOut), floor.between, versionsAllowed(exact, choice))
    return all.length <= most ? all : Array.from({ length: most }, () => pick(all))
  }

  const versionsAllowed =
    (exact: 'in' | 'out', { version }: Choice) =>
    (versions: readonly string[]): boolean =>
      version === undefined ? exact === 'in' || new Set(versions).size === 1 : versions.every((each) => each === version)

  /**
   * A way that a pool takes only because another pool before it gave less than could be had. No connector goes it: who
   * brings more to a pool than it takes is better off with a smaller amount.
   */
  const isDetour = async ({ tokens, pools }: WalkRoute, { exact, amountRaw }: Swap, choice: Choice, block: bigint): Promise<boolean> => {
    const [tokenIn = ''] = tokens
    for (let hops = 1; hops < pools.length && exact === 'in'; hops += 1) {
      const ways = routesBetween(floor.pools, tokenIn, tokens[hops] ?? '', floor.between, versionsAllowed(exact, choice))
      const short = ways.filter((way) => way.pools.length <= 3 - (pools.length - hops))
      let mostRaw = 0n
      for (const way of short) {
        const raw = (await ask(way, exact, amountRaw, block)) ?? 0n
        if (raw > mostRaw) mostRaw = raw
      }
      if ((await ask({ tokens: tokens.slice(hops), pools: pools.slice(hops) }, exact, mostRaw, block)) === undefined) return true
    }
    return false
  }

  const latest = async () => BigInt(String(await floor.rpc('eth_blockNumber')))

  /** The quote, once it is known to be the exchange's own; undefined where both refuse. */
  const quoteAlike = async (swap: Swap, choice: Choice, what: string): Promise<Quote | undefined> => {
    const quote = await floor.amm.quote(swap, choice, at()).catch((error: unknown) => {
      if (error instanceof SluiceError && ['PRICE_FAILED', 'PAIR_NOT_FOUND'].includes(error.name)) return undefined
      throw error
    })
    counted.quotes += 1
    if (!quote) {
      counted.refusals += 1
      const block = await latest()
      for (const route of others(swap, choice, mostCompared)) {
        const given = ((await ask(route, swap.exact, swap.amountRaw, block)) ?? 0n) > 0n && !(await isDetour(route, swap, choice, block))
        expect(given, `${what} was refused: ${show(route)}`).to.equal(false)
      }
      return undefined
    }
    const route = routeOf(quote)
    expect(quote.amountRaw, `${what}: ${show(route)}`).to.equal(await ask(route, swap.exact, swap.amountRaw, quote.head.number))
    const versions = new Set(route.pools.map((pool) => pool.version))
    counted[versions.size > 1 ? 'mixed' : versions.has('v2') ? 'v2' : 'v3'] += 1
    counted.hops[route.pools.length - 1] = (counted.hops[route.pools.length - 1] ?? 0) + 1
    return quote
  }

  /** None of the exchange's own quotes along other routes is better, where gas is free. */
  const noneBetter = async (swap: Swap, choice: Choice, what: string): Promise<void> => {
    const quote = await floor.gasless.quote(swap, choice, at()).catch(() => undefined)
    if (!quote) return
    counted.compared += 1
    for (const route of others(swap, choice, mostCompared)) {
      const otherRaw = await ask(route, swap.exact, swap.amountRaw, quote.head.number)
      const gives = otherRaw !== undefined && (swap.exact === 'in' ? otherRaw > quote.amountRaw : otherRaw < quote.amountRaw)
      const better = gives && !(await isDetour(route, swap, choice, quote.head.number))
      expect(better, `${what}: ${show(routeOf(quote))} gives ${quote.amountRaw}, and ${show(route)} ${otherRaw}`).to.equal(false)
    }
  }

  /** Moves the price by all means, but seldom to where nothing is left to trade. */
  const worthTrading = ({ swap, amountRaw, spotAmountRaw }: Quote) =>
    (swap.exact === 'in' ? amountRaw * 2n > spotAmountRaw : spotAmountRaw * 2n > amountRaw) || below(20) === 0

  it('is quoted to the unit at every step, refused where the exchange refuses, and filled as quoted', async function () {
    this.timeout(60_000 + trades * 500)
    const move = moveLiquidity(floor, { below, bits })
    for (let [step, traded] = [0, 0]; traded < trades; step += 1) {
      if (step % moveEvery === 0) await move()
      const swap = anySwap()
      const choice = pick<Choice>([{}, {}, {}, { version: 'v3' }, { version: 'v3' }, { version: 'v2' }])
      const what = `seed ${seed}, step ${step}: ${swap.tokenIn.symbol} → ${swap.tokenOut.symbol}, ${swap.amountRaw} ${swap.exact}, ${choice.version ?? 'any'}`
      if (step % compareEvery === 0) await noneBetter(swap, choice, what)
      const quote = await quoteAlike(swap, choice, what)
      if (!quote || !worthTrading(quote)) continue
      // The bound is the quote itself: a unit less out, or more in, would revert.
      const plan = floor.amm.swap(quote, { recipient: floor.trader, boundRaw: quote.amountRaw, deadline: inADay() })
      const receipt = await floor.carryOut(plan)
      expect(receipt.status, `${what} was traded`).to.equal(1)
      const [amountInRaw, amountOutRaw] = swap.exact === 'in' ? [swap.amountRaw, quote.amountRaw] : [quote.amountRaw, swap.amountRaw]
      expect(floor.amm.fill(receipt, plan.memo), `${what} was traded`).to.deep.equal({ amountInRaw, amountOutRaw })
      traded += 1
    }
    console.log(`      ${JSON.stringify(counted)}`)
    for (const each of [counted.v2, counted.v3, counted.mixed, counted.refusals, counted.compared, ...counted.hops])
      expect(each).to.be.above(0)
  })
})

const show = ({ tokens, pools }: WalkRoute) =>
  tokens
    .flatMap((token, index) => [...(index === 0 ? [] : [`${pools[index - 1]?.version}/${pools[index - 1]?.fee}`]), token.slice(0, 6)])
    .join(' ')
