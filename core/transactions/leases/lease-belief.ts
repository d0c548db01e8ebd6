/**
 * Until when this server may believe that its session lives. Reckoned from before the renewal was sent, so that it ends before the
 * database's own reckoning does, and by two clocks: one stands still while the machine sleeps, the other can be set back.
 */
export interface Belief {
  /** Looked at whenever it matters, and by no timer: a process that was stopped must not act on it when it wakes up. */
  holds(): boolean
  /** To be called before a renewal is sent; what it gives, once it was granted. */
  renewing(): () => void
  end(): void
}

export function beliefFor(milliseconds: number): Belief {
  const none = { steady: -Infinity, wall: -Infinity }
  let until = none
  return {
    holds: () => performance.now() < until.steady && Date.now() < until.wall,
    renewing() {
      const renewed = { steady: performance.now() + milliseconds, wall: Date.now() + milliseconds }
      return () => {
        until = renewed
      }
    },
    end() {
      until = none
    },
  }
}
