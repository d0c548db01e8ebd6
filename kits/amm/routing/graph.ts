import { parseDecimal, rescale } from '../../../core/decimal.ts'
import type { Missing, Passage, Passed, Pool, PoolProtocol, PoolExchange, Router } from '../protocol.ts'

/** One pool in one direction. */
export interface PoolEdge {
  readonly protocol: PoolProtocol
  readonly pool: Pool
  readonly passage: Passage
  pass(exact: 'in' | 'out', amountRaw: bigint): Passed | Missing | undefined
  /** Its price, fee included: out per in, in smallest units, rounded up. */
  rateX128(): bigint
  /** The same as floating point where no amount gets a better one, and else infinite. */
  bestRate(): number
}

/** The lanes from one token to another. */
export interface PoolGraph {
  readonly isEmpty: boolean
  edgesBetween(tokenIn: string, tokenOut: string): readonly PoolEdge[]
  /** All through which a token comes in. */
  edgesFrom(token: string): readonly PoolEdge[]
}

const x128 = 2 ** 128
const nowhere: readonly PoolEdge[] = []

export function poolGraphOf(pools: readonly { readonly protocol: PoolProtocol; readonly pool: Pool }[]): PoolGraph {
  const known = new Map<string, Map<string, PoolEdge[]>>()
  for (const { protocol, pool } of pools) {
    for (const tokenIn of pool.tokens) {
      let beyond = known.get(tokenIn)
      if (!beyond) known.set(tokenIn, (beyond = new Map<string, PoolEdge[]>()))
      for (const tokenOut of pool.tokens) {
        if (tokenOut === tokenIn) continue
        const lane = laneOf(protocol, pool, { tokenIn, tokenOut })
        const beside = beyond.get(tokenOut)
        if (beside) beside.push(lane)
        else beyond.set(tokenOut, [lane])
      }
    }
  }
  return {
    isEmpty: known.size === 0,
    edgesBetween: (tokenIn, tokenOut) => known.get(tokenIn)?.get(tokenOut) ?? nowhere,
    edgesFrom: (token) => [...(known.get(token)?.values() ?? [])].flat(),
  }
}

/** Routes of one version and of several ask the same of their first pools: the last answer is remembered. */
function laneOf(protocol: PoolProtocol, pool: Pool, passage: Passage): PoolEdge {
  let bestRate: number | undefined
  let asked: { exact: 'in' | 'out'; amountRaw: bigint; answer: Passed | Missing | undefined } | undefined
  return {
    protocol,
    pool,
    passage,
    pass(exact, amountRaw) {
      if (asked?.exact === exact && asked.amountRaw === amountRaw) return asked.answer
      const answer = protocol.pass(pool, passage, exact, amountRaw)
      asked = { exact, amountRaw, answer }
      return answer
    },
    rateX128: () => rateX128Of(protocol, pool, passage),
    bestRate: () => (bestRate ??= protocol.spotIsBest ? Number(rateX128Of(protocol, pool, passage)) / x128 : Infinity),
  }
}

const oneX18 = 10n ** 18n

/** Of pools as they are, which few blocks change: by the tokens that go in and out. */
const rates = new WeakMap<Pool, Map<string, bigint>>()

/** A pool's price, fee included: out per in, in smallest units, rounded up. */
export function rateX128Of(protocol: PoolProtocol, pool: Pool, passage: Passage): bigint {
  const ofPool = rates.get(pool) ?? new Map<string, bigint>()
  rates.set(pool, ofPool)
  const key = `${passage.tokenIn} ${passage.tokenOut}`
  const rateX128 = ofPool.get(key) ?? reckonRate(protocol, pool, passage)
  ofPool.set(key, rateX128)
  return rateX128
}

function reckonRate(protocol: PoolProtocol, pool: Pool, passage: Passage): bigint {
  const { numerator, denominator } = protocol.spot(pool, passage)
  const { digits, scale } = parseDecimal(protocol.fee(pool))
  const feeX18 = rescale(digits, scale, 18)
  return ((numerator * (oneX18 - feeX18)) << 128n) / (denominator * oneX18) + 1n
}

/** Remembers by a key what belongs to pools as they are, whatever the amount: for as long as anybody has them. */
export function perGraph<T>(): (lanes: PoolGraph) => Map<string, T> {
  const known = new WeakMap<PoolGraph, Map<string, T>>()
  return (lanes) => {
    const before = known.get(lanes)
    if (before) return before
    const ofLanes = new Map<string, T>()
    known.set(lanes, ofLanes)
    return ofLanes
  }
}

/** In what an exchange's routes can differ: pools of which versions, and who carries them. */
export interface RouteOptions {
  /** Each alone, and together what one router carries together. */
  readonly versionSets: readonly ReadonlySet<string>[]
  /** Those that have a pool on any of these routes. */
  readonly protocols: readonly PoolProtocol[]
  readonly routers: readonly Router[]
  /** The router that takes such a route. */
  routerFor(versions: readonly string[]): Router | undefined
}

/** @param version restricts routes to that one */
export function routeOptionsOf({ protocols, routers }: PoolExchange, exact: 'in' | 'out', version: string | undefined): RouteOptions {
  const versions = [...new Set(protocols.map((protocol) => protocol.version))].filter((each) => version === undefined || each === version)
  const carrier = (route: readonly string[]) => routers.find((router) => router.carries(route, exact))
  const alone = versions.filter((each) => carrier([each])).map((each) => new Set([each]))
  const mixes = [...alone, ...together(versions, routers, exact)]
  return {
    versionSets: mixes,
    protocols: protocols.filter((protocol) => mixes.some((mix) => mix.has(protocol.version))),
    routers: routers.filter((router) => versions.some((each) => router.carries([each], exact))),
    routerFor: carrier,
  }
}

function together(versions: readonly string[], routers: readonly Router[], exact: 'in' | 'out'): readonly ReadonlySet<string>[] {
  const found = new Map<string, ReadonlySet<string>>()
  for (const router of routers) {
    const mixed = versions.filter((one) =>
      versions.some((other) => other !== one && (router.carries([one, other], exact) || router.carries([other, one], exact))),
    )
    if (mixed.length > 1) found.set(mixed.join(), new Set(mixed))
  }
  return [...found.values()]
}
