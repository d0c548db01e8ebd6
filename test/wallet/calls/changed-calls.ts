import type { Random } from '../../../tools/chaos/random.ts'

export interface Call {
  readonly to: string
  /** In lower case. */
  readonly data: string
  readonly valueRaw: bigint
}

const wordLength = 64
const word = (value: bigint): string => value.toString(16).padStart(wordLength, '0')

/** Changes words of a call as a thief would try: amounts, receivers, tokens, and what stands for them. */
export function changedCall({ to, data, valueRaw }: Call, random: Random, { addresses }: { addresses: readonly string[] }): Call {
  // Within nested calls words begin behind a selector.
  const starts = Array.from({ length: Math.floor((data.length - 10) / 8) }, (_, index) => 10 + 8 * index)
  const meaningful = starts.filter((at) => /^0{24}[0-9a-f]{40}$|^0{32,63}[0-9a-f]+$/.test(data.slice(at, at + wordLength)))
  let changed = data
  for (let count = random.between(1, 3); count > 0; count -= 1) {
    const at = random.pick(meaningful.length > 0 && random.chance(0.9) ? meaningful : starts)
    const before = BigInt(`0x${changed.slice(at, at + wordLength).padEnd(wordLength, '0')}`)
    const value = random.pick([
      0n,
      1n,
      2n,
      1n << 255n,
      (1n << 128n) - 1n,
      before * 2n,
      before / 2n,
      before + 1n,
      before * 1000n,
      ...addresses.map((each) => BigInt(each)),
      ...addresses.map((each) => BigInt(each)),
    ])
    changed = changed.slice(0, at) + word(BigInt.asUintN(256, value)) + changed.slice(at + wordLength)
  }
  const values = [valueRaw, valueRaw, valueRaw, 0n, valueRaw * 2n, 10n ** 17n]
  return { to, data: changed.slice(0, data.length), valueRaw: random.pick(values) }
}
