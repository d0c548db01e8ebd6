import { isDeepStrictEqual } from 'node:util'
import { abortable } from '../async.ts'
import type { At, Head, Wanting } from '../contracts/index.ts'
import type { StateLoader } from './loading.ts'
import { failureOf, type StateSource, type TrackedState } from './tracked-states.ts'

/** One state of a bundle. */
export interface BundlePart {
  readonly source: StateSource
  readonly key: string
  readonly about?: unknown
}

/** States after one block, in the order of the parts. `states` stays the same array until one of them changes. */
export interface StateSnapshot {
  readonly states: readonly unknown[]
  readonly head: Head
}

/** States of one network that are read together, again and again. */
export interface Bundle {
  /** Reads without waiting: the same object until something may have changed. Undefined if `read` would have to wait. */
  peek(): StateSnapshot | undefined
  /** @throws SluiceError NETWORK if the network is away or too far ahead */
  read(at: At): Promise<StateSnapshot>
  /** Keeps the states in memory until the returned function is called. @throws SluiceError OVERLOADED if there is no room */
  hold(): () => void
  /** Loads some states again, with what a reader found missing in them. */
  loadMissing(missing: readonly Wanting[], at: At): Promise<void>
}

/** What a bundle uses of the synchroniser of its network. */
interface BundleHost {
  /** Increases whenever a state may have changed. */
  readonly version: number
  readonly tip: Head | undefined
  isCurrent(): boolean
  requireCurrent(at: At): Promise<void>
  stateOf(part: BundlePart): TrackedState
  load: StateLoader
}

/** States that are read without a change are marked as used so often. */
const touchMs = 5_000
/** What readers found missing in one state; the oldest is given up beyond it. */
const maxMissing = 16

export function createBundle(parts: readonly BundlePart[], host: BundleHost): Bundle {
  let snapshot: StateSnapshot | undefined
  let version = -1
  let touchedAt = -Infinity

  function touch(): void {
    touchedAt = performance.now()
    for (const part of parts) host.stateOf(part).usedAt = touchedAt
  }

  function peek(): StateSnapshot | undefined {
    const { tip } = host
    if (!tip || !host.isCurrent()) return undefined
    if (performance.now() - touchedAt > touchMs) touch()
    if (version === host.version && snapshot) return snapshot
    const states: unknown[] = []
    for (const part of parts) {
      const state = host.stateOf(part).history.newest()
      if (state === undefined) return undefined
      states.push(state)
    }
    const isSame = snapshot?.states.every((state, index) => state === states[index])
    snapshot = { states: isSame && snapshot ? snapshot.states : states, head: tip }
    version = host.version
    return snapshot
  }

  return {
    peek,
    async read(at) {
      // A network without tracked states is not followed.
      touch()
      for (;;) {
        await host.requireCurrent(at)
        const now = peek()
        if (now) return now
        const loading: Promise<void>[] = []
        for (const part of parts) {
          const state = host.stateOf(part)
          if (state.history.newest() !== undefined) continue
          const failure = failureOf(state)
          if (failure !== undefined) throw failure
          loading.push(host.load(state))
        }
        await abortable(Promise.all(loading), at.signal)
      }
    },
    hold() {
      // States with listeners are not dropped.
      const listener = () => {}
      const states = parts.map(host.stateOf)
      for (const { listeners } of states) listeners.add(listener)
      return () => {
        for (const { listeners } of states) listeners.delete(listener)
        touch()
      }
    },
    async loadMissing(missing, at) {
      const loading = missing.map(async ({ index, more }) => {
        const part = parts[index]
        if (!part) throw new Error(`The bundle has no part ${index}.`)
        const state = host.stateOf(part)
        const includesMore = (list: readonly unknown[]) => list.some((each) => isDeepStrictEqual(each, more))
        if (!includesMore(state.more)) state.more.push(more)
        if (state.more.length > maxMissing) state.more.shift()
        // A load that began without it does not bring it.
        while (state.loading?.asked && !includesMore(state.loading.asked)) await state.loading.done.catch(() => {})
        return host.load(state)
      })
      await abortable(Promise.all(loading), at.signal)
    },
  }
}
