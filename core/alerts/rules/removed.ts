// Whether a network or a node was removed from the configuration: then its alerts are over. Of one that is away for a moment nothing is known.

/** Networks, plugins and nodes are known by then after the start. */
const absentMs = 10 * 60_000

/** @returns whether what is not there by now was removed */
export function createRemoval(): (steadyMs: number) => boolean {
  let since: number | undefined
  return (steadyMs) => {
    since ??= steadyMs
    return steadyMs - since >= absentMs
  }
}
