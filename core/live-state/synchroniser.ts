import type { SluiceError } from '../api/index.ts'
import { abortable } from '../async.ts'
import type { At, Chain, Head } from '../contracts/index.ts'
import { type BlockPath, createFreshness, createHeadFollower, createBlockHistory, type Freshness, type BlockHistory } from './blocks.ts'
import { createBundle, type Bundle, type BundlePart } from './bundle.ts'
import { checkSample, isNetworkFailure, createStateLoader } from './loading.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'
import {
  applyBlock,
  createTrackedStates,
  failureOf,
  interestIn,
  uncoveredBy,
  type StateListener,
  type StateGroup,
  type StateAtBlock,
  type StateSource,
  type TrackedState,
  type TrackedStates,
} from './tracked-states.ts'

/**
 * What is followed on one network, moved from block to block: one query of what happened for all of it. Nothing is asked while nothing is
 * followed.
 */
export interface Synchroniser {
  /** From memory, loaded when it is asked for first. @throws SluiceError NETWORK where the network is away or too far behind */
  read(source: StateSource, key: string, at: At): Promise<StateAtBlock>
  /** Calls back with every new state, and with `undefined` while there is none that may be shown. Until the function given is called. */
  watch(source: StateSource, key: string, changed: StateListener): () => void
  /** Told whenever anything may have changed, or must not be shown any more. Until the function given is called. */
  onChange(moved: () => void): () => void
  /** Several states together, after the same block. */
  bundle(parts: readonly BundlePart[]): Bundle
  /** Somebody was told of a block: what is read from now on is not older, where the network can show it within a moment. */
  expectBlock(number: bigint): void
  /** What is in memory cannot be right: it is read anew. */
  invalidate(source: StateSource, key: string, why: SluiceError): void
  /** What happens cannot be read, and what is in memory is too old to be shown: until it can be, exchanges are to be asked themselves. */
  readonly isCutOff: boolean
  readonly kept: number
  readonly tip: Head | undefined
  stop(): void
}

export interface SynchroniserOptions {
  chain: Pick<Chain, 'head' | 'heads' | 'changes' | 'local'>
  place: StateSubject
  witness: Telemetry
  /** A state this many blocks behind what the network has is not shown. */
  staleBlocks: number
  /** Nor one of a block that is older than that by this machine's clock, but on local networks, whose blocks come on demand. */
  staleBlockSeconds: number
  checkSeconds: number
  idleSeconds: number
  maxKeys: number
}

const pulseMs = 1_000

export function createSynchroniser(options: SynchroniserOptions): Synchroniser {
  const { chain, place, witness, staleBlocks, staleBlockSeconds, checkSeconds, idleSeconds, maxKeys } = options
  const name = `${place.chain}/${place.network}`
  /** Another one whenever anything may have changed of what is in memory. */
  let version = 0
  let run: AbortController | undefined
  let checkAt = 0
  const tracks = createTrackedStates(name, maxKeys, () => (version += 1))
  const trail = createBlockHistory()
  const interest = () => interestIn(tracks.groups())
  const chaser = createHeadFollower({ chain, place, witness, trail, interest, advance: go })
  const freshness = createFreshness({
    network: name,
    chaser,
    trail,
    staleBlocks,
    staleBlockSeconds: chain.local ? undefined : staleBlockSeconds,
  })
  const watchers = createWatchers(tracks, trail, freshness, () =>
    witness.trouble(place, 'lost', `what is known of ${name} is too old to be shown: ${freshness.reason}`),
  )
  const want = createStateLoader({
    trail,
    witness,
    running: () => run?.signal,
    loaded() {
      version += 1
      if (run) watchers.tell()
    },
  })

  // From one head to the next.

  function go(to: Head, way: BlockPath | undefined, asked: ReadonlySet<string>): void {
    version += 1
    if (way) move(way, asked)
    else restart(to)
    watchers.tell()
    // A network that gives a block may give states again; what a connector cannot read is not tried at every block.
    for (const group of tracks.groups())
      for (const track of group.tracks.values())
        if (track.history.newest() === undefined && (track.error === undefined || isNetworkFailure(track.error))) void want(group, track)
  }

  function move({ back, blocks }: BlockPath, asked: ReadonlySet<string>): void {
    if (trail.tip?.hash !== back.hash) {
      witness.trouble(place, 'reorganisation', `${name} took back the blocks after ${back.number}`)
      trail.rollBack(back.hash)
      for (const { track } of tracks.all()) track.history.rollBack(back.number)
    }
    for (const each of blocks) {
      const block = { ...each, asked }
      trail.push(block)
      for (const group of tracks.groups()) {
        // Loaded while this was being asked: it may have missed something.
        for (const track of uncoveredBy(group, group.tracks.values(), block)) track.history.clear()
        applyBlock(group, block, witness)
      }
    }
  }

  function restart(head: Head): void {
    if (trail.tip)
      witness.trouble(place, 'reload', `too much of ${name} was missed before block ${head.number}; all that is followed is read anew`)
    trail.restart(head)
    for (const { track } of tracks.all()) track.history.clear()
  }

  // Time.

  function start(): void {
    if (run) return
    run = new AbortController()
    checkAt = performance.now() + checkSeconds * 1000
    const { signal } = run
    chaser.run(signal)
    const pulse = setInterval(beat, pulseMs)
    pulse.unref()
    signal.addEventListener('abort', () => clearInterval(pulse), { once: true })
  }

  function beat(): void {
    const now = performance.now()
    for (const each of tracks.all()) {
      const { group, track } = each
      track.history.prune(trail.oldest?.number ?? 0n)
      if (track.watchers.size === 0 && now - track.usedAt > idleSeconds * 1000) tracks.letGo(each)
      else if (track.history.newest() === undefined && !track.loading && track.watchers.size > 0 && track.again.due())
        void want(group, track)
    }
    if (tracks.size === 0) return end()
    if (freshness.isFresh()) watchers.look()
    else
      void chaser
        .confirm()
        .catch(() => {})
        .finally(watchers.look)
    if (now < checkAt) return
    checkAt = now + checkSeconds * 1000
    for (const group of tracks.groups()) if (run) void checkSample(group, trail, witness, run.signal, (track) => again(group, track))
  }

  function again(group: StateGroup, track: TrackedState): void {
    track.history.clear()
    version += 1
    void want(group, track)
  }

  function end(): void {
    run?.abort()
    run = undefined
    watchers.reset()
    trail.restart(undefined)
  }

  /** Once it may be read at once. */
  async function requireCurrent(at: At): Promise<void> {
    start()
    if (!freshness.isCurrent()) await freshness.require(at)
  }

  return {
    async read(source, key, at) {
      const { group, track } = tracks.of(source, key)
      track.usedAt = performance.now()
      await requireCurrent(at)
      for (;;) {
        const state = track.history.newest()
        if (state !== undefined && trail.tip) return { state, head: trail.tip }
        const failure = failureOf(track)
        if (failure !== undefined) throw failure
        await abortable(want(group, track), at.signal)
      }
    },
    watch(source, key, changed) {
      start()
      const { group, track } = tracks.of(source, key)
      watchers.add(track, changed)
      if (track.history.newest() === undefined)
        void (trail.tip ? Promise.resolve() : chaser.confirm())
          .then(() => want(group, track))
          .catch((error: unknown) => {
            track.error ??= error
            watchers.tell()
          })
      return () => {
        track.watchers.delete(changed)
        track.usedAt = performance.now()
      }
    },
    onChange: watchers.onChange,
    bundle: (parts) =>
      createBundle(parts, {
        get version() {
          return version
        },
        get tip() {
          return trail.tip
        },
        isCurrent: freshness.isCurrent,
        requireCurrent,
        trackOf: ({ source, key, about }) => tracks.of(source, key, about),
        want,
      }),
    expectBlock: freshness.expectBlock,
    invalidate(source, key, why) {
      const track = tracks.find(source, key)
      if (!track) return
      track.history.clear()
      version += 1
      track.again.failed()
      track.error = why
    },
    get isCutOff() {
      return freshness.isCutOff()
    },
    get kept() {
      return tracks.size
    },
    get tip() {
      return trail.tip
    },
    stop() {
      for (const each of tracks.all()) tracks.letGo(each)
      end()
    },
  }
}

/** Who is told of what is followed on one network. */
interface Watchers {
  /** Told with every new state of a key, and with `undefined` while there is none that may be shown; first with what there is. */
  add(track: TrackedState, changed: StateListener): void
  /** Told whenever anything may have changed, or must not be shown any more. Until the function given is called. */
  onChange(moved: () => void): () => void
  /** Each what is new to it. */
  tell(): void
  /** Has it told where states may not be shown any more, or may be again. */
  look(): void
  /** Nothing is followed any more: whoever comes next may be shown what there is. */
  reset(): void
}

function createWatchers(tracks: TrackedStates, trail: BlockHistory, freshness: Freshness, hidden: () => void): Watchers {
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
    onChange(moved) {
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

/** Where something is followed: a network, and its chain as it runs. */
export interface FollowedNetwork {
  readonly chain: string
  readonly network: string
  readonly chainImpl: Chain
}

/** All networks of which something is followed. */
export interface Following {
  /** The one of a network, for all that is followed there. */
  of(site: FollowedNetwork): Synchroniser
  /** Somebody was told of a block of a network. */
  expectBlock(network: Pick<FollowedNetwork, 'chain' | 'network'>, number: bigint): void
  all(): readonly { readonly chain: string; readonly network: string; readonly synchroniser: Synchroniser }[]
  stop(): void
}

export function createFollowing(
  options: { witness: Telemetry } & Pick<
    SynchroniserOptions,
    'staleBlocks' | 'staleBlockSeconds' | 'checkSeconds' | 'idleSeconds' | 'maxKeys'
  >,
): Following {
  const known = new Map<string, { chain: string; network: string; synchroniser: Synchroniser }>()
  return {
    of({ chain, network, chainImpl }) {
      const name = `${chain}/${network}`
      const there = known.get(name)
      if (there) return there.synchroniser
      const synchroniser = createSynchroniser({ ...options, chain: chainImpl, place: { chain, network } })
      known.set(name, { chain, network, synchroniser })
      return synchroniser
    },
    expectBlock: ({ chain, network }, number) => known.get(`${chain}/${network}`)?.synchroniser.expectBlock(number),
    all: () => [...known.values()],
    stop() {
      for (const { synchroniser } of known.values()) synchroniser.stop()
    },
  }
}
