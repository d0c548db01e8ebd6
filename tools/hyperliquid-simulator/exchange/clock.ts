export interface Clock {
  /** Milliseconds since the Unix epoch, by the exchange's own clock. */
  now(): number
  advance(milliseconds: number): void
}

/** The machine's clock, and what was added to it. */
export function createClock(): Clock {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    advance: (milliseconds) => {
      ahead += milliseconds
    },
  }
}
