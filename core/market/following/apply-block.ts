import type { HeadChanges } from '../../contracts/index.ts'
import type { Witness } from '../../live-state/telemetry.ts'
import type { Group, Track } from '../../live-state/tracked-states.ts'

/** Moves states on by what happened in a block. Gives those of which that does not tell all: they are to be loaded anew. */
export function applyBlock(group: Group, block: HeadChanges, witness: Witness, only?: ReadonlySet<Track>): readonly Track[] {
  const { followed, place } = group.source
  const { number } = block.head
  const lost: Track[] = []
  let moved = 0
  for (const change of block.changes) {
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
      if (!track || (only && !only.has(track))) continue
      const state = track.history.newest()
      if (state === undefined) continue
      const next = applied(group, key, state, change, block, witness)
      if (next === undefined) {
        track.history.clear()
        lost.push(track)
      } else if (next !== state) {
        track.history.put(number, next)
        moved += 1
      }
    }
  }
  if (moved > 0) witness.update(place, moved)
  return lost
}

type Change = HeadChanges['changes'][number]

/** Undefined where it is to be loaded anew. */
function applied(group: Group, key: string, state: unknown, change: Change, { head }: HeadChanges, witness: Witness): unknown {
  const { followed, place } = group.source
  try {
    const next = followed.apply(state, change, head)
    if (next === undefined) throw new Error('apply gave nothing')
    if (next !== 'reload') return next
    witness.trouble({ ...place, what: key }, 'reload', 'what happened does not tell all of the state; it is read anew')
  } catch (cause) {
    witness.trouble({ ...place, what: key }, 'defect', 'the connector failed to apply an event; the state is read anew', cause)
  }
  return undefined
}
