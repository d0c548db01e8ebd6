/** A pool by what orders it: the `PoolView` of a connector. */
interface Pool {
  readonly pool: string
  readonly depth: readonly { readonly sellRaw: bigint }[]
}

/**
 * So many of the deepest pools of those that were added, the deepest first: by what they take at the last of their depths, then by address.
 * The rest is not kept. All pools of a network are too many to hold and to sort for each request.
 */
export class DeepestPools<T> {
  readonly #most: number
  readonly #viewOf: (one: T) => Pool
  readonly #kept: T[] = []

  constructor(most: number, viewOf: (one: T) => Pool) {
    this.#most = most
    this.#viewOf = viewOf
  }

  add(one: T): void {
    const view = this.#viewOf(one)
    const last = this.#kept[this.#most - 1]
    if (last !== undefined && !isDeeper(view, this.#viewOf(last))) return
    let [low, high] = [0, this.#kept.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const there = this.#kept[middle]
      if (there !== undefined && isDeeper(view, this.#viewOf(there))) high = middle
      else low = middle + 1
    }
    if (low >= this.#most) return
    this.#kept.splice(low, 0, one)
    if (this.#kept.length > this.#most) this.#kept.pop()
  }

  get kept(): readonly T[] {
    return this.#kept
  }
}

function isDeeper(one: Pool, other: Pool): boolean {
  const [depth, otherDepth] = [one.depth.at(-1)?.sellRaw ?? 0n, other.depth.at(-1)?.sellRaw ?? 0n]
  return depth === otherDepth ? one.pool < other.pool : depth > otherDepth
}
