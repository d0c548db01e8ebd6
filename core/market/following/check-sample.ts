import type { Witness } from '../witness.ts'
import { isOutside, loadStates } from './load-group.ts'
import type { Group, Track } from './track.ts'
import type { Trail } from './trail.ts'

/** So many states of an exchange are compared at once: those that were not for the longest time. */
const sampleSize = 4

/** Reads some states anew, compares them with those in memory after the same block, and lets go what differs. */
export async function checkSample(
  group: Group,
  trail: Trail,
  witness: Witness,
  over: AbortSignal,
  again: (track: Track) => void,
): Promise<void> {
  const { source, tracks } = group
  const after = trail.tip
  const sample = [...tracks.values()].filter(({ history }) => after && history.at(after.number) !== undefined).slice(0, sampleSize)
  if (!after || sample.length === 0) return
  // They come last the next time.
  for (const track of sample) {
    tracks.delete(track.key)
    tracks.set(track.key, track)
  }
  const inMemory = sample.map(({ history }) => history.newest())
  try {
    const keys = sample.map(({ key }) => key)
    const states = await loadStates(group, keys, after, over)
    for (const [index, track] of sample.entries()) {
      const place = { ...source.place, what: track.key }
      const isSame = source.same(track.key, inMemory[index], states.get(track.key))
      witness.check(place, isSame ? 'equal' : 'different')
      if (!isSame) again(track)
    }
  } catch (error) {
    if (over.aborted) return
    witness.check(source.place, 'unclear')
    if (!isOutside(error)) witness.trouble(source.place, 'defect', 'the connector failed to read states for a comparison', error)
  }
}
