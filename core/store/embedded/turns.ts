/**
 * One after another, first come first served. Kysely wakes all who wait for the one connection whenever it is free, which is work that
 * grows with the square of a crowd.
 */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }
}
