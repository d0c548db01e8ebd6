// The tokens of a network that clients asked the market for, and which of them are read.

/** So that no client takes the market of another's tokens away, all of them take turns for the places. */
export class AskedTokens {
  readonly #idleMs: number
  /** By who asked and by address, when that was last. */
  readonly #asked = new Map<string, Map<string, number>>()

  /** @param idleMs a token that somebody did not ask for so long is read for it no more */
  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  ask(who: string, tokens: readonly string[], nowMs: number): void {
    if (tokens.length === 0) return
    const asked = this.#asked.get(who) ?? new Map<string, number>()
    this.#asked.set(who, asked)
    // An address keeps its place in the order of those that were asked first.
    for (const token of tokens) asked.set(token, nowMs)
  }

  has(token: string): boolean {
    for (const asked of this.#asked.values()) if (asked.has(token)) return true
    return false
  }

  /**
   * By turns of all who asked. Of each first those that are read and were asked for since then, in the order of their first requests: a token keeps its
   * place while its window fills. Then the others, the last asked first.
   * @param sinceMs where the window begins
   */
  inTurns(isRead: (token: string) => boolean, sinceMs: number, nowMs: number): readonly string[] {
    const lists = [...this.#asked].map(([who, asked]) => {
      for (const [token, atMs] of asked) if (nowMs - atMs > this.#idleMs) asked.delete(token)
      if (asked.size === 0) this.#asked.delete(who)
      const isKept = ([token, atMs]: readonly [string, number]) => atMs >= sinceMs && isRead(token)
      const others = [...asked].filter((each) => !isKept(each)).toSorted(([, a], [, b]) => b - a)
      return [...[...asked].filter(isKept), ...others].map(([token]) => token)
    })
    const longest = lists.reduce((most, { length }) => Math.max(most, length), 0)
    return [...new Set(Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list[turn] ?? [])).flat())]
  }
}
