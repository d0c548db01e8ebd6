import type { CallResult } from '../../../../../kits/evm/types.ts'

const wordDigits = 64

/**
 * The words of what a view returned, of which there must be so many; forks that return more of them read alike.
 * Undefined where it failed or there is nothing that returns as much.
 */
export function wordsOf(result: CallResult | undefined, least: number): readonly bigint[] | undefined {
  if (!result?.ok || result.data.length < 2 + least * wordDigits) return undefined
  return Array.from({ length: Math.floor((result.data.length - 2) / wordDigits) }, (_, index) =>
    BigInt(`0x${result.data.slice(2 + index * wordDigits, 2 + (index + 1) * wordDigits)}`),
  )
}

/** An `int24` and the like: a word of 256 bits in two's complement. */
export function signed(word: bigint): bigint {
  return BigInt.asIntN(256, word)
}
