import type { Witness } from '../../live-state/telemetry.ts'
import { isOutside, loadStates } from '../../live-state/loading.ts'
import type { Group, Track } from '../../live-state/tracked-states.ts'
import type { Trail } from './trail.ts'

/** So many states of an exchange are compared at once: those that were not for the longest time. */
const sampleSize = 4

/**
 * Reads some states anew, compares them with those in memory after the same block, and lets go what differs. What differs is read a second
 * time first: a node that makes a block while it is asked about the one before may answer by what is in both.
 */
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
  const inMemory = new Map(sample.map((track) => [track, track.history.newest()]))
  const differing = async (among: readonly Track[]): Promise<readonly Track[]> => {
    const keys = among.map(({ key }) => key)
    const states = keys.length === 0 ? new Map<string, unknown>() : await loadStates(group, keys, after, over)
    return among.filter((track) => !source.same(track.key, inMemory.get(track), states.get(track.key)))
  }
  try {
    const suspects = await differing(sample)
    const different = await differing(suspects)
    for (const track of sample) {
      const outcome = different.includes(track) ? 'different' : suspects.includes(track) ? 'unclear' : 'equal'
      witness.check({ ...source.place, what: track.key }, outcome)
      if (outcome !== 'different') continue
      again(track)
      source.followed.foundWrong?.(inMemory.get(track))
    }
  } catch (error) {
    if (over.aborted) return
    witness.check(source.place, 'unclear')
    if (!isOutside(error)) witness.trouble(source.place, 'defect', 'the connector failed to read states for a comparison', error)
  }
}
