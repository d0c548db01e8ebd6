/** The states of one key, each from the block on that brought it about. They are never changed, so that to go back is to drop. */
export interface History {
  /** Undefined where there is none. */
  newest(): unknown
  /** As it was after a block; undefined where that is not known any more, or not yet. */
  at(number: bigint): unknown
  put(number: bigint, state: unknown): void
  /** Forgets what came after a block. */
  rollBack(number: bigint): void
  /** Forgets what nobody goes back to behind a block. */
  prune(oldest: bigint): void
  clear(): void
}

export function createHistory(): History {
  const states: { from: bigint; state: unknown }[] = []
  return {
    newest: () => states.at(-1)?.state,
    at: (number) => states.findLast(({ from }) => from <= number)?.state,
    put(number, state) {
      if (states.at(-1)?.from === number) states.pop()
      states.push({ from: number, state })
    },
    rollBack(number) {
      while ((states.at(-1)?.from ?? number) > number) states.pop()
    },
    prune(oldest) {
      for (let next = states[1]; next && next.from <= oldest; next = states[1]) states.shift()
    },
    clear() {
      states.length = 0
    },
  }
}
