// What rules compare over time: which counters have grown lately, and what was removed from the configuration.

export interface Increases {
  /**
   * @returns those that have grown within the time, and of which it is not known yet because the server runs for a shorter time
   * @param isRecent whether another server has found it within the time
   */
  after(
    counts: readonly { readonly key: string; readonly count: number }[],
    steadyMs: number,
    isRecent?: (key: string) => boolean,
  ): { readonly keys: readonly string[]; isUnknown(key: string): boolean }
}

/** @param withinMs how long an increase counts */
export function increases(withinMs: number): Increases {
  const known = new Map<string, { count: number; grownAt: number }>()
  let since: number | undefined
  return {
    after(counts, steadyMs, isRecent = () => false) {
      since ??= steadyMs
      for (const { key, count } of counts) {
        // A counter begins at zero with the server, and again with another version of a plugin: a smaller one has grown from there.
        const before = known.get(key)
        const isNew = before === undefined || count < before.count
        if (count > (isNew ? 0 : before.count)) known.set(key, { count, grownAt: steadyMs })
        else if (isNew && before) known.set(key, { ...before, count })
      }
      const isYoung = steadyMs - since < withinMs
      const keys = [...known].filter(([, { grownAt }]) => steadyMs - grownAt < withinMs).map(([key]) => key)
      // What an earlier server counted is not known any more: it counts for as long.
      return { keys, isUnknown: (key) => !known.has(key) && (isYoung || isRecent(key)) }
    },
  }
}

/** Networks, plugins and nodes are known by then after the start. */
const absentMs = 10 * 60_000

/**
 * Whether a network or a node was removed from the configuration: then its alerts are over. Of one that is away for a moment nothing is known.
 * @returns whether what is not there by now was removed
 */
export function createRemoval(): (steadyMs: number) => boolean {
  let since: number | undefined
  return (steadyMs) => {
    since ??= steadyMs
    return steadyMs - since >= absentMs
  }
}
