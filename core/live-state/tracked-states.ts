import { isDeepStrictEqual } from 'node:util'
import type { Followed, Head, Interest } from '../contracts/index.ts'
import { createBackoff, type Backoff } from '../market/backoff.ts'
import type { Place } from './telemetry.ts'
import { History } from '../market/following/history.ts'
import type { TrailBlock } from '../market/following/trail.ts'

/** What is followed of one exchange on its network. The same object for the same exchange. */
export interface Source {
  readonly place: Place
  readonly followed: Followed
  /** Whether what is in memory is what was loaded of the same block. */
  same(key: string, inMemory: unknown, loaded: unknown): boolean
}

export const sourceOf = (place: Place, followed: Followed): Source => ({
  place,
  followed,
  same: (_key, inMemory, loaded) =>
    loaded !== undefined && (followed.same ? followed.same(inMemory, loaded) : isDeepStrictEqual(inMemory, loaded)),
})

/** A state, and the block that it is after. */
export interface Seen {
  readonly state: unknown
  readonly head: Head
}

export type Changed = (seen: Seen | undefined) => void

/** One key that is followed. */
export interface Track {
  readonly key: string
  /** What it was first asked for with. */
  readonly about: unknown
  /** What its readers found wanting, the newest last. */
  readonly more: unknown[]
  readonly history: History
  readonly watchers: Set<Changed>
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
export interface Group {
  readonly source: Source
  readonly tracks: Map<string, Track>
  readonly wanted: Set<Track>
  /** Whether what is wanted is about to be loaded. */
  due: boolean
}

export const createGroup = (source: Source): Group => ({ source, tracks: new Map(), wanted: new Set(), due: false })

/** What is asked of every block for all that is followed. */
export function interestIn(groups: readonly Group[]): Interest {
  return {
    follow: groups.flatMap(followOf),
    from() {
      const emitters = groups.map(({ source: { followed }, tracks }) => followed.emitters?.([...tracks.keys()]))
      return emitters.every((each) => each !== undefined) ? emitters.flat() : undefined
    },
  }
}

const followOf = ({ source: { followed }, tracks }: Group): readonly string[] =>
  followed.followOf ? [...followed.follow, ...[...tracks.keys()].flatMap((key) => followed.followOf?.(key) ?? [])] : followed.follow

/** Of some tracks of a group those of which a block was not asked for all that may be about them. */
export function unasked(
  { source: { followed } }: Group,
  tracks: Iterable<Track>,
  { asked, from }: Pick<TrailBlock, 'asked' | 'from'>,
): readonly Track[] {
  const lacks = (each: string) => !asked.has(each)
  if (followed.follow.some(lacks)) return [...tracks]
  if (!followed.followOf && !from) return []
  const named = from && new Set(from)
  const isNamed = (key: string) => !named || followed.emitters?.([key]).every((each) => named.has(each))
  return [...tracks].filter(({ key }) => (followed.followOf?.(key) ?? []).some(lacks) || !isNamed(key))
}

const untold = Symbol('untold')

export const createTrack = (key: string, about: unknown): Track => ({
  key,
  about,
  more: [],
  history: new History(),
  watchers: new Set(),
  again: createBackoff(),
  usedAt: performance.now(),
  told: untold,
})

/** Why there is no state for now; undefined where it is being loaded, or may be again. */
export const failureOf = ({ error, loading, again }: Track): unknown => (loading || again.due() ? undefined : error)

/** What waits for a track that is being loaded. */
export function loadingOf(track: Track): { done: Promise<void>; isNew: boolean } {
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
