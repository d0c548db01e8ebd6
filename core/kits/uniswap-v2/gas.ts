import { passing, type PoolBetween } from './pools.ts'

// Measured on the devnet with the router of Uniswap v2 and plain tokens: 88,000 to 113,000 for one hop and 133,000 for
// two through pools that have traded before, 133,000 and 222,000 where they have not; tokens behind proxies cost more.
const firstHopUnits = 110_000n
const furtherHopUnits = 60_000n

/** An estimate for choosing routes and showing costs; what is signed is simulated first. */
export function gasUnitsOf(hops: number): bigint {
  return firstHopUnits + furtherHopUnits * BigInt(Math.max(0, hops - 1))
}

// A pool in which the gas alone would move the price by a percent says nothing about what gas is worth.
const leastDepth = 100n

/**
 * What gas costs in a token, by the token's pool with the wrapped coin, rounded down. Nothing where there is no such
 * pool or a shallow one: then routes are compared without gas rather than by a price that anyone can set for pennies.
 */
export function gasCostIn(token: string, wrapped: string, poolBetween: PoolBetween, gasPriceRaw: bigint): (gasUnits: bigint) => bigint {
  if (token === wrapped) return (gasUnits) => gasUnits * gasPriceRaw
  const pool = poolBetween(wrapped, token)
  if (!pool) return () => 0n
  const { reserveInRaw, reserveOutRaw } = passing(pool, wrapped, token)
  return (gasUnits) => {
    const costRaw = gasUnits * gasPriceRaw
    return reserveInRaw < costRaw * leastDepth ? 0n : (costRaw * reserveOutRaw) / reserveInRaw
  }
}
