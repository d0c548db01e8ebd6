// Random worlds of pools, as a connector has them: prices near one another or far apart, liquidity over five orders of magnitude, all of it known.
import { parseUnits } from 'ethers'
import type { Swap, Token } from '../../../../core/contracts/index.ts'
import type { Pool, PoolExchange, PoolProtocol, Router } from '../../../../kits/amm/index.ts'
import type { KnownPool } from '../../../../kits/pools/protocol.ts'
import { algebraProtocol } from '../../../../kits/amm/algebra/pools.ts'
import type { GasCost } from '../../../../kits/pools/routing/gas-cost.ts'
import { poolGraphOf, routeOptionsOf, type PoolGraph, type RouteOptions, type RouteQuery } from '../../../../kits/pools/routing/graph.ts'
import { precision, stablePoolState } from '../../../../kits/amm/stable/math.ts'
import { poolKinds, stableProtocol } from '../../../../kits/amm/stable/pools.ts'
import { v2Protocol } from '../../../../kits/amm/v2/pools.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { v3Protocol } from '../../../../kits/amm/v3/pools.ts'
import { v3Router } from '../../../../kits/amm/v3/router.ts'
import { TickTable, type V3PoolState } from '../../../../kits/amm/v3/swap.ts'
import { v4Protocol } from '../../../../kits/amm/v4/pools.ts'
import { universalRouter } from '../../../../kits/amm/v4/router.ts'
import { weightedProtocol } from '../../../../kits/amm/weighted/pools.ts'
import { carrying } from './graph.ts'

/** Pools, and a swap that is asked of them. */
export interface World {
  /** `v3` is what uniswap was for years, and what its own package finds routes through. */
  readonly kind: 'uniswap' | 'v3' | 'algebra' | 'weighted' | 'stable'
  readonly graph: PoolGraph
  readonly options: RouteOptions
  readonly query: RouteQuery
  readonly swap: Swap
  readonly gasCost: GasCost
}

/** A number between 0 and 1. */
type Draw = () => number

interface Coin extends Token {
  /** Of one whole token. */
  readonly dollars: number
}

interface Draft {
  readonly draw: Draw
  readonly coins: readonly Coin[]
  /** How far prices are from the token's worth. */
  readonly scatter: number
}

type WorldPool = { readonly protocol: PoolProtocol; readonly pool: Pool }

const addressOf = (index: number) => `0x${index.toString(16).padStart(40, '0')}`
const factory = addressOf(0xfac)
const origin = { factory, initCodeHash: `0x${'00'.repeat(32)}` }
const pairs = v2Protocol('v2', [3n, 1000n], origin)
const ranges = v3Protocol({ version: 'v3', fees: [], ...origin })
const keyed = v4Protocol({ version: 'v4', manager: factory, poolsBetween: () => [] })
const algebra = algebraProtocol({ version: 'integral', kind: 'integral', deployment: { ...origin, poolDeployer: factory } })
const weighted = weightedProtocol('weighted', factory, [])
const stable = stableProtocol('stable', [])

const alone = (version: string) => carrying(version, (versions) => versions.every((each) => each === version))
const rangeRouter = (version: string, mixes: boolean): Router =>
  v3Router(
    {
      version,
      factory,
      router: addressOf(0x3),
      routerKind: mixes ? 'SwapRouter02' : 'AlgebraRouter',
      mixedWith: mixes ? { version: 'v2', factory } : undefined,
      listed: new Set(),
    },
    factory,
  )
const universal = universalRouter({
  version: 'v4',
  router: addressOf(0x4),
  permit2: factory,
  manager: factory,
  wrapped: factory,
  poolsBetween: () => [],
  constantProduct: 'v2',
  range: 'v3',
})

/** What a connector trades by, and how one of its pools is drawn. */
const connectors: Readonly<
  Record<World['kind'], { exchange: PoolExchange; pool(draft: Draft, address: string): KnownPool<PoolProtocol> }>
> = {
  uniswap: {
    exchange: { protocols: [pairs, ranges, keyed], routers: [alone('v2'), rangeRouter('v3', true), universal] },
    pool: (draft: Draft, address: string) => pick(draft.draw, [pairPool, rangePool, rangePool, keyedPool])(draft, address),
  },
  v3: { exchange: { protocols: [ranges], routers: [alone('v3')] }, pool: rangePool },
  algebra: { exchange: { protocols: [algebra], routers: [rangeRouter('integral', false)] }, pool: algebraPool },
  weighted: { exchange: { protocols: [weighted], routers: [alone('weighted')] }, pool: weightedPool },
  stable: { exchange: { protocols: [stable], routers: [alone('stable')] }, pool: stablePool },
}
export const worldKinds = ['uniswap', 'algebra', 'weighted', 'stable'] as const satisfies readonly World['kind'][]

const pick = <T>(draw: Draw, from: readonly T[]): T => {
  const picked = from[Math.floor(draw() * from.length)]
  if (picked === undefined) throw new Error('There is nothing to pick.')
  return picked
}
/** Equally many of every magnitude. */
const logBetween = (draw: Draw, least: number, most: number) => least * (most / least) ** draw()
const raw = (amount: number, { decimals }: Token) => parseUnits(amount.toFixed(decimals), decimals)

/** Undefined where its pools do not connect the two tokens. */
export function randomWorld(kind: World['kind'], { below }: { below(bound: number): number }, maxPools = 30): World {
  const draw: Draw = () => below(2 ** 30) / 2 ** 30
  const { exchange, pool } = connectors[kind]
  const isStable = kind === 'stable'
  const coins = Array.from({ length: 2 + below(4) }, (_, index): Coin => {
    const dollars = isStable ? 1 : logBetween(draw, 0.01, 50_000)
    // So many units in ten dollars that rounding one is no basis point.
    const decimals = pick(draw, dollars < 5 ? [6, 8, 18] : dollars < 500 ? [8, 18] : [18])
    return { symbol: `T${index}`, address: addressOf(0x100 + index), decimals, dollars }
  })
  const draft: Draft = { draw, coins, scatter: logBetween(draw, 0.0005, 0.05) }
  const drawn = Array.from({ length: 2 + below(maxPools - 1) }, (_, index) => pool(draft, addressOf(0x1000 + index)))
  const graph = poolGraphOf(kind === 'v3' ? withoutTwins(drawn) : drawn)
  const exact = pick(draw, ['in', 'out'] as const)
  const [tokenIn, tokenOut] = coins
  if (!tokenIn || !tokenOut) throw new Error('There are two tokens at least.')
  const [given, other] = exact === 'in' ? [tokenIn, tokenOut] : [tokenOut, tokenIn]
  const amountRaw = raw(logBetween(draw, 10, 10_000_000) / given.dollars, given) + 1n
  // From nothing to fifteen dollars for 150,000 units.
  const dollarsPerUnit = draw() < 0.2 ? 0 : logBetween(draw, 1e-7, 1e-4)
  const rateX64 = BigInt(Math.round((dollarsPerUnit / other.dollars) * 10 ** other.decimals * 2 ** 64))
  return {
    kind,
    graph,
    options: routeOptionsOf(exchange, exact, undefined),
    query: {
      tokenIn: tokenIn.address,
      tokenOut: tokenOut.address,
      intermediates: coins.map(({ address }) => address),
      exact,
      amountRaw,
    },
    swap: { tokenIn, tokenOut, exact, amountRaw },
    gasCost: (gasUnits) => (gasUnits * rateX64) >> 64n,
  }
}

/** A factory of v3 makes one pool of two tokens and a fee. */
function withoutTwins(pools: readonly KnownPool<PoolProtocol>[]): readonly KnownPool<PoolProtocol>[] {
  const keyOf = ({ pool }: KnownPool<PoolProtocol>) => [...pool.tokens, (pool.state as V3PoolState).fee].join()
  return [...new Map(pools.map((each) => [keyOf(each), each])).values()]
}

/** Two tokens, in the order of their addresses, what a pool holds of each, in dollars, and its price: token1 per token0, in smallest units. */
function drawPair({ draw, coins, scatter }: Draft) {
  const first = Math.floor(draw() * coins.length)
  const second = (first + 1 + Math.floor(draw() * (coins.length - 1))) % coins.length
  const [coin0, coin1] = [coins[Math.min(first, second)], coins[Math.max(first, second)]]
  if (!coin0 || !coin1) throw new Error('There are two tokens at least.')
  const price = (coin0.dollars / coin1.dollars) * 10 ** (coin1.decimals - coin0.decimals) * Math.exp((2 * draw() - 1) * scatter)
  return { coin0, coin1, tokens: [coin0.address, coin1.address], dollars: logBetween(draw, 1_000, 100_000_000), price }
}

function pairPool(draft: Draft, address: string): WorldPool {
  const { coin0, tokens, dollars, price } = drawPair(draft)
  const reserve0 = (dollars / coin0.dollars) * 10 ** coin0.decimals
  return { protocol: pairs, pool: { address, tokens, state: { reserve0Raw: whole(reserve0), reserve1Raw: whole(reserve0 * price) } } }
}

const whole = (amount: number) => BigInt(Math.max(1, Math.round(amount)))
const tiers = [
  [100, 1],
  [500, 10],
  [3000, 60],
  [10_000, 200],
] as const
const [minTick, maxTick] = [-887_272, 887_272]

/** Some positions around the price, and one that reaches far. */
function drawRange(draft: Draft, [fee, tickSpacing]: readonly [number, number]) {
  const { draw } = draft
  const { coin0, tokens, dollars, price } = drawPair(draft)
  const tick = Math.floor(Math.log(price) / Math.log(1.0001))
  const middle = Math.round(tick / tickSpacing) * tickSpacing
  const net = new Map<number, bigint>()
  let liquidity = 0n
  const put = (lower: number, upper: number, amount: bigint) => {
    net.set(lower, (net.get(lower) ?? 0n) + amount)
    net.set(upper, (net.get(upper) ?? 0n) - amount)
    if (lower <= tick && tick < upper) liquidity += amount
  }
  // Of as much as a pool of constant product would need.
  const ofPair = (dollars / coin0.dollars) * 10 ** coin0.decimals * Math.sqrt(price)
  const far = Math.floor((draw() < 0.5 ? 880_000 : 10_000) / tickSpacing) * tickSpacing
  const farthest = Math.floor(880_000 / tickSpacing) * tickSpacing
  put(Math.max(middle - far, -farthest), Math.min(middle + far, farthest), whole(ofPair))
  for (let count = Math.floor(draw() * 12); count > 0; count -= 1) {
    const width = (1 + Math.floor(logBetween(draw, 1, 200))) * tickSpacing
    const lower = middle + Math.round((draw() - 0.5) * 3 * (width / tickSpacing)) * tickSpacing
    put(lower, lower + width, whole(ofPair * logBetween(draw, 0.1, 30)))
  }
  const ticks = [...net.keys()].filter((each) => net.get(each) !== 0n).toSorted((a, b) => a - b)
  const end = (Math.floor(maxTick / tickSpacing) + 1) * tickSpacing
  const table = new TickTable(Math.min(-end, minTick - 1), Math.max(end, maxTick + 1), ticks, {
    gross: () => 1n,
    net: (index) => net.get(ticks[index] ?? 0) ?? 0n,
  })
  const state: V3PoolState = { sqrtPriceX96: getSqrtRatioAtTick(tick) + 1n, tick, liquidity, fee, tickSpacing, ticks: table }
  return { tokens, state }
}

function rangePool(draft: Draft, address: string): WorldPool {
  return { protocol: ranges, pool: { address, ...drawRange(draft, pick(draft.draw, tiers)) } }
}

function keyedPool(draft: Draft, address: string): WorldPool {
  const { tokens, state } = drawRange(draft, pick(draft.draw, tiers))
  const pool = { zeroForOne: state, oneForZero: state, lpFee: state.fee, protocolFee: 0, coinForm: undefined }
  return { protocol: keyed, pool: { address, tokens, state: pool } }
}

function algebraPool(draft: Draft, address: string): WorldPool {
  const { tokens, state } = drawRange(draft, [100 + Math.floor(draft.draw() * 3_000), 60])
  const pool = { range: { ...state, hasTickList: true }, pluginConfig: 0, hasBlockFees: false }
  return { protocol: algebra, pool: { address, tokens, state: pool } }
}

function weightedPool(draft: Draft, address: string): WorldPool {
  const { draw, scatter } = draft
  const coins = someCoins(draft)
  const dollars = logBetween(draw, 1_000, 100_000_000)
  const parts = coins.map(() => 1 + Math.floor(draw() * 8))
  const sum = parts.reduce((a, b) => a + b, 0)
  const holdings = coins.map((coin, index) => {
    const weight = (parts[index] ?? 1) / sum
    const held = ((dollars * weight) / coin.dollars) * Math.exp((2 * draw() - 1) * scatter)
    return {
      balanceRaw: whole(held * 10 ** coin.decimals),
      weight: parseUnits(weight.toFixed(18), 18),
      scale: 10n ** BigInt(18 - coin.decimals),
    }
  })
  const pause = { paused: false, bufferEnds: 0n }
  const swapFee = parseUnits(logBetween(draw, 0.0005, 0.01).toFixed(6), 18)
  const state = { holdings, swapFee, squares: draw() < 0.5, ofPool: pause, ofVault: pause }
  return { protocol: weighted, pool: { address, tokens: coins.map((coin) => coin.address), state } }
}

function stablePool(draft: Draft, address: string): WorldPool {
  const { draw } = draft
  const coins = someCoins(draft)
  const kind = pick(draw, Object.values(poolKinds))
  const dollars = logBetween(draw, 10_000, 100_000_000)
  const amplification = BigInt(Math.floor(logBetween(draw, 10, 5_000))) * kind.aPrecision
  const state = stablePoolState({
    balances: coins.map((coin) => whole(dollars * logBetween(draw, 0.2, 1) * 10 ** coin.decimals)),
    ramp: { initial: amplification, future: amplification, initialTime: 0n, futureTime: 0n },
    fee: BigInt(Math.round(logBetween(draw, 1e6, 4e7))),
    adminFee: 0n,
    rates: coins.map(({ decimals }) => precision * 10n ** BigInt(18 - decimals)),
    rounding: kind,
  })
  if (!state) throw new Error('The pool holds something of each coin.')
  return { protocol: stable, pool: { address, tokens: coins.map((coin) => coin.address), state } }
}

/** Two to four of them. */
function someCoins({ draw, coins }: Draft): readonly Coin[] {
  const shuffled = coins.map((coin) => ({ coin, at: draw() })).toSorted((a, b) => a.at - b.at)
  return shuffled.slice(0, 2 + Math.floor(draw() * Math.min(3, coins.length - 1))).map(({ coin }) => coin)
}
