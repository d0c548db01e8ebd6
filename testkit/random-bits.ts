/** Repeatable random numbers, equally many of every magnitude. */
export function randomBits(seed: number): { below(bound: number): number; bits(most: number): bigint } {
  let state = seed
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (bound: number) => Math.floor((next() / 2 ** 32) * bound)
  const bits = (most: number): bigint => {
    const length = below(most + 1)
    let value = 0n
    for (let count = 0; count < length; count += 32) value = (value << 32n) | BigInt(next())
    return BigInt.asUintN(length, value)
  }
  return { below, bits }
}
