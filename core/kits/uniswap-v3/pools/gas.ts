import type { Swapped } from './swap.ts'

const firstUnits = 90_000
const tickUnits = 22_000
const wordUnits = 4_000

export function gasUnitsOf({ ticksCrossed, wordsRead }: Swapped): bigint {
  return BigInt(firstUnits + tickUnits * ticksCrossed + wordUnits * (wordsRead - 1))
}
