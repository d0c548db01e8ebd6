// The best of all routes and of all sets of two and three without a common pool, in hundredths of the amount, net of gas: by trying all of them.
// What each route leaves for each hundredth is computed once, exactly. A set is divided by dynamic programming, where it could be the best: no
// division leaves more than a hundred times any price of a hundredth, and what its routes leave beyond that price.
import type { RouteTaker } from '../../../../kits/pools/protocol.ts'
import type { PoolEdge } from '../../../../kits/pools/routing/graph.ts'
import { netGain, swapGasUnits, type PricedRoute } from '../../../../kits/pools/routing/gas-cost.ts'
import { bestRoute } from '../../../../kits/pools/routing/best-route.ts'
import { bestSplit } from '../../../../kits/pools/routing/split.ts'
import { along, everyRoute } from './graph.ts'
import type { World } from './random-worlds.ts'

const whole = 100
/** As `bestSplit` counts: of each further route. */
const partGasUnits = 20_000n

export interface Optimum {
  /** What it leaves, in the token of the other side; below 0 where that is the input. */
  readonly gain: number
  readonly parts: readonly { readonly edges: readonly PoolEdge[]; readonly share: number }[]
}

interface Route {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  /** A bit for each pool. */
  readonly pools: number
  /** What so many hundredths leave after the gas of the pools and of another part. */
  readonly net: Float64Array
}

/** Undefined where nothing takes the amount. */
export function bestOfAll(world: Omit<World, 'kind'>): Optimum | undefined {
  const { graph, options, query, gasCost } = world
  const { exact, amountRaw } = query
  const cost = (gasUnits: bigint) => Number(gasCost(gasUnits))
  const net = (edges: readonly PoolEdge[], partRaw: bigint, gasUnits: bigint): number => {
    const outcome = along(edges, { ...query, amountRaw: partRaw })
    return outcome ? Number(exact === 'in' ? outcome.amountRaw : -outcome.amountRaw) - cost(outcome.gasUnits + gasUnits) : -Infinity
  }
  const all = everyRoute(graph, query).map((edges) => ({ edges, versions: edges.map(({ protocol }) => protocol.version) }))
  let best: Optimum | undefined
  const consider = (gain: number, parts: () => Optimum['parts']) => {
    if (gain > (best?.gain ?? -Infinity)) best = { gain, parts: parts() }
  }
  for (const { edges, versions } of all)
    if (options.routerFor(versions)) consider(net(edges, amountRaw, swapGasUnits), () => [{ edges, share: whole }])

  const routers = options.routers.filter(({ splits }) => splits)
  const bits = new Map(graph.pools.map(({ pool }, index) => [pool, 1 << index]))
  const splitting = all.filter(({ versions }) => isSplit(routers, [versions], world))
  const tables = splitting.map(({ edges, versions }): Route => {
    const ofShare = (_: unknown, share: number) =>
      share === 0 ? -Infinity : net(edges, (amountRaw * BigInt(share)) / BigInt(whole), partGasUnits)
    const pools = edges.reduce((sum, { pool }) => sum | (bits.get(pool) ?? 0), 0)
    return { edges, versions, pools, net: Float64Array.from({ length: whole + 1 }, ofShare) }
  })
  const once = cost(swapGasUnits - partGasUnits)
  const versionsOf = (set: readonly Route[]) => set.map(({ versions }) => versions)
  const isTaken = (set: readonly Route[]) => isSplit(routers, versionsOf(set), world)
  const division = bestDivision(tables, { atLeast: (best?.gain ?? -Infinity) + once, isTaken })
  if (division) consider(division.gain - once, () => division.parts)
  return best
}

const isSplit = (routers: readonly RouteTaker[], parts: readonly (readonly string[])[], { swap }: Pick<World, 'swap'>) =>
  routers.some((router) => router.splits?.(parts, swap))

interface Search {
  /** What is known without a division. */
  readonly atLeast: number
  readonly isTaken: (set: readonly Route[]) => boolean
}

/** The best division among two or three routes; undefined where none is better than what is known. */
function bestDivision(routes: readonly Route[], { atLeast, isTaken }: Search): Optimum | undefined {
  let best: Optimum = { gain: atLeast, parts: [] }
  const single = (count: number) => routes.reduce((most, { net }) => Math.max(most, (net[count] ?? -Infinity) / count), -Infinity)
  // Prices of a hundredth: any are true, and those near the best division's leave few sets.
  const prices = [1, 5, 20, 50, 80, 95, whole].map(single).filter(Number.isFinite)
  const typical = atLeast === -Infinity ? prices : [...prices, atLeast / whole]
  const around = [...new Set(typical.flatMap((price) => [1, 0.999, 0.99, 0.97, 0.9, 0.8, 1.01, 1.1].map((part) => price * part)))]
  const beyond = (price: number) => (route: Route) => route.net.reduce((most, net, share) => Math.max(most, net - price * share), -Infinity)
  const surplus = around.map((price) => ({ price, of: routes.map(beyond(price)) }))
  // By the price that bounds the best three routes lowest.
  const boundOf = ({ price, of }: (typeof surplus)[number]) =>
    whole * price +
    [...of]
      .toSorted((a, b) => b - a)
      .slice(0, 3)
      .reduce((sum, each) => sum + Math.max(0, each), 0)
  const [lowest, ...others] = surplus.toSorted((a, b) => boundOf(a) - boundOf(b))
  if (!lowest) return undefined
  const order = routes.map((_, index) => index).toSorted((a, b) => (lowest.of[b] ?? 0) - (lowest.of[a] ?? 0))
  const ofAll = whole * lowest.price
  const extra = (index: number) => lowest.of[index] ?? -Infinity
  const couldBe = (set: readonly number[]) =>
    others.every(({ price, of }) => set.reduce((sum, index) => sum + (of[index] ?? -Infinity), whole * price) > best.gain)
  const pairs = new Map<number, Float64Array>()
  const pairOf = (one: number, other: number) => {
    const key = one * routes.length + other
    const known = pairs.get(key) ?? together(routes[one]?.net, routes[other]?.net)
    pairs.set(key, known)
    return known
  }
  const tryPair = (one: number, other: number) => {
    if (!couldBe([one, other])) return
    const [a, b] = [routes[one], routes[other]]
    if (!a || !b || !isTaken([a, b])) return
    for (let share = 1; share < whole; share += 1) {
      const gain = (a.net[share] ?? 0) + (b.net[whole - share] ?? 0)
      if (gain > best.gain)
        best = {
          gain,
          parts: [
            { edges: a.edges, share },
            { edges: b.edges, share: whole - share },
          ],
        }
    }
  }
  const tryThree = (one: number, other: number, third: number) => {
    if (!couldBe([one, other, third])) return
    const [a, b, c] = [routes[one], routes[other], routes[third]]
    if (!a || !b || !c || !isTaken([a, b, c])) return
    const both = pairOf(one, other)
    for (let share = 1; share < whole; share += 1) {
      const gain = (c.net[share] ?? 0) + (both[whole - share] ?? 0)
      if (gain > best.gain) best = { gain, parts: threeParts([a, b, c], share, both[whole - share] ?? 0) }
    }
  }
  for (const [at, one] of order.entries()) {
    if (ofAll + 3 * extra(one) <= best.gain && ofAll + extra(one) <= best.gain) break
    for (let next = at + 1; next < order.length; next += 1) {
      const other = order[next] ?? 0
      const ofTwo = ofAll + extra(one) + extra(other)
      if (ofTwo <= best.gain && ofTwo + extra(other) <= best.gain) break
      const pools = (routes[one]?.pools ?? 0) | (routes[other]?.pools ?? 0)
      if (((routes[one]?.pools ?? 0) & (routes[other]?.pools ?? 0)) !== 0) continue
      if (ofTwo > best.gain) tryPair(one, other)
      for (let last = next + 1; last < order.length; last += 1) {
        const third = order[last] ?? 0
        if (ofTwo + extra(third) <= best.gain) break
        if ((pools & (routes[third]?.pools ?? 0)) === 0) tryThree(one, other, third)
      }
    }
  }
  return best.parts.length > 0 ? best : undefined
}

/** What two routes leave together for each number of hundredths. */
function together(a: Float64Array | undefined, b: Float64Array | undefined): Float64Array {
  const both = new Float64Array(whole + 1).fill(-Infinity)
  for (let sum = 2; sum <= whole; sum += 1)
    for (let share = 1; share < sum; share += 1)
      both[sum] = Math.max(both[sum] ?? 0, (a?.[share] ?? -Infinity) + (b?.[sum - share] ?? -Infinity))
  return both
}

function threeParts([a, b, c]: readonly [Route, Route, Route], ofThird: number, both: number): Optimum['parts'] {
  const left = whole - ofThird
  for (let share = 1; share < left; share += 1)
    if ((a.net[share] ?? 0) + (b.net[left - share] ?? 0) === both)
      return [
        { edges: a.edges, share },
        { edges: b.edges, share: left - share },
        { edges: c.edges, share: ofThird },
      ]
  throw new Error('The division is one of those that were tried.')
}

/** How far an answer is from the best, in basis points of what the best single route gives or takes; undefined where nothing gives anything. */
export interface Distance {
  readonly ours: number
  /** Of the best single route. */
  readonly single: number
  readonly isSplit: boolean
}

/** 'refused' where no single route takes the amount, and several would together. */
export function distanceToBest(world: Omit<World, 'kind'>): Distance | 'refused' | undefined {
  const { graph, query, options, gasCost, swap } = world
  const optimum = bestOfAll(world)
  const { best } = bestRoute(graph, query, options, gasCost)
  if (!best) return optimum && 'refused'
  const split = bestSplit(graph, { swap, query, options, gasCost, best })
  if (split && 'missing' in split) throw new Error('All of the pools is known.')
  const behind = ({ amountRaw, gasUnits }: Pick<PricedRoute, 'amountRaw' | 'gasUnits'>) =>
    Math.max(0, ((optimum?.gain ?? 0) - Number(netGain(query.exact, amountRaw, gasUnits, gasCost))) / Number(best.amountRaw)) * 10_000
  return { ours: behind(split ?? best), single: behind(best), isSplit: split !== undefined }
}
