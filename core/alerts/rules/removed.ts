// What is gone for good, so that what was told of it is over: of what is away for a moment nobody knows.

/** Networks, plugins and nodes are known a while after the start: what is away for longer was removed. */
const absentMs = 10 * 60_000

/** @returns whether what is not there by now was removed */
export function createRemoval(): (steadyMs: number) => boolean {
  let since: number | undefined
  return (steadyMs) => {
    since ??= steadyMs
    return steadyMs - since >= absentMs
  }
}
