import { isDeepStrictEqual } from 'node:util'
import type { At, Head, Wanting } from '../contracts/index.ts'
import { abortable } from '../async.ts'
import { type GroupedState, failureOf, type StateGroup, type StateSource, type TrackedState } from './tracked-states.ts'

export interface BundlePart {
  readonly source: StateSource
  readonly key: string
  readonly about?: unknown
}

/** States after one block, in the order of the parts: the same array as long as none of them has changed. */
export interface StateSnapshot {
  readonly states: readonly unknown[]
  readonly head: Head
}

/** States of one network that are read together, again and again. */
export interface Bundle {
  /** At once, and the same object until something may have changed; undefined where it must be waited for. */
  peek(): StateSnapshot | undefined
  /** @throws SluiceError NETWORK where the network is away or too far behind */
  read(at: At): Promise<StateSnapshot>
  /** Keeps them in memory until the function given is called. @throws SluiceError OVERLOADED where there is no room */
  hold(): () => void
  /** Loads some of them with more of what there is to know. */
  loadMissing(wanting: readonly Wanting[], at: At): Promise<void>
}

/** What a bundle needs of whoever follows its states. */
interface BundleHost {
  readonly version: number
  readonly tip: Head | undefined
  /** Whether what is in memory may be read at once. */
  isCurrent(): boolean
  requireCurrent(at: At): Promise<void>
  trackOf(part: BundlePart): GroupedState
  want(group: StateGroup, track: TrackedState): Promise<void>
}

/** What is read without a change is said to be in use so often. */
const touchMs = 5_000
const mostWanting = 16

export function createBundle(parts: readonly BundlePart[], host: BundleHost): Bundle {
  let view: StateSnapshot | undefined
  let version = -1
  let touchedAt = -Infinity

  function touch(): void {
    touchedAt = performance.now()
    for (const part of parts) host.trackOf(part).track.usedAt = touchedAt
  }

  function peek(): StateSnapshot | undefined {
    const { tip } = host
    if (!tip || !host.isCurrent()) return undefined
    if (performance.now() - touchedAt > touchMs) touch()
    if (version === host.version && view) return view
    const states: unknown[] = []
    for (const part of parts) {
      const state = host.trackOf(part).track.history.newest()
      if (state === undefined) return undefined
      states.push(state)
    }
    const isSame = view?.states.every((state, index) => state === states[index])
    view = { states: isSame && view ? view.states : states, head: tip }
    version = host.version
    return view
  }

  return {
    peek,
    async read(at) {
      // Nothing is asked of a network of which nothing is followed.
      touch()
      for (;;) {
        await host.requireCurrent(at)
        const now = peek()
        if (now) return now
        const loading: Promise<void>[] = []
        for (const part of parts) {
          const { group, track } = host.trackOf(part)
          if (track.history.newest() !== undefined) continue
          const failure = failureOf(track)
          if (failure !== undefined) throw failure
          loading.push(host.want(group, track))
        }
        await abortable(Promise.all(loading), at.signal)
      }
    },
    hold() {
      // What somebody watches is not let go.
      const watcher = () => {}
      const tracks = parts.map((part) => host.trackOf(part).track)
      for (const { watchers } of tracks) watchers.add(watcher)
      return () => {
        for (const { watchers } of tracks) watchers.delete(watcher)
        touch()
      }
    },
    async loadMissing(wanting, at) {
      const loading = wanting.map(async ({ index, more }) => {
        const part = parts[index]
        if (!part) throw new Error(`There is no part ${index} of what was read.`)
        const { group, track } = host.trackOf(part)
        const isIn = (list: readonly unknown[]) => list.some((known) => isDeepStrictEqual(known, more))
        if (!isIn(track.more)) track.more.push(more)
        if (track.more.length > mostWanting) track.more.shift()
        // One that is under way without it brings nothing of it.
        while (track.loading?.asked && !isIn(track.loading.asked)) await track.loading.done.catch(() => {})
        return host.want(group, track)
      })
      await abortable(Promise.all(loading), at.signal)
    },
  }
}
