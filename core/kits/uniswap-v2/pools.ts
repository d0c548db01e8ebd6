import type { CallResult } from '../evm/types.ts'
import { sortTokens } from './pairs.ts'
import type { Path } from './routes.ts'

export interface Pool {
  readonly address: string
  readonly reserve0Raw: bigint
  readonly reserve1Raw: bigint
}

/** One pool in the direction in which a route passes it. */
export interface PoolHop {
  readonly pool: string
  readonly tokenIn: string
  readonly tokenOut: string
  readonly reserveInRaw: bigint
  readonly reserveOutRaw: bigint
}

/** The pool between two tokens, in either order. */
export type PoolBetween = (a: string, b: string) => Pool | undefined

/** Selector of `getReserves()`, which returns three words: two reserves and a time. */
export const getReservesData = '0x0902f1ac'
const hexDigitsPerWord = 64
const answerLength = '0x'.length + 3 * hexDigitsPerWord

/** Undefined where there is no such pair, or an empty one. */
export function readPool(address: string, { ok, data }: CallResult): Pool | undefined {
  // A call to an address without code succeeds and returns nothing.
  if (!ok || data.length < answerLength) return undefined
  const word = (index: number) => BigInt(`0x${data.slice(2 + index * hexDigitsPerWord, 2 + (index + 1) * hexDigitsPerWord)}`)
  const [reserve0Raw, reserve1Raw] = [word(0), word(1)]
  return reserve0Raw > 0n && reserve1Raw > 0n ? { address, reserve0Raw, reserve1Raw } : undefined
}

/** The pools along a path; undefined where one of them is missing. */
export function hopsAlong(path: Path, poolBetween: PoolBetween): readonly PoolHop[] | undefined {
  const hops: PoolHop[] = []
  let tokenIn = path[0]
  for (const tokenOut of path.slice(1)) {
    const pool = poolBetween(tokenIn, tokenOut)
    if (!pool) return undefined
    hops.push(passing(pool, tokenIn, tokenOut))
    tokenIn = tokenOut
  }
  return hops
}

export function passing({ address, reserve0Raw, reserve1Raw }: Pool, tokenIn: string, tokenOut: string): PoolHop {
  const forward = sortTokens(tokenIn, tokenOut)[0] === tokenIn
  const [reserveInRaw, reserveOutRaw] = forward ? [reserve0Raw, reserve1Raw] : [reserve1Raw, reserve0Raw]
  return { pool: address, tokenIn, tokenOut, reserveInRaw, reserveOutRaw }
}
