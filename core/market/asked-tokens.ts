// The tokens of a network that clients asked the market for, and which of them are read.

interface AskedTimes {
  readonly firstMs: number
  readonly lastMs: number
}

/** So that no client takes the market of another's tokens away, all of them take turns for the places. */
export class AskedTokens {
  readonly #idleMs: number
  /** By who asked and by address. */
  readonly #asked = new Map<string, Map<string, AskedTimes>>()

  /** @param idleMs a token that somebody did not ask for so long is read for it no more */
  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  ask(who: string, tokens: readonly string[], nowMs: number): void {
    if (tokens.length === 0) return
    const asked = this.#asked.get(who) ?? new Map<string, AskedTimes>()
    this.#asked.set(who, asked)
    // An address keeps its place in the order of those that were asked first.
    for (const token of tokens) asked.set(token, { firstMs: asked.get(token)?.firstMs ?? nowMs, lastMs: nowMs })
  }

  /** Whether somebody asked for it before that moment. */
  wasAsked(token: string, beforeMs: number): boolean {
    for (const asked of this.#asked.values()) if ((asked.get(token)?.firstMs ?? Infinity) < beforeMs) return true
    return false
  }

  /**
   * By turns of all who asked. Of each first those that are read and were asked for since then, in the order of their first requests: a token keeps its
   * place while its window fills. Then the others, the last asked first.
   * @param sinceMs where the window begins
   */
  inTurns(isRead: (token: string) => boolean, sinceMs: number, nowMs: number): readonly string[] {
    const lists = [...this.#asked].map(([who, asked]) => {
      for (const [token, { lastMs }] of asked) if (nowMs - lastMs > this.#idleMs) asked.delete(token)
      if (asked.size === 0) this.#asked.delete(who)
      const isKept = ([token, { lastMs }]: readonly [string, AskedTimes]) => lastMs >= sinceMs && isRead(token)
      const others = [...asked].filter((each) => !isKept(each)).toSorted(([, a], [, b]) => b.lastMs - a.lastMs)
      return [...[...asked].filter(isKept), ...others].map(([token]) => token)
    })
    const longest = lists.reduce((most, { length }) => Math.max(most, length), 0)
    return [...new Set(Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list[turn] ?? [])).flat())]
  }
}
