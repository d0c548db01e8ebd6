/** A state, and the block that brought it about. */
interface Version {
  readonly from: bigint
  readonly state: unknown
  before: Version | undefined
  after: Version | undefined
}

/**
 * The states of one key, each from the block on that brought it about. They are never changed, so that to go back is to drop. Linked to each
 * other: thousands of keys get a new state with a block, and what a link takes lies beside the state, where an array would be far off.
 */
export class History {
  #newest: Version | undefined
  #oldest: Version | undefined

  /** Undefined where there is none. */
  newest(): unknown {
    return this.#newest?.state
  }

  /** As it was after a block; undefined where that is not known any more, or not yet. */
  at(number: bigint): unknown {
    let version = this.#newest
    while (version && version.from > number) version = version.before
    return version?.state
  }

  put(from: bigint, state: unknown): void {
    const newest = this.#newest
    const before = newest?.from === from ? newest.before : newest
    const version: Version = { from, state, before, after: undefined }
    if (before) before.after = version
    else this.#oldest = version
    this.#newest = version
  }

  /** Forgets what came after a block. */
  rollBack(number: bigint): void {
    while (this.#newest && this.#newest.from > number) this.#newest = this.#newest.before
    if (this.#newest) this.#newest.after = undefined
    else this.#oldest = undefined
  }

  /** Forgets what nobody goes back to behind a block. */
  prune(oldest: bigint): void {
    for (let next = this.#oldest?.after; next && next.from <= oldest; next = next.after) {
      next.before = undefined
      this.#oldest = next
    }
  }

  clear(): void {
    this.#newest = undefined
    this.#oldest = undefined
  }
}
