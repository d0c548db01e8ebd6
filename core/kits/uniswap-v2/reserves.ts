import type { CallResult } from '../../../kits/evm/types.ts'
import type { Passage, Pool } from '../../../kits/amm/index.ts'
import type { PairAt } from './pairs.ts'

export interface Reserves {
  readonly reserve0Raw: bigint
  readonly reserve1Raw: bigint
}

/** Selector of `getReserves()`, which returns three words: two reserves and a time. */
export const getReservesData = '0x0902f1ac'
const hexDigitsPerWord = 64
const answerLength = '0x'.length + 3 * hexDigitsPerWord

/** Undefined where there is no such pair, or an empty one. */
export function readPool({ address, tokens }: PairAt, { ok, data }: CallResult): Pool<Reserves> | undefined {
  // A call to an address without code succeeds and returns nothing.
  const state = ok && data.length >= answerLength ? reservesIn(data) : undefined
  return state && { address, tokens, state }
}

/** In the first two words; undefined where either is nothing. */
export function reservesIn(data: string): Reserves | undefined {
  const reserve0Raw = wordOf(data, 0)
  const reserve1Raw = wordOf(data, 1)
  return reserve0Raw > 0n && reserve1Raw > 0n ? { reserve0Raw, reserve1Raw } : undefined
}

const wordOf = (data: string, index: number) => BigInt(`0x${data.slice(2 + index * hexDigitsPerWord, 2 + (index + 1) * hexDigitsPerWord)}`)

export function reservesAlong({ tokens: [token0], state: { reserve0Raw, reserve1Raw } }: Pool<Reserves>, { tokenIn }: Passage) {
  return tokenIn === token0
    ? { reserveInRaw: reserve0Raw, reserveOutRaw: reserve1Raw }
    : { reserveInRaw: reserve1Raw, reserveOutRaw: reserve0Raw }
}
