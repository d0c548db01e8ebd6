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

/**
 * @param withinMs how long an increase counts
 * @param atLeast by how much it has to have grown within that time
 */
export function increases(withinMs: number, atLeast = 1): Increases {
  const known = new Map<string, { count: number; growths: readonly { readonly at: number; readonly by: number }[] }>()
  let since: number | undefined
  return {
    after(counts, steadyMs, isRecent = () => false) {
      since ??= steadyMs
      for (const { key, count } of counts) {
        // A counter begins at zero with the server, and again with another version of a plugin: a smaller one has grown from there.
        const before = known.get(key)
        const isNew = before === undefined || count < before.count
        const by = count - (isNew ? 0 : before.count)
        // Each growth is by one at least.
        if (by > 0) known.set(key, { count, growths: [...(before?.growths ?? []), { at: steadyMs, by }].slice(-atLeast) })
        else if (isNew && before) known.set(key, { ...before, count })
      }
      const isYoung = steadyMs - since < withinMs
      const grown = (growths: readonly { readonly at: number; readonly by: number }[]) =>
        growths.reduce((sum, { at, by }) => (steadyMs - at < withinMs ? sum + by : sum), 0)
      const keys = [...known].filter(([, { growths }]) => grown(growths) >= atLeast).map(([key]) => key)
      const areThere = new Set(keys)
      // What an earlier server counted is not known any more: it counts for as long.
      return { keys, isUnknown: (key) => (isYoung && !areThere.has(key)) || (!known.has(key) && isRecent(key)) }
    },
  }
}

/** Since when something is so. */
export interface Since {
  /** Forgets all others. */
  keep(subjects: ReadonlySet<string>): void
  /** For how long it is so: 0 where this is the first time. */
  msOf(subject: string, steadyMs: number): number
}

export function createSince(): Since {
  const known = new Map<string, number>()
  return {
    keep(subjects) {
      for (const subject of known.keys()) if (!subjects.has(subject)) known.delete(subject)
    },
    msOf(subject, steadyMs) {
      const since = known.get(subject) ?? steadyMs
      known.set(subject, since)
      return steadyMs - since
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
