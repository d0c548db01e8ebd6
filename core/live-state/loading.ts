import { SluiceError } from '../api/index.ts'
import { abortable, pause, withDeadline } from '../async.ts'
import type { Head, KnownOf } from '../contracts/index.ts'
import type { BlockHistory } from './blocks.ts'
import type { Telemetry } from './telemetry.ts'
import { applyBlock, uncoveredBy, type StateGroup, type TrackedState, startLoading } from './tracked-states.ts'

const loadMs = 15_000
const againMs = 100
/** So many keys are loaded at once. */
const maxKeysPerLoad = 250

/** What the states of some keys were after a block. */
async function loadStates(
  { source, tracks }: StateGroup,
  keys: readonly string[],
  after: Head,
  over: AbortSignal,
): Promise<ReadonlyMap<string, unknown>> {
  const known = new Map<string, KnownOf>()
  for (const key of keys) {
    const track = tracks.get(key)
    if (track && (track.about !== undefined || track.more.length > 0)) known.set(key, { about: track.about, more: [...track.more] })
  }
  const { head, states } = await withDeadline(over, loadMs, (signal) =>
    abortable(Promise.resolve(source.followed.load(keys, after, { signal }, known)), signal),
  )
  if (head.number !== after.number || (head.hash !== undefined && head.hash !== after.hash))
    throw new Error(`it read block ${head.number} where ${after.number} was asked for`)
  if (!(states instanceof Map)) throw new Error('it gave no states')
  return states
}

/** Whether it is the network or the node that failed, rather than the plugin. */
const isExternalFailure = (error: unknown): boolean =>
  error instanceof SluiceError ? error.name !== 'UNKNOWN_ERROR' : error instanceof DOMException && error.name === 'TimeoutError'

/** Whether it passes with the network's trouble. */
export const isNetworkFailure = (error: unknown): boolean => error instanceof SluiceError && error.http >= 500 && isExternalFailure(error)

/**
 * Loads what is wanted of a group, at the newest block, and moves it on by what happened while it was loaded. Where one key makes the
 * connector fail, the others are loaded without it.
 */
async function loadGroup(
  group: StateGroup,
  tracks: readonly TrackedState[],
  trail: BlockHistory,
  witness: Telemetry,
  over: AbortSignal,
  tries = 2,
): Promise<void> {
  const { place } = group.source
  const after = trail.tip
  if (!after) return
  try {
    const states = await loadStates(
      group,
      tracks.map(({ key }) => key),
      after,
      over,
    )
    // Another fork, or blocks of which this was not asked for when it was not followed yet: it is loaded again.
    const since = trail.after(after.hash)
    if (!since?.every((block) => uncoveredBy(group, tracks, block).length === 0)) {
      for (const track of tracks) group.wanted.add(track)
      return
    }
    const loaded = new Set(tracks)
    for (const track of tracks) {
      const state = states.get(track.key)
      track.history.clear()
      if (state !== undefined) track.history.put(after.number, state)
      else
        fail(
          track,
          new SluiceError('PAIR_NOT_FOUND', `${place.connector} has nothing called ${track.key} on ${place.chain}/${place.network}.`),
        )
    }
    for (const block of since) for (const track of applyBlock(group, block, witness, loaded)) group.wanted.add(track)
    for (const track of tracks) {
      if (track.history.newest() === undefined) continue
      track.again.reset()
      delete track.error
      track.loading?.settle()
    }
  } catch (error) {
    if (over.aborted) return
    // A node may be about to have the block, or another one takes over.
    if (isNetworkFailure(error) && tries > 1) {
      await pause(againMs, over)
      return loadGroup(group, tracks, trail, witness, over, tries - 1)
    }
    if (!isExternalFailure(error) && tracks.length > 1) {
      await Promise.all(tracks.map((track) => loadGroup(group, [track], trail, witness, over)))
      return
    }
    for (const track of tracks) fail(track, errorOf(group, track, error, witness))
  }
}

function fail(track: TrackedState, error: unknown): void {
  track.error = error
  track.again.failed()
  track.loading?.settle(error)
}

function errorOf({ source: { place } }: StateGroup, { key }: TrackedState, error: unknown, witness: Telemetry): unknown {
  const where = `${place.connector} on ${place.chain}/${place.network}`
  if (error instanceof SluiceError && isExternalFailure(error)) return error
  if (isExternalFailure(error))
    return new SluiceError('NETWORK', `${key} of ${where} was not read in time. Try again.`, { retryAfterSeconds: 1, cause: error })
  const why = error instanceof Error ? error.message : 'unknown'
  witness.trouble({ ...place, what: key }, 'defect', `the connector failed to load a state: ${why}`, error)
  return new SluiceError('UNKNOWN_ERROR', `The connector ${place.connector} has failed to read ${key}. The server's log has the reason.`, {
    cause: error,
  })
}

interface StateLoaderOptions {
  trail: BlockHistory
  witness: Telemetry
  /** Until it is aborted; undefined where nothing is followed. */
  running(): AbortSignal | undefined
  /** Told whenever some of what was wanted is there, or could not be loaded. */
  loaded(): void
}

/** Loads states: all that is wanted of an exchange at the same time together. Settles once there is one, or why there is none. */
type StateLoader = (group: StateGroup, track: TrackedState) => Promise<void>

export function createStateLoader({ trail, witness, running, loaded }: StateLoaderOptions): StateLoader {
  async function load(group: StateGroup): Promise<void> {
    group.due = false
    const signal = running()
    for (;;) {
      if (!signal || signal.aborted || !trail.tip || group.wanted.size === 0) return
      const some = [...group.wanted].slice(0, maxKeysPerLoad)
      for (const track of some) {
        group.wanted.delete(track)
        if (track.loading) track.loading.asked = [...track.more]
      }
      await loadGroup(group, some, trail, witness, signal)
      loaded()
    }
  }

  return (group, track) => {
    const { done, isNew } = startLoading(track)
    if (isNew) group.wanted.add(track)
    if (group.wanted.size > 0 && !group.due) {
      group.due = true
      setImmediate(() => void load(group))
    }
    return done
  }
}

/** So many states of an exchange are compared at once: those that were not for the longest time. */
const sampleSize = 4

/**
 * Reads some states anew, compares them with those in memory after the same block, and lets go what differs. What differs is read a second
 * time first: a node that makes a block while it is asked about the one before may answer by what is in both.
 */
export async function checkSample(
  group: StateGroup,
  trail: BlockHistory,
  witness: Telemetry,
  over: AbortSignal,
  again: (track: TrackedState) => void,
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
  const differing = async (among: readonly TrackedState[]): Promise<readonly TrackedState[]> => {
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
    if (!isExternalFailure(error)) witness.trouble(source.place, 'defect', 'the connector failed to read states for a comparison', error)
  }
}
