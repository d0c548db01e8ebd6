import type { HeadChanges } from '../../contracts/index.ts'
import type { Witness } from '../witness.ts'
import type { Group, Track } from './track.ts'

/** Moves states on by what happened in a block. Gives those of which that does not tell all: they are to be loaded anew. */
export function applyBlock(group: Group, { head, changes }: HeadChanges, witness: Witness, only?: ReadonlySet<Track>): readonly Track[] {
  const { followed, place } = group.source
  const moved = new Map<Track, unknown>()
  const lost = new Set<Track>()
  for (const change of changes) {
    let keys: readonly string[]
    try {
      keys = followed.keysOf(change)
    } catch (cause) {
      witness.trouble(place, 'defect', 'the connector failed to say what an event is about; all that it follows is read anew', cause)
      for (const track of group.tracks.values()) track.history.clear()
      return [...group.tracks.values()]
    }
    for (const key of keys) {
      const track = group.tracks.get(key)
      if (!track || lost.has(track) || (only && !only.has(track))) continue
      const state = moved.get(track) ?? track.history.newest()
      if (state === undefined) continue
      const next = applied(group, track, witness, () => followed.apply(state, change, head))
      if (next === undefined) lost.add(track)
      else if (next !== state) moved.set(track, next)
    }
  }
  for (const [track, state] of moved) track.history.put(head.number, state)
  if (moved.size > 0) witness.update(place, moved.size)
  for (const track of lost) track.history.clear()
  return [...lost]
}

/** Undefined where it is to be loaded anew. */
function applied({ source }: Group, { key }: Track, witness: Witness, apply: () => unknown): unknown {
  const place = { ...source.place, what: key }
  try {
    const next = apply()
    if (next === undefined) throw new Error('apply gave nothing')
    if (next !== 'reload') return next
    witness.trouble(place, 'reload', 'what happened does not tell all of the state; it is read anew')
  } catch (cause) {
    witness.trouble(place, 'defect', 'the connector failed to apply an event; the state is read anew', cause)
  }
  return undefined
}
