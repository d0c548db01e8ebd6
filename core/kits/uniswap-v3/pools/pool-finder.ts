import { poolAt, sortTokens, type PoolOrigin } from './pool-at.ts'

// Callers may ask for any token there is, so what is remembered has a bound.
const mostRemembered = 10_000

/** The pool of two tokens and a fee: whether there is one or not. */
export interface Place {
  readonly address: string
  /** In the pools' order. */
  readonly tokens: readonly [token0: string, token1: string]
}

/**
 * Where the pools of two tokens are, one for every fee. What `made` makes of each is remembered with it, for two hashes cost
 * more than the rest of reading a pool.
 */
export function poolFinder<T>(
  origin: PoolOrigin,
  fees: readonly number[],
  made: (place: Place) => T,
): (a: string, b: string) => readonly T[] {
  const known = new Map<string, Map<string, readonly T[]>>()
  let remembered = 0

  return (a, b) => {
    const found = known.get(a)?.get(b)
    if (found) return found
    const tokens = sortTokens(a, b)
    const pools = fees.map((fee) => made({ address: poolAt(origin, tokens, fee), tokens }))
    if (remembered >= mostRemembered) {
      known.clear()
      remembered = 0
    }
    const beside = known.get(a) ?? new Map<string, readonly T[]>()
    known.set(a, beside.set(b, pools))
    remembered += 1
    return pools
  }
}
