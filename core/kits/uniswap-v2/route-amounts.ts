import { getAmountIn, getAmountOut, mostReserveRaw, type Fee } from './amounts.ts'
import type { PoolHop } from './pools.ts'

export type Route = readonly PoolHop[]

/** What a route gives for an exact amount in, or asks for an exact amount out; undefined where a pool on it would refuse. */
export function amountAlong(route: Route, exact: 'in' | 'out', amountRaw: bigint, fee: Fee): bigint | undefined {
  const step = exact === 'in' ? getAmountOut : getAmountIn
  let amount: bigint | undefined = amountRaw
  for (const hop of exact === 'in' ? route : route.toReversed()) {
    amount = step(amount, hop.reserveInRaw, hop.reserveOutRaw, fee)
    if (amount === undefined) return undefined
  }
  return amount
}

/**
 * The same at the pools' marginal prices and without fees: what the price impact is measured against. Rounded up, so
 * that it is never zero.
 */
export function spotAlong(route: Route, exact: 'in' | 'out', amountRaw: bigint): bigint {
  let [numerator, denominator] = [amountRaw, 1n]
  for (const { reserveInRaw, reserveOutRaw } of route) {
    numerator *= exact === 'in' ? reserveOutRaw : reserveInRaw
    denominator *= exact === 'in' ? reserveInRaw : reserveOutRaw
  }
  return (numerator + denominator - 1n) / denominator
}

/** The most that an exact-out swap can ask of a route, whatever it costs. */
export function mostOut(route: Route, fee: Fee): bigint {
  let reachableRaw = mostReserveRaw
  for (const { reserveInRaw, reserveOutRaw } of route) {
    const roomRaw = mostReserveRaw - reserveInRaw
    // One less than fits, since getAmountIn asks for one more than it needs.
    const amountInRaw = (reachableRaw < roomRaw ? reachableRaw : roomRaw) - 1n
    reachableRaw = amountInRaw > 0n ? (getAmountOut(amountInRaw, reserveInRaw, reserveOutRaw, fee) ?? 0n) : 0n
  }
  return reachableRaw
}

/** The most that an exact-in swap can put into a route. */
export function mostIn(route: Route): bigint {
  const [first] = route
  return first ? mostReserveRaw - first.reserveInRaw : 0n
}
