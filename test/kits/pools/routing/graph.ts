import * as fc from 'fast-check'
import {
  maxHops,
  poolGraphOf,
  type PoolEdge,
  type PoolGraph,
  type RouteQuery,
  routeOptionsOf,
} from '../../../../kits/pools/routing/graph.ts'
import type { Passage, Pool, PoolExchange, PoolProtocol, Router } from '../../../../kits/amm/index.ts'
import { estimateOther, getAmountIn, getAmountOut } from '../../../../kits/amm/v2/pools.ts'

// A graph that fails is told as it is: to make it smaller takes longer than all tests.
fc.configureGlobal({ endOnFailure: true })

/** Of a pool of any number of tokens, of which each two trade as a pair does. */
export interface Basket {
  readonly reservesRaw: Readonly<Record<string, bigint>>
  readonly feePercent: bigint
  readonly gasUnits: bigint
  /** More than that is refused. */
  readonly mostInRaw?: bigint | undefined
}

export const tokens = ['A', 'B', 'I', 'J', 'K'] as const
/** Up to three tokens, and what lies of each in the basket. */
export interface BasketOf {
  readonly version: string
  readonly tokens: readonly string[]
  readonly reservesRaw: readonly bigint[]
  readonly feePercent: bigint
  readonly gasUnits: bigint
  readonly mostInRaw?: bigint | undefined
}

/** Pools that take in whatever there is. */
export const boundless = (baskets: readonly BasketOf[]): readonly BasketOf[] =>
  baskets.map((basket) => ({ ...basket, mostInRaw: undefined }))

const reserveRaw = fc.bigInt(1_000n, 10n ** 12n)
export const someBaskets: fc.Arbitrary<readonly BasketOf[]> = fc.array(
  fc.record({
    version: fc.constantFrom('pairs', 'ticks', 'baskets'),
    tokens: fc.shuffledSubarray([...tokens], { minLength: 2, maxLength: 3 }),
    reservesRaw: fc.tuple(reserveRaw, reserveRaw, reserveRaw),
    feePercent: fc.bigInt(0n, 3n),
    gasUnits: fc.bigInt(40_000n, 300_000n),
    mostInRaw: fc.option(fc.bigInt(1n, 10n ** 11n), { nil: undefined, freq: 3 }),
  }),
  { minLength: 1, maxLength: 14 },
)

/** From end to end a pool is dear, so that passing it twice would pay. */
const keptPercent = (feePercent: bigint, tokenIn: string, tokenOut: string) =>
  tokenIn === 'A' && tokenOut === 'B' ? 20n * feePercent : feePercent

const basketProtocol = (version: string): PoolProtocol<Basket> => ({
  version,
  read: () => ({ calls: [], pools: () => [] }),
  pass({ state: { reservesRaw, feePercent, gasUnits, mostInRaw } }, { tokenIn, tokenOut }, exact, amountRaw) {
    const step = exact === 'in' ? getAmountOut : getAmountIn
    const fee = [keptPercent(feePercent, tokenIn, tokenOut), 100n] as const
    const otherRaw = step(amountRaw, reservesRaw[tokenIn] ?? 0n, reservesRaw[tokenOut] ?? 0n, fee)
    const inRaw = exact === 'in' ? amountRaw : otherRaw
    if (otherRaw === undefined || inRaw === undefined || (mostInRaw !== undefined && inRaw > mostInRaw)) return undefined
    return { amountRaw: otherRaw, gasUnits }
  },
  // Pairs are always passed exactly.
  ...(version === 'ticks' && {
    estimate({ state: { reservesRaw, feePercent, gasUnits, mostInRaw } }, { tokenIn, tokenOut }, exact, amount) {
      const passedPart = 1 - Number(keptPercent(feePercent, tokenIn, tokenOut)) / 100
      if (mostInRaw !== undefined) return undefined
      const [reserveIn, reserveOut] = [Number(reservesRaw[tokenIn] ?? 0n), Number(reservesRaw[tokenOut] ?? 0n)]
      return estimateOther(exact, amount, reserveIn, reserveOut, passedPart, Number(gasUnits))
    },
  }),
  spot: ({ state: { reservesRaw } }, { tokenIn, tokenOut }) => ({
    numerator: reservesRaw[tokenOut] ?? 0n,
    denominator: reservesRaw[tokenIn] ?? 1n,
  }),
  fee: ({ state }) => `0.0${state.feePercent}`,
  // Of baskets that is not said, so that nothing is left out that leads to them.
  ...(version !== 'baskets' && { spotIsBest: true }),
})

export const carrying = (name: string, carries: Router['carries']): Router => ({
  address: name,
  name,
  carries,
  plan: () => {
    throw new Error('Nothing is traded here.')
  },
  fill: () => undefined,
})
const allOf = (route: readonly string[], ...versions: string[]) => route.every((each) => versions.includes(each))

export const protocols = ['pairs', 'ticks', 'baskets'].map(basketProtocol)
/** One for pairs, one for ticks that mixes the two for an exact amount in, one for baskets. */
export const routers = [
  carrying('pairs only', (route) => allOf(route, 'pairs')),
  carrying('mixing', (route, exact) => allOf(route, 'ticks') || (exact === 'in' && allOf(route, 'pairs', 'ticks'))),
  carrying('baskets only', (route) => allOf(route, 'baskets')),
]
export const exchange: PoolExchange = { protocols, routers }

/** The same protocol, of which not every pool is known yet: what it gives is at best that of its price. */
function knowing(protocol: PoolProtocol, known: (pool: string) => boolean): PoolProtocol {
  return {
    ...protocol,
    ...(protocol.estimate && {
      estimate: (pool: Pool, ...asked: [Passage, 'in' | 'out', number]) =>
        known(pool.address) ? protocol.estimate?.(pool, ...asked) : undefined,
    }),
    pass(pool, passage, exact, amountRaw) {
      if (known(pool.address)) return protocol.pass(pool, passage, exact, amountRaw)
      const { numerator, denominator } = protocol.spot(pool, passage)
      const atBestRaw = exact === 'in' ? (amountRaw * numerator) / denominator + 1n : (amountRaw * denominator) / numerator
      return { missing: pool.address, atBestRaw }
    },
  }
}

/**
 * @param known whether enough was read of a pool; of all where it is absent
 * @param spotIsBest whether pools say that no amount gets a better price than theirs
 */
export function graphOf(baskets: readonly BasketOf[], known: (pool: string) => boolean = () => true, spotIsBest = true): PoolGraph {
  const knowingly = protocols.map((each) => {
    const { spotIsBest: says, ...protocol } = knowing(each, known)
    return spotIsBest && says ? { ...protocol, spotIsBest: says } : protocol
  })
  return poolGraphOf(
    baskets.flatMap(({ version, tokens, reservesRaw, feePercent, gasUnits, mostInRaw }, index) => {
      const protocol = knowingly.find((each) => each.version === version)
      if (!protocol) return []
      const state = {
        reservesRaw: Object.fromEntries(tokens.map((token, at) => [token, reservesRaw[at] ?? 1n])),
        feePercent,
        gasUnits,
        mostInRaw,
      }
      return [{ protocol, pool: { address: `pool ${index}`, tokens, state } }]
    }),
  )
}

/** Every route that there is, one by one: no token twice, no pool twice. */
export function everyRoute(graph: PoolGraph, { tokenIn, tokenOut, intermediates }: RouteQuery): readonly (readonly PoolEdge[])[] {
  const found: PoolEdge[][] = []
  const goOn = (route: readonly PoolEdge[], from: string): void => {
    const visited = [tokenIn, ...route.map(({ passage }) => passage.tokenOut)]
    for (const to of [...intermediates, tokenOut]) {
      if (visited.includes(to)) continue
      for (const edge of graph.edgesBetween(from, to)) {
        if (route.some(({ pool }) => pool.address === edge.pool.address)) continue
        if (to === tokenOut) found.push([...route, edge])
        else if (route.length + 1 < maxHops) goOn([...route, edge], to)
      }
    }
  }
  goOn([], tokenIn)
  return found
}

export interface Outcome {
  readonly amountRaw: bigint
  readonly gasUnits: bigint
}

/** What a route gives, or takes; undefined where a pool on it refuses. */
export function along(route: readonly PoolEdge[], { exact, amountRaw }: RouteQuery): Outcome | undefined {
  let outcome: Outcome = { amountRaw, gasUnits: 0n }
  for (const edge of exact === 'in' ? route : route.toReversed()) {
    const passed = edge.pass(exact, outcome.amountRaw)
    if (!passed || 'missing' in passed || passed.amountRaw <= 0n) return undefined
    outcome = { amountRaw: passed.amountRaw, gasUnits: outcome.gasUnits + passed.gasUnits }
  }
  return outcome
}

/** What any router takes, with what comes of it. */
export function everyOutcome(graph: PoolGraph, query: RouteQuery) {
  const { routerFor } = routeOptionsOf(exchange, query.exact, undefined)
  return everyRoute(graph, query).flatMap((route) => {
    if (!routerFor(route.map(({ protocol }) => protocol.version))) return []
    const outcome = along(route, query)
    return outcome ? [{ route, ...outcome }] : []
  })
}
