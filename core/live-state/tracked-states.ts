import { isDeepStrictEqual } from 'node:util'
import { SluiceError } from '../api/index.ts'
import { createBackoff, type Backoff } from '../async.ts'
import type { Followed, Head, Interest, HeadChanges } from '../contracts/index.ts'
import type { HistoryBlock } from './blocks.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'

/** What is followed of one exchange on its network. The same object for the same exchange. */
export interface StateSource {
  readonly place: StateSubject
  readonly followed: Followed
  /** Whether what is in memory is what was loaded of the same block. */
  same(key: string, inMemory: unknown, loaded: unknown): boolean
}

export const createStateSource = (place: StateSubject, followed: Followed): StateSource => ({
  place,
  followed,
  same: (_key, inMemory, loaded) =>
    loaded !== undefined && (followed.same ? followed.same(inMemory, loaded) : isDeepStrictEqual(inMemory, loaded)),
})

/** A state, and the block that it is after. */
export interface StateAtBlock {
  readonly state: unknown
  readonly head: Head
}

export type StateListener = (seen: StateAtBlock | undefined) => void

/** One key that is followed. */
export interface TrackedState {
  readonly key: string
  /** What it was first asked for with. */
  readonly about: unknown
  /** What its readers found wanting, the newest last. */
  readonly more: unknown[]
  readonly history: StateHistory
  readonly watchers: Set<StateListener>
  /** When it may be loaded again after that failed. */
  readonly again: Backoff
  usedAt: number
  /** Why it was not loaded last. */
  error?: unknown
  /** Settles when it was loaded, or could not be. */
  loading?: {
    readonly done: Promise<void>
    settle(error?: unknown): void
    /** What it was begun with of all that readers found wanting; undefined while it waits to begin. */
    asked?: readonly unknown[]
  }
  /** What its watchers know. */
  told: unknown
}

/** All keys of one exchange. */
export interface StateGroup {
  readonly source: StateSource
  readonly tracks: Map<string, TrackedState>
  readonly wanted: Set<TrackedState>
  /** Whether what is wanted is about to be loaded. */
  due: boolean
}

const createStateGroup = (source: StateSource): StateGroup => ({ source, tracks: new Map(), wanted: new Set(), due: false })

/** What is asked of every block for all that is followed. */
export function interestIn(groups: readonly StateGroup[]): Interest {
  return {
    follow: groups.flatMap(followOf),
    from() {
      const emitters = groups.map(({ source: { followed }, tracks }) => followed.emitters?.([...tracks.keys()]))
      return emitters.every((each) => each !== undefined) ? emitters.flat() : undefined
    },
  }
}

const followOf = ({ source: { followed }, tracks }: StateGroup): readonly string[] =>
  followed.followOf ? [...followed.follow, ...[...tracks.keys()].flatMap((key) => followed.followOf?.(key) ?? [])] : followed.follow

/** Of some tracks of a group those of which a block was not asked for all that may be about them. */
export function uncoveredBy(
  { source: { followed } }: StateGroup,
  tracks: Iterable<TrackedState>,
  { asked, from }: Pick<HistoryBlock, 'asked' | 'from'>,
): readonly TrackedState[] {
  const lacks = (each: string) => !asked.has(each)
  if (followed.follow.some(lacks)) return [...tracks]
  if (!followed.followOf && !from) return []
  const named = from && new Set(from)
  const isNamed = (key: string) => !named || followed.emitters?.([key]).every((each) => named.has(each))
  return [...tracks].filter(({ key }) => (followed.followOf?.(key) ?? []).some(lacks) || !isNamed(key))
}

const untold = Symbol('untold')

const createTrackedState = (key: string, about: unknown): TrackedState => ({
  key,
  about,
  more: [],
  history: new StateHistory(),
  watchers: new Set(),
  again: createBackoff(),
  usedAt: performance.now(),
  told: untold,
})

/** Why there is no state for now; undefined where it is being loaded, or may be again. */
export const failureOf = ({ error, loading, again }: TrackedState): unknown => (loading || again.due() ? undefined : error)

/** What waits for a track that is being loaded. */
export function startLoading(track: TrackedState): { done: Promise<void>; isNew: boolean } {
  if (track.loading) return { done: track.loading.done, isNew: false }
  let settle = (_error?: unknown) => {}
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error))
  })
  // Perhaps nobody waits for it.
  done.catch(() => {})
  track.loading = {
    done,
    settle(error) {
      delete track.loading
      settle(error)
    },
  }
  return { done, isNew: true }
}

export interface GroupedState {
  readonly group: StateGroup
  readonly track: TrackedState
}

/** What is followed on one network, and no more of it than there is room for. */
export interface TrackedStates {
  /** Made where it is not there yet. @throws SluiceError OVERLOADED where all that is kept is watched */
  of(source: StateSource, key: string, about?: unknown): GroupedState
  find(source: StateSource, key: string): TrackedState | undefined
  /** One after the other: they may be let go meanwhile. */
  all(): Iterable<GroupedState>
  groups(): readonly StateGroup[]
  letGo(each: GroupedState): void
  readonly size: number
}

/** So much of what there is room for is made free at once: whoever asks for ever new things does not have all sorted for each. */
const madeFree = 1 / 32

/** @param gone told of each that was let go */
export function createTrackedStates(network: string, maxKeys: number, gone: () => void): TrackedStates {
  const groups = new Map<object, StateGroup>()
  let size = 0

  function* all(): Generator<GroupedState> {
    for (const group of groups.values()) for (const track of group.tracks.values()) yield { group, track }
  }

  function makeRoom(): void {
    const oldest = [...all()]
      .filter(({ track }) => track.watchers.size === 0)
      .toSorted((a, b) => a.track.usedAt - b.track.usedAt)
      .slice(0, Math.ceil(maxKeys * madeFree))
    if (oldest.length === 0)
      throw new SluiceError('OVERLOADED', `${maxKeys} states of ${network} are followed, which is the most.`, { retryAfterSeconds: 5 })
    for (const each of oldest) letGo(each)
  }

  function letGo({ group, track }: GroupedState): void {
    size -= 1
    group.tracks.delete(track.key)
    group.wanted.delete(track)
    track.loading?.settle(new SluiceError('NETWORK', `${track.key} is not followed any more. Try again.`, { retryAfterSeconds: 1 }))
    if (group.tracks.size === 0) groups.delete(group.source.followed)
    gone()
  }

  return {
    of(source, key, about) {
      const known = groups.get(source.followed)?.tracks.get(key)
      const there = known && groups.get(source.followed)
      if (known && there) return { group: there, track: known }
      if (size >= maxKeys) makeRoom()
      const group = groups.get(source.followed) ?? createStateGroup(source)
      groups.set(source.followed, group)
      const track = createTrackedState(key, about)
      group.tracks.set(key, track)
      size += 1
      return { group, track }
    },
    find: (source, key) => groups.get(source.followed)?.tracks.get(key),
    all,
    groups: () => [...groups.values()],
    letGo,
    get size() {
      return size
    },
  }
}

/** A state, and the block that brought it about. */
interface Version {
  readonly from: bigint
  readonly state: unknown
  before: Version | undefined
  after: Version | undefined
}

/**
 * The states of one key, each from the block on that brought it about. They are never changed, so that to go back is to drop. Linked to each
 * other: thousands of keys get a new state with a block, and what a link takes lies beside the state, where an array would be far off.
 */
class StateHistory {
  #newest: Version | undefined
  #oldest: Version | undefined

  /** Undefined where there is none. */
  newest(): unknown {
    return this.#newest?.state
  }

  /** As it was after a block; undefined where that is not known any more, or not yet. */
  at(number: bigint): unknown {
    let version = this.#newest
    while (version && version.from > number) version = version.before
    return version?.state
  }

  put(from: bigint, state: unknown): void {
    const newest = this.#newest
    const before = newest?.from === from ? newest.before : newest
    const version: Version = { from, state, before, after: undefined }
    if (before) before.after = version
    else this.#oldest = version
    this.#newest = version
  }

  /** Forgets what came after a block. */
  rollBack(number: bigint): void {
    while (this.#newest && this.#newest.from > number) this.#newest = this.#newest.before
    if (this.#newest) this.#newest.after = undefined
    else this.#oldest = undefined
  }

  /** Forgets what nobody goes back to behind a block. */
  prune(oldest: bigint): void {
    for (let next = this.#oldest?.after; next && next.from <= oldest; next = next.after) {
      next.before = undefined
      this.#oldest = next
    }
  }

  clear(): void {
    this.#newest = undefined
    this.#oldest = undefined
  }
}

/** Moves states on by what happened in a block. Gives those of which that does not tell all: they are to be loaded anew. */
export function applyBlock(
  group: StateGroup,
  block: HeadChanges,
  witness: Telemetry,
  only?: ReadonlySet<TrackedState>,
): readonly TrackedState[] {
  const { followed, place } = group.source
  const { number } = block.head
  const lost: TrackedState[] = []
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
function applied(group: StateGroup, key: string, state: unknown, change: Change, { head }: HeadChanges, witness: Telemetry): unknown {
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
