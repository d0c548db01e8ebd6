// What comes a second time is worth keeping. What comes once would be kept for nothing, and made old for the collector of garbage: of what was seen
// there is only a number.

/** Numbers that were seen not long ago, each at a place of its own. */
export class SecondTimes {
  /** One more than the number that was seen, and 0 where none was. Made with the first number: most endpoints are never asked. */
  #seen: Float64Array | undefined

  readonly #bits: number

  /** @param bits as many places as they count */
  constructor(bits = 14) {
    this.#bits = bits
  }

  /** Whether this number was the last one at its place. Another thing with the same number counts as the same. @param number whole, at least 0 */
  isSecond(number: number): boolean {
    const seen = (this.#seen ??= new Float64Array(2 ** this.#bits))
    // Round amounts have the same last bits: all bits make the place.
    const place = Math.imul((number / 2 ** 32) ^ (number | 0) ^ (number >>> 15), 0x9e3779b1) >>> (32 - this.#bits)
    if (seen[place] === number + 1) return true
    seen[place] = number + 1
    return false
  }
}

/** A whole number for a text, below 2^32: FNV-1a of its units. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

const amountBits = 40
/** A whole number for an amount at one of 2^13 owners, below 2^53. */
export const numberOf = (amountRaw: bigint, owner = 0): number =>
  Number(BigInt.asUintN(amountBits, amountRaw ^ (amountRaw >> 40n))) * 2 ** 13 + (owner & 0x1fff)
