import type { Witness } from '../../live-state/telemetry.ts'
import { loadGroup, mostAtOnce } from '../../live-state/loading.ts'
import { loadingOf, type Group, type Track } from '../../live-state/tracked-states.ts'
import type { Trail } from './trail.ts'

export interface LoadingOptions {
  trail: Trail
  witness: Witness
  /** Until it is aborted; undefined where nothing is followed. */
  running(): AbortSignal | undefined
  /** Told whenever some of what was wanted is there, or could not be loaded. */
  loaded(): void
}

/** Loads states: all that is wanted of an exchange at the same time together. Settles once there is one, or why there is none. */
export type Want = (group: Group, track: Track) => Promise<void>

export function createLoading({ trail, witness, running, loaded }: LoadingOptions): Want {
  async function load(group: Group): Promise<void> {
    group.due = false
    const signal = running()
    for (;;) {
      if (!signal || signal.aborted || !trail.tip || group.wanted.size === 0) return
      const some = [...group.wanted].slice(0, mostAtOnce)
      for (const track of some) {
        group.wanted.delete(track)
        if (track.loading) track.loading.asked = [...track.more]
      }
      await loadGroup(group, some, trail, witness, signal)
      loaded()
    }
  }

  return (group, track) => {
    const { done, isNew } = loadingOf(track)
    if (isNew) group.wanted.add(track)
    if (group.wanted.size > 0 && !group.due) {
      group.due = true
      setImmediate(() => void load(group))
    }
    return done
  }
}
