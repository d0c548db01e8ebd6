import type { Freshness } from './freshness.ts'
import type { KeptTracks } from './kept-tracks.ts'
import type { Changed, Track } from '../../live-state/tracked-states.ts'
import type { Trail } from './trail.ts'

/** Who is told of what is followed on one network. */
export interface Watchers {
  /** Told with every new state of a key, and with `undefined` while there is none that may be shown; first with what there is. */
  add(track: Track, changed: Changed): void
  /** Told whenever anything may have changed, or must not be shown any more. Until the function given is called. */
  onMove(moved: () => void): () => void
  /** Each what is new to it. */
  tell(): void
  /** Has it told where states may not be shown any more, or may be again. */
  look(): void
  /** Nothing is followed any more: whoever comes next may be shown what there is. */
  reset(): void
}

export function createWatchers(tracks: KeptTracks, trail: Trail, freshness: Freshness, hidden: () => void): Watchers {
  const movers = new Set<() => void>()
  let shown = true

  function tell(): void {
    for (const moved of movers) moved()
    const { tip } = trail
    for (const group of tracks.groups()) {
      for (const track of group.tracks.values()) {
        if (track.watchers.size === 0) continue
        const state = shown ? track.history.newest() : undefined
        if (state === track.told || (state === undefined && shown && track.error === undefined)) continue
        track.told = state
        for (const changed of track.watchers) changed(state === undefined || !tip ? undefined : { state, head: tip })
      }
    }
  }

  return {
    add(track, changed) {
      const state = track.history.newest()
      if (state !== undefined && trail.tip && shown) {
        track.told = state
        changed({ state, head: trail.tip })
      } else if (!shown || track.told === undefined) changed(undefined)
      track.watchers.add(changed)
    },
    onMove(moved) {
      movers.add(moved)
      return () => void movers.delete(moved)
    },
    tell,
    look() {
      if (shown === freshness.isFresh()) return
      shown = !shown
      if (!shown) hidden()
      tell()
    },
    reset() {
      shown = true
    },
  }
}
