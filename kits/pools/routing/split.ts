import type { Swap } from '../../../core/contracts/index.ts'
import type { Estimate, PoolMath, RouteTaker } from '../protocol.ts'
import { areDisjoint, Candidate, isAsked, isSameRoute, shareOf, shareSteps, wholeShare } from './candidate.ts'
import { gasRateOf, type PricedRoute, netGain, swapGasUnits, type GasCost } from './gas-cost.ts'
import { estimateAlong, quoteAlong, type MissingState, type PoolEdge, type PoolGraph, type RouteOptions, type RouteQuery } from './graph.ts'
import { ratedRoutes, slack, type RatedRoutes } from './rated-routes.ts'
import { sizedRoutes, type SizedRoute } from './sized-routes.ts'

/** 35 → "0.35" */
export const shareDecimal = (share: number): string => String(share / wholeShare)

/**
 * The gas of each further route of a split, without its pools. Measured on the devnet with SwapRouter02: another call of its multicall through
 * one pool of concentrated liquidity uses 68,000 to 81,000, of which some 55,000 are the pool's.
 */
const partGasUnits = 20_000n
/** How many routes are compared in sets: those with the highest bounds. */
const maxCompared = 120

/** What is to be split. */
interface SplitQuery {
  readonly swap: Swap
  readonly query: RouteQuery
  readonly options: RouteOptions
  /** In the token of the other side. */
  readonly gasCost: GasCost
  /** The best single route. */
  readonly best: PricedRoute
}

/** One of several routes that a swap takes at once. */
interface Part {
  readonly edges: readonly PoolEdge[]
  /** In hundredths. */
  readonly share: number
  /** Of the exact amount; those of all parts add up to it. */
  readonly exactRaw: bigint
  readonly otherRaw: bigint
  /** Of its pools alone. */
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

export interface SplitRoute {
  readonly parts: readonly Part[]
  readonly router: RouteTaker
  /** The other side of the swap, all parts together. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

/**
 * Two or three routes at once, without a common pool, that leave the trader more after paying for gas than the best single one. Undefined
 * where there are none. If one of them has missing state, returns that state. They are chosen by estimates, and then passed exactly.
 */
export function bestSplit(graph: PoolGraph, split: SplitQuery): SplitRoute | { readonly missing: readonly MissingState[] } | undefined {
  const { query, best, gasCost, options } = split
  if (shareOf(query.amountRaw, 1) === 0n || !options.routers.some(({ splits }) => splits)) return undefined
  const rated = ratedRoutes(graph, query, options)
  const allButOne = estimateAlong(best.edges, query.exact, (Number(query.amountRaw) * (wholeShare - 1)) / wholeShare)
  // Where the best route is no part, a hundredth has to do better still. Most swaps end here.
  if (allButOne && !canPay(rated, split, new Terms(split, allButOne))) return undefined
  const single = new Candidate(best.edges, query)
  const isPart = !isAsked(best) && routerOf([single], split) !== undefined
  const terms = new Terms(split, isPart ? (allButOne ?? single.share(wholeShare - 1)) : undefined)
  if (!(allButOne && isPart) && !canPay(rated, split, terms)) return undefined
  const routes = sizedRoutes(graph, rated, split, (versions) => routerOf([{ versions }], split) !== undefined)
  const choice = chooseRoutes(splitCandidates(routes, isPart ? single : undefined, split, terms), split, terms)
  if (!choice) return undefined
  const unknowns = unknownsOf(choice)
  if (unknowns.length > 0) return { missing: unknowns }
  const parts = partsOf(inOrder(choice), query)
  if (!parts) return undefined
  let [amountRaw, poolUnits, firstWriteUnits] = [0n, 0n, 0n]
  for (const part of parts) {
    amountRaw += part.otherRaw
    poolUnits += part.gasUnits
    firstWriteUnits += part.firstWriteUnits
  }
  const gasUnits = swapGasUnits + poolUnits + partGasUnits * BigInt(parts.length - 1)
  // The last part has what rounding left, which matters where a hundredth is only a few units.
  return netGain(query.exact, amountRaw, gasUnits, gasCost) > netGain(query.exact, best.amountRaw, best.gasUnits, gasCost)
    ? { parts, router: choice.router, amountRaw, gasUnits, firstWriteUnits }
    : undefined
}

function unknownsOf({ routes, shares }: Choice): readonly MissingState[] {
  const unknowns: MissingState[] = []
  for (let index = 0; index < routes.length; index += 1) unknowns.push(...(routes[index]?.unknownsOf(shares[index] ?? 0) ?? []))
  return unknowns
}

/** The first router that takes these routes together; of a single one, that takes it beside others. */
function routerOf(routes: readonly Pick<Candidate, 'versions'>[], { options: { routers }, swap }: SplitQuery): RouteTaker | undefined {
  const versions = routes.map((route) => route.versions)
  return routers.find((router) => router.splits?.(versions, swap))
}

const poolsOf = ({ edges }: Candidate): string => edges.map(({ pool }) => pool.address).join()

/** The largest share first, then by pools: in the order of the search it would differ by what was read of the pools before. */
function inOrder({ routes, shares }: Choice): readonly { readonly route: Candidate; readonly share: number }[] {
  return routes
    .map((route, index) => ({ route, share: shares[index] ?? 0 }))
    .toSorted((a, b) => b.share - a.share || (poolsOf(a.route) < poolsOf(b.route) ? -1 : 1))
}

/** The last part has what rounding left. Undefined where that is too much for its pools. */
function partsOf(ordered: ReturnType<typeof inOrder>, { exact, amountRaw }: RouteQuery): readonly Part[] | undefined {
  let leftRaw = amountRaw
  const parts: Part[] = []
  for (const { route, share } of ordered) {
    const exactRaw = parts.length === ordered.length - 1 ? leftRaw : shareOf(amountRaw, share)
    leftRaw -= exactRaw
    const quote = quoteAlong(route.edges, exact, exactRaw, true)
    if (!quote) return undefined
    const { amountRaw: otherRaw, gasUnits, firstWriteUnits } = quote
    parts.push({ edges: route.edges, share, exactRaw, otherRaw, gasUnits, firstWriteUnits })
  }
  return parts
}

/** What is compared, in floating point and in the token of the other side. */
class Terms {
  readonly exact: 'in' | 'out'
  readonly gasRate: number
  readonly partCost: number
  /** What the best single route leaves after paying for gas. */
  readonly gainOfBest: number
  /** What the last hundredth brings on the best single route; what any brings, where the route is no part. */
  readonly lastShare: number
  /** How far that may be off. */
  readonly #error: number

  constructor({ query: { exact }, best, gasCost }: SplitQuery, allButOne: Estimate | undefined) {
    const amount = Number(best.amountRaw)
    this.exact = exact
    this.gasRate = gasRateOf(gasCost)
    this.partCost = Number(partGasUnits) * this.gasRate
    this.gainOfBest = this.worth(amount) - Number(best.gasUnits) * this.gasRate
    this.lastShare = allButOne ? this.worth(amount) - this.worth(allButOne.amount) : this.worth(amount) / wholeShare
    this.#error = allButOne ? allButOne.error * allButOne.amount : 0
  }

  /** The other side as a gain: an output, or an input as a negative number. */
  worth(amount: number): number {
    return this.exact === 'in' ? amount : -amount
  }

  /** Whether a hundredth gains so much more than the last one of the best route that, times 99, it pays for another call, and for so much gas. */
  pays(amount: number, error: number, gasUnits = 0): boolean {
    const more = this.worth(amount) + error * amount - this.lastShare + this.#error
    return more * (wholeShare - 1) > this.partCost + gasUnits * this.gasRate
  }
}

/** The other side of an amount at a price. */
const atRate = (rate: number, exact: 'in' | 'out', amount: number): number => (exact === 'in' ? amount * rate : amount / rate)

/**
 * Whether a hundredth of the swap does better on another route than the last hundredth does on the best single one. Routes are tried in the order
 * of their prices; most swaps are so small that none comes near, and then no pool is passed.
 */
function canPay({ routes, otherRate }: RatedRoutes, split: SplitQuery, terms: Terms): boolean {
  const { query, best, options } = split
  const amount = Number(query.amountRaw) / wholeShare
  const mayPay = (rate: number) => terms.pays(atRate(rate, query.exact, amount), slack)
  const gasOfBest = Number(best.gasUnits - swapGasUnits)
  let savedGas: number | undefined
  for (const route of routes) {
    if (!mayPay(route.rate)) return false
    if (isAsked(route) || isSameRoute(route.edges, best.edges)) continue
    const share = estimateAlong(route.edges, query.exact, amount) ?? new Candidate(route.edges, query, route.versions).share(1)
    if (!share) continue
    // The best route uses less gas for a part of the swap. Or it has none, and there is another route beside this one.
    savedGas ??= gasOfBest - Math.min(estimateAlong(best.edges, query.exact, amount)?.gasUnits ?? 0, ...options.protocols.map(leastGasOf))
    if (terms.pays(share.amount, share.error, Math.max(0, share.gasUnits - savedGas)) && routerOf([route], split)) return true
  }
  return otherRate > 0 && mayPay(otherRate)
}

const leastGasOf = ({ leastGasUnits = 0n }: PoolMath): number => Number(leastGasUnits)

/** A candidate, and what it leaves at most in a set. */
interface Offer {
  readonly candidate: Candidate
  /** The most that a hundredth may gain on it: no amount gets a better price. */
  readonly atBest: number
  readonly leastGas: number
  /** What it leaves at most beyond a price of a hundredth, after paying for its call: beyond that of the first division. */
  bound: number
  /** The same beyond what the last hundredth brings on the best single route. */
  boundAtLast: number
}

/** Routes that might have a share, the best single one among them where it may be a part; then those that gain most at best. */
function splitCandidates(
  routes: readonly SizedRoute[],
  single: Candidate | undefined,
  { query }: SplitQuery,
  terms: Terms,
): readonly Offer[] {
  const amount = Number(query.amountRaw) / wholeShare
  const offers: Offer[] = single ? [{ candidate: single, atBest: Infinity, leastGas: 0, bound: 0, boundAtLast: 0 }] : []
  for (const { edges, versions, maxRate, leastGas } of routes) {
    if (single && isSameRoute(single.edges, edges)) continue
    const atBest = terms.worth(query.exact === 'in' ? amount * maxRate * (1 + slack) : (amount / maxRate) * (1 - slack))
    offers.push({ candidate: new Candidate(edges, query, versions), atBest, leastGas, bound: 0, boundAtLast: 0 })
  }
  return offers
}

interface Choice {
  readonly routes: readonly Candidate[]
  readonly router: RouteTaker
  /** In hundredths, in the order of the routes. */
  readonly shares: readonly number[]
}

/**
 * What a candidate leaves at most beyond a price of a hundredth, after paying for its call.
 * @param isExact by all steps, which takes several times as many shares
 */
function boundOf({ candidate, atBest, leastGas }: Offer, price: number, { gasRate, partCost }: Terms, isExact = false): number {
  const gain = atBest <= price ? 0 : isExact ? candidate.gainBeyond(price) : candidate.gainAtMost(price)
  return gain - (gain > 0 ? candidate.gasOf(1) : leastGas) * gasRate - partCost
}

/**
 * Those that could be in a set that leaves more than this, at most so many; the highest bounds first. Uncertain ones are beside the number: a quote
 * must not depend on what was read before.
 */
function highestBounds(offers: readonly Offer[], ofAll: number, gain: number, limit = maxCompared): readonly Offer[] {
  let [most, second] = [-Infinity, -Infinity]
  for (const { bound } of offers) {
    if (bound > most) [most, second] = [bound, most]
    else if (bound > second) second = bound
  }
  const least = gain - ofAll - most - Math.max(second, 0)
  const found: Offer[] = []
  for (const offer of offers) if (offer.bound > least) insert(found, offer)
  if (found.length <= limit) return found
  let certain = 0
  return found.filter(({ candidate }) => candidate.isUncertain || ++certain <= limit)
}

/** Of equal ones the first stays first. */
function insert(found: Offer[], offer: Offer): void {
  let index = found.length
  for (let other = found[index - 1]; other && other.bound < offer.bound; other = found[index - 1]) {
    found[index] = other
    index -= 1
  }
  found[index] = offer
}

/**
 * The best two or three candidates without a common pool. A set is divided only where its bounds are above the best one known: what its routes
 * gain with their hundredths beyond a price of a hundredth, whatever that is, and a hundred times that price.
 */
function chooseRoutes(offers: readonly Offer[], split: SplitQuery, terms: Terms): Choice | undefined {
  const { gasRate, partCost, lastShare } = terms
  const ofSwap = Number(swapGasUnits) * gasRate
  let choice: Choice | undefined
  let maxGain = terms.gainOfBest
  const consider = (...routes: readonly Candidate[]): void => considerDivided(routes, allocate(routes))
  const considerDivided = (routes: readonly Candidate[], found: ReturnType<typeof allocate>): void => {
    if (!found || found.shares.includes(0)) return
    let [worth, gasUnits] = [0, 0]
    for (let index = 0; index < routes.length; index += 1) {
      const share = found.shares[index] ?? 0
      worth += routes[index]?.worthOf(share) ?? 0
      gasUnits += routes[index]?.gasOf(share) ?? 0
    }
    const gain = worth - ofSwap - gasUnits * gasRate - partCost * (routes.length - 1)
    const router = gain > maxGain ? routerOf(routes, split) : undefined
    if (!router) return
    choice = { routes, router, shares: found.shares }
    maxGain = gain
  }
  const ofAllAt = (price: number) => wholeShare * price - ofSwap + partCost
  for (const offer of offers) offer.bound = offer.boundAtLast = boundOf(offer, lastShare, terms)
  const byLast = highestBounds(offers, ofAllAt(lastShare), -Infinity)
  const [most, second] = byLast
  if (!most || !second || ofAllAt(lastShare) + most.bound + second.bound + Math.max(second.bound, 0) <= maxGain) return undefined
  const first = firstDisjoint(byLast)
  const found = allocate(first)
  if (first.length > 1) considerDivided(first, found)
  const price = found && Number.isFinite(found.minGain) ? found.minGain : lastShare
  for (const offer of offers) offer.bound = boundOf(offer, price, terms)
  const [ofAll, ofAllAtLast] = [ofAllAt(price), ofAllAt(lastShare)]
  // Exactly for those of the first set, beside which most others have none.
  for (const offer of offers) if (first.includes(offer.candidate)) offer.bound = boundOf(offer, price, terms, true)
  // All of them: one that is not among the first by this bound may be among them by its exact one.
  const left = highestBounds(offers, ofAll, maxGain, Infinity)
  for (const offer of left) if (!first.includes(offer.candidate)) offer.bound = boundOf(offer, price, terms, true)
  const order = highestBounds(left, ofAll, maxGain)
  // Where one does not reach, none after it does.
  for (const [index, a] of order.entries()) {
    if (ofAll + a.bound + 2 * Math.max(a.bound, 0) <= maxGain) break
    for (let second = index + 1; second < order.length; second += 1) {
      const b = order[second]
      if (!b || ofAll + a.bound + b.bound + Math.max(b.bound, 0) <= maxGain) break
      if (!areDisjoint(a.candidate, b.candidate)) continue
      const ofTwo = ofAll + a.bound + b.bound
      const ofTwoAtLast = ofAllAtLast + a.boundAtLast + b.boundAtLast
      if (ofTwo > maxGain && ofTwoAtLast > maxGain) consider(a.candidate, b.candidate)
      for (let third = second + 1; third < order.length; third += 1) {
        const c = order[third]
        if (!c || ofTwo + c.bound <= maxGain) break
        if (ofTwoAtLast + c.boundAtLast <= maxGain || !areDisjoint(a.candidate, c.candidate) || !areDisjoint(b.candidate, c.candidate))
          continue
        consider(a.candidate, b.candidate, c.candidate)
      }
    }
  }
  return net()

  function net(): Choice | undefined {
    return choice && { ...choice, shares: netOfGas(choice, terms) }
  }
}

/** A division is moved by so many where gas decides. */
const gasSteps = [20, 12, 8, 5, 3, 2, 1] as const
/** Where less than this part of the amount is paid for gas that depends on the division, it stays as it is. */
const minGasPart = 2e-5

/** The shares, moved as long as that leaves more after paying for gas: a route may use less of it where a share ends before a tick. */
function netOfGas({ routes, shares }: Choice, { gasRate }: Terms): readonly number[] {
  const moved = [...shares]
  let [gas, amount] = [0, 0]
  for (const [index, route] of routes.entries()) {
    const share = moved[index] ?? 0
    gas += (route.gasOf(share) - route.gasOf(1)) * gasRate
    amount += Math.abs(route.worthOf(share))
  }
  if (gas < minGasPart * amount) return shares
  const net = (index: number, share: number): number => {
    const route = share > 0 ? routes[index] : undefined
    return route ? route.worthOf(share) - route.gasOf(share) * gasRate : -Infinity
  }
  for (let isMoving = true; isMoving;) {
    isMoving = false
    for (const step of gasSteps) {
      for (let from = 0; from < moved.length; from += 1) {
        for (let to = 0; to < moved.length; to += 1) {
          const [ofFrom, ofTo] = [moved[from] ?? 0, moved[to] ?? 0]
          if (from === to || ofFrom <= step) continue
          const before = net(from, ofFrom) + net(to, ofTo)
          if (net(from, ofFrom - step) + net(to, ofTo + step) <= before + Math.abs(before) * slack) continue
          moved[from] = ofFrom - step
          moved[to] = ofTo + step
          isMoving = true
        }
      }
    }
  }
  return moved
}

/** Up to three candidates without a common pool, of which none is left out for a later one. */
function firstDisjoint(order: readonly Offer[]): readonly Candidate[] {
  const found: Candidate[] = []
  for (const { candidate } of order) {
    if (found.length === 3) break
    if (found.every((other) => areDisjoint(candidate, other))) found.push(candidate)
  }
  return found
}

/**
 * Gives step by step to the route that gains most with the next one, then takes steps from one route and gives them to another as long as that gains,
 * from coarse to fine. The end is the best allocation, because no route gains more with a later hundredth than with an earlier one. Undefined where no
 * route takes some of it.
 */
function allocate(routes: readonly Candidate[]): { readonly shares: readonly number[]; readonly minGain: number } | undefined {
  // As long as they will be: there are at most three routes.
  const [shares, gains, losses] = [
    [0, 0, 0],
    [-Infinity, -Infinity, -Infinity],
    [Infinity, Infinity, Infinity],
  ]
  let [left, minGain] = [wholeShare, 0]
  for (const step of shareSteps) {
    for (let index = 0; index < routes.length; index += 1) compare(index, step)
    for (;;) {
      const [to, from] = [indexOfMost(gains), indexOfLeast(losses)]
      const [gain, loss] = [gains[to] ?? -Infinity, losses[from] ?? Infinity]
      minGain = loss / step
      if (left >= step ? gain === -Infinity : to === from || gain <= loss) break
      if (left < step) give(from, -step, step)
      give(to, step, step)
    }
  }
  return left > 0 ? undefined : { shares: shares.slice(0, routes.length), minGain }

  function give(index: number, more: number, step: number): void {
    shares[index] = (shares[index] ?? 0) + more
    left -= more
    compare(index, step)
  }

  /** What one more step gains on a route, and what the last one brings. */
  function compare(index: number, step: number): void {
    const [route, share] = [routes[index], shares[index] ?? 0]
    gains[index] = route?.gainOf(step, share) ?? -Infinity
    losses[index] = route ? lossOf(route, step, share) : Infinity
  }
}

/** What the last of so many hundredths bring; infinitely much where there are fewer. */
const lossOf = (route: Candidate, step: number, share: number): number => (share < step ? Infinity : route.gainOf(step, share - step))

function indexOfMost(values: readonly number[]): number {
  let most = 0
  for (let index = 1; index < values.length; index += 1) if ((values[index] ?? 0) > (values[most] ?? 0)) most = index
  return most
}

function indexOfLeast(values: readonly number[]): number {
  let least = 0
  for (let index = 1; index < values.length; index += 1) if ((values[index] ?? 0) < (values[least] ?? 0)) least = index
  return least
}
