/** A scrape must not wait for a store that hangs. */
const deadlineMs = 2_000

/** What the work gives, or an error when a scrape has waited long enough for it. */
export function withinDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The store did not answer in time.')), deadlineMs)
  })
  return Promise.race([work, tooLate]).finally(() => clearTimeout(timer))
}
