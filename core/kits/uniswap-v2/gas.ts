import { passing, type PoolBetween } from './pools.ts'

// Gas of a router swap between ordinary tokens, measured; see test/kits/uniswap-v2/gas.test.ts.
const firstHopUnits = 120_000n
const furtherHopUnits = 70_000n

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
