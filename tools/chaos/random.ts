import { createHash } from 'node:crypto'

/** Numbers that follow from a seed alone, so that a run can be repeated. */
export interface Random {
  /** From 0 up to 1, which is never reached. */
  next(): number
  /** A whole number from 0 up to `count`, which is never reached. */
  below(count: number): number
  /** A whole number between both, which are possible. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  shuffled<T>(list: readonly T[]): T[]
  /** A stream of its own, the same whatever was drawn from this one: what races with it does not change it. */
  fork(name: string | number): Random
}

export function randomOf(seed: string): Random {
  const hash = createHash('sha256').update(seed).digest()
  let state = [hash.readUInt32LE(0), hash.readUInt32LE(4), hash.readUInt32LE(8), hash.readUInt32LE(12) || 1]

  /** xorshift128 (Marsaglia, 2003). */
  function word(): number {
    const [a = 0, b = 0, c = 0, d = 0] = state
    let t = a ^ (a << 11)
    t ^= t >>> 8
    const next = (d ^ (d >>> 19) ^ t) >>> 0
    state = [b, c, d, next]
    return next
  }

  const random: Random = {
    next: () => word() / 2 ** 32,
    below: (count) => Math.floor((word() / 2 ** 32) * count),
    between: (least, most) => least + random.below(most - least + 1),
    chance: (probability) => random.next() < probability,
    pick(list) {
      const picked = list[random.below(list.length)]
      if (picked === undefined) throw new Error('Nothing can be picked from an empty list.')
      return picked
    },
    shuffled(list) {
      const left = [...list]
      return list.map(() => left.splice(random.below(left.length), 1)).flat()
    },
    fork: (name) => randomOf(`${seed}/${name}`),
  }
  return random
}
