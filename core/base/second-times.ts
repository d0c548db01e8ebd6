// What comes a second time is worth keeping. What comes once would be kept for nothing, and made old for the collector of garbage: of what was seen
// there is only a number.

/** Numbers that were seen not long ago, each at a place of its own. */
export class SecondTimes {
  readonly #seen: Float64Array

  constructor(size = 1024) {
    this.#seen = new Float64Array(size).fill(Number.NaN)
  }

  /** Whether this number was the last one at its place. Another thing with the same number counts as the same. @param number whole, at least 0 */
  isSecond(number: number): boolean {
    const place = number % this.#seen.length
    if (this.#seen[place] === number) return true
    this.#seen[place] = number
    return false
  }
}

/** A whole number for a text, below 2^32: FNV-1a of its units. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

const numberBits = 48
/** A whole number for an amount, below 2^48. */
export const numberOf = (amountRaw: bigint): number => Number(BigInt.asUintN(numberBits, amountRaw ^ (amountRaw >> 48n)))
