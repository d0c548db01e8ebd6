// How many orders a machine can serve at once. With more than that each answer comes after its client has left, is asked for again, and the run does not end.

/** Shorter than the windows of a run: most answers come before its bots give up. */
const wantedMs = 4_000
const [more, fewer] = [0.5, 0.25]
/** On the slowest machine. */
export const leastParallel = 8

export interface Room {
  /** How many may be in it now. */
  readonly size: number
  /** Waits for a place, runs the work, and gives the place to the next. */
  hold<T>(work: () => Promise<T>): Promise<T>
  /** An answer came after so long: there is room for more, or for fewer. */
  answered(tookMs: number): void
}

/** @param least how many it has room for at first, and in any case */
export function createRoom(least: number, most: number): Room {
  let size = least
  let used = 0
  const waiting: (() => void)[] = []

  function admit(): void {
    for (let next = waiting[0]; next && used < Math.floor(size); next = waiting[0]) {
      waiting.shift()
      used += 1
      next()
    }
  }

  return {
    get size() {
      return Math.floor(size)
    },
    async hold(work) {
      const entered = new Promise<void>((resolve) => waiting.push(resolve))
      admit()
      await entered
      try {
        return await work()
      } finally {
        used -= 1
        admit()
      }
    },
    answered(tookMs) {
      size = Math.min(most, Math.max(least, size + (tookMs < wantedMs ? more : -fewer)))
      admit()
    },
  }
}
