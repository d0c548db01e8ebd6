import { abortable } from '../base/async.ts'
import type { At, Chain, Head } from '../contracts/index.ts'
import type { SluiceError } from '../base/errors.ts'
import { payerOf } from '../base/fair-turns.ts'
import { createChainClock, type ChainClock } from './chain-clock.ts'
import { createBlockHistory, createFreshness, createHeadFollower, isSameHead, type BlockPath } from './blocks.ts'
import {
  createBundle,
  type Bundle,
  type BundlePart,
  applyBlock,
  createTrackedStates,
  failureOf,
  readWithBlock,
  interestIn,
  uncoveredBy,
  type StateAtBlock,
  type StateListener,
  type StateSource,
  type TrackedState,
} from './tracked-states.ts'
import { compareStates, createStateLoader, isNetworkFailure } from './loading.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'

/** A network, and its chain as it runs. */
export interface FollowedNetwork {
  readonly chain: string
  readonly network: string
  readonly chainImpl: Pick<Chain, 'head' | 'heads' | 'changes' | 'images' | 'local'>
}

/** The synchronisers of all networks. */
export interface Synchronisers {
  /** Creates it if there is none yet. */
  of(network: FollowedNetwork): Synchroniser
  /** A caller was told about a block of the network. */
  expectBlock(network: Pick<FollowedNetwork, 'chain' | 'network'>, number: bigint): void
  /** How old a block of the network is, also while nothing is followed there. */
  ageSeconds(network: Pick<FollowedNetwork, 'chain' | 'network'>, head: Pick<Head, 'timestamp'>): number
  all(): readonly { readonly chain: string; readonly network: string; readonly synchroniser: Synchroniser }[]
  stop(): void
}

export function createSynchronisers(options: Omit<SynchroniserOptions, 'chain' | 'subject' | 'clock'>): Synchronisers {
  const known = new Map<string, { chain: string; network: string; synchroniser: Synchroniser }>()
  const clocks = new Map<string, ChainClock>()
  function clockOf(name: string): ChainClock {
    const clock = clocks.get(name) ?? createChainClock()
    clocks.set(name, clock)
    return clock
  }
  return {
    of({ chain, network, chainImpl }) {
      const name = `${chain}/${network}`
      const existing = known.get(name)
      if (existing) return existing.synchroniser
      const synchroniser = createSynchroniser({ ...options, chain: chainImpl, subject: { chain, network }, clock: clockOf(name) })
      known.set(name, { chain, network, synchroniser })
      return synchroniser
    },
    expectBlock: ({ chain, network }, number) => known.get(`${chain}/${network}`)?.synchroniser.expectBlock(number),
    ageSeconds: ({ chain, network }, head) => clockOf(`${chain}/${network}`).ageSeconds(head),
    all: () => [...known.values()],
    stop() {
      for (const { synchroniser } of known.values()) synchroniser.stop()
    },
  }
}

/**
 * Keeps the states of one network in memory and moves them from block to block: one query of each block's changes serves all of them. While
 * nothing is followed the network is asked nothing.
 */
export interface Synchroniser {
  /** Reads from memory; the first read loads the state. @throws SluiceError NETWORK if the network is away or too far ahead */
  read(source: StateSource, key: string, at: At): Promise<StateAtBlock>
  /** The same at once; undefined where it has to be waited for. */
  readNow(source: StateSource, key: string): StateAtBlock | undefined
  /** Calls back with every new state, and with `undefined` while none may be shown, until the returned function is called. */
  watch(source: StateSource, key: string, listener: StateListener): () => void
  /** Calls back whenever any state may have changed or may no longer be shown, until the returned function is called. */
  onChange(listener: () => void): () => void
  /** Several states after the same block. */
  bundle(parts: readonly BundlePart[]): Bundle
  /** A caller was told about this block: later reads are not older, if the network can show it within a moment. */
  expectBlock(number: bigint): void
  /** The state in memory cannot be right: it is loaded again. */
  invalidate(source: StateSource, key: string, why: SluiceError): void
  /** Changes cannot be read, and the states are too old to be shown: until that ends, exchanges have to be asked directly. */
  readonly isCutOff: boolean
  /** Increases whenever a state may have changed; undefined while states cannot be read at once. */
  version(): number | undefined
  /** How many states are kept. */
  readonly size: number
  readonly tip: Head | undefined
  stop(): void
}

export interface SynchroniserOptions {
  chain: Pick<Chain, 'head' | 'heads' | 'changes' | 'images' | 'local'>
  subject: StateSubject
  telemetry: Telemetry
  /** States further behind the network than this many blocks are not shown. */
  staleBlocks: number
  /** States of a block older than this are not shown either, except on local networks, which make blocks on demand. */
  staleBlockSeconds: number
  clock?: ChainClock
  /** How often some of the states are compared with the chain. */
  checkSeconds: number
  /** Within this time, each state is compared; a little less than two minutes where it is absent. */
  compareWithinSeconds?: number
  /** States that nobody used for so long are dropped. */
  idleSeconds: number
  maxKeys: number
}

const intervalMs = 1_000

export function createSynchroniser(options: SynchroniserOptions): Synchroniser {
  const { chain, subject, telemetry, staleBlocks, staleBlockSeconds, checkSeconds, idleSeconds, maxKeys } = options
  const { clock = createChainClock(), compareWithinSeconds = 110 } = options
  const name = `${subject.chain}/${subject.network}`
  /** Increases whenever a state may have changed. */
  let version = 0
  let run: AbortController | undefined
  let checkAt = 0
  const states = createTrackedStates(name, maxKeys, () => (version += 1), chain.images)
  const history = createBlockHistory(chain.images)
  const follower = createHeadFollower({ chain, subject, telemetry, history, clock, interest: () => interestIn(states.groups()), advance })
  const freshness = createFreshness({
    network: name,
    follower,
    history,
    staleBlocks,
    staleBlockSeconds: chain.local ? undefined : staleBlockSeconds,
    clock,
  })
  const parts = { name, subject, telemetry, states, history }
  const told = createStateTeller({ ...parts, freshness })
  const load = createStateLoader({
    history,
    telemetry,
    running: () => run?.signal,
    onLoad() {
      version += 1
      if (run) told.notify()
    },
  })

  function advance(to: Head, path: BlockPath | undefined, asked: ReadonlySet<string>): void {
    version += 1
    if (path) moveAlong(path, asked, parts)
    else restart(to, parts)
    told.notify()
    // A network that delivers a block may deliver states again. What a connector cannot read is not tried with every block.
    for (const each of states.all())
      if (each.history.newest() === undefined && (each.error === undefined || isNetworkFailure(each.error))) void load(each)
    for (const group of states.groups()) for (const each of readWithBlock(group, to, telemetry)) void load(each)
  }

  function start(): void {
    if (run) return
    run = new AbortController()
    checkAt = performance.now() + checkSeconds * 1000
    const { signal } = run
    follower.run(signal)
    const interval = setInterval(onInterval, intervalMs)
    interval.unref()
    signal.addEventListener('abort', () => clearInterval(interval), { once: true })
  }

  function onInterval(): void {
    const now = performance.now()
    keepUsed(parts, now - idleSeconds * 1000, load)
    if (states.size === 0) return end()
    if (freshness.isFresh()) told.showOrHide()
    else void follower.confirm().then(told.showOrHide, told.showOrHide)
    if (now < checkAt) return
    checkAt = now + checkSeconds * 1000
    const options = { everySeconds: checkSeconds, withinSeconds: compareWithinSeconds, discard: reload }
    for (const group of states.groups()) if (run) void compareStates(group, history, telemetry, run.signal, options)
  }

  function reload(state: TrackedState): void {
    state.history.clear()
    version += 1
    void load(state)
  }

  function end(): void {
    run?.abort()
    run = undefined
    told.reset()
    history.restart(undefined)
  }

  /** Waits until states may be read at once. */
  async function requireCurrent(at: At): Promise<void> {
    start()
    if (!freshness.isCurrent()) await freshness.require(at)
  }

  return {
    async read(source, key, at) {
      const tracked = states.of(source, key)
      tracked.usedAt = performance.now()
      await requireCurrent(at)
      return readLoaded(tracked, history, load, at)
    },
    readNow: (source, key) => (run && freshness.isCurrent() ? readKnown(states.find(source, key), history) : undefined),
    watch(source, key, listener) {
      start()
      const tracked = states.of(source, key)
      const isLoaded = tracked.history.newest() !== undefined
      const stop = told.add(tracked, listener)
      if (!isLoaded)
        void (history.tip ? Promise.resolve() : follower.confirm())
          .then(() => load(tracked))
          .catch((error: unknown) => {
            tracked.error ??= error
            told.notify()
          })
      return stop
    },
    onChange: told.onChange,
    bundle: (parts) =>
      createBundle(parts, {
        get version() {
          return version
        },
        get tip() {
          return history.tip
        },
        images: history.images,
        telemetry,
        isCurrent: freshness.isCurrent,
        requireCurrent,
        stateOf: ({ source, key, about }) => states.of(source, key, about),
        load,
      }),
    expectBlock: freshness.expectBlock,
    invalidate(source, key, why) {
      const tracked = states.find(source, key)
      if (!tracked) return
      tracked.history.clear()
      version += 1
      tracked.retry.failed()
      tracked.error = why
    },
    get isCutOff() {
      return freshness.isCutOff()
    },
    version: () => (history.tip && freshness.isCurrent() ? version : undefined),
    get size() {
      return states.size
    },
    get tip() {
      return history.tip
    },
    stop() {
      for (const each of states.all()) states.drop(each)
      end()
    },
  }
}

type LoadState = ReturnType<typeof createStateLoader>

type BlockHistory = ReturnType<typeof createBlockHistory>

function loadedOf({ history: versions }: TrackedState, { tip }: BlockHistory): StateAtBlock | undefined {
  const state = versions.newest()
  return state !== undefined && tip ? { state, head: tip } : undefined
}

function readKnown(tracked: TrackedState | undefined, history: BlockHistory): StateAtBlock | undefined {
  if (tracked) tracked.usedAt = performance.now()
  return tracked && loadedOf(tracked, history)
}

/** The newest state of a key, once it is loaded. @throws why it cannot be */
async function readLoaded(tracked: TrackedState, history: BlockHistory, load: LoadState, at: At): Promise<StateAtBlock> {
  for (;;) {
    const loaded = loadedOf(tracked, history)
    if (loaded) return loaded
    const failure = failureOf(tracked)
    if (failure !== undefined) throw failure
    // What is in memory is waited for by nobody: a signal costs more than to read it.
    const { signal } = at
    await abortable(load(tracked, payerOf(signal)), signal)
  }
}

/** Drops states that nobody has used since, and loads those that somebody waits for. */
function keepUsed({ states, history }: StateParts, since: number, load: LoadState): void {
  for (const each of states.all()) {
    each.history.prune(history.oldest?.number ?? 0n)
    if (each.listeners.size === 0 && each.usedAt < since) states.drop(each)
    else if (each.history.newest() === undefined && !each.loading && each.listeners.size > 0 && each.retry.due()) void load(each)
  }
}

interface StateParts {
  readonly name: string
  readonly subject: StateSubject
  readonly telemetry: Telemetry
  readonly states: ReturnType<typeof createTrackedStates>
  readonly history: ReturnType<typeof createBlockHistory>
}

/** Moves all states along a path of blocks. @param asked what their changes were asked for */
function moveAlong(
  { back, blocks }: BlockPath,
  asked: ReadonlySet<string>,
  { name, subject, telemetry, states, history }: StateParts,
): void {
  if (!isSameHead(back, history.tip)) {
    telemetry.trouble(subject, 'reorganisation', `${name} replaced the blocks after ${back.number}`)
    history.rollBack(back)
    for (const each of states.all()) each.history.rollBack(back.number)
  }
  for (const each of blocks) {
    const block = { ...each, asked }
    history.push(block)
    for (const group of states.groups()) {
      // States that were loaded after the block was asked for may have missed something.
      for (const uncovered of uncoveredBy(block, group, group.states.values())) uncovered.history.clear()
      applyBlock(group, block, telemetry)
    }
  }
}

/** Forgets all states: they are loaded again. */
function restart(head: Head, { name, subject, telemetry, states, history }: StateParts): void {
  if (history.tip)
    telemetry.trouble(subject, 'reload', `too many blocks of ${name} were missed before ${head.number}; all states are loaded again`)
  history.restart(head)
  for (const each of states.all()) each.history.clear()
}

interface TellerParts extends StateParts {
  readonly freshness: ReturnType<typeof createFreshness>
}

/** Tells listeners of new states, and of those that are too old to be shown. */
function createStateTeller({ name, subject, telemetry, states, history, freshness }: TellerParts) {
  const changeListeners = new Set<() => void>()
  /** Whether states are fresh enough to be shown to listeners. */
  let isShown = true

  function notify(): void {
    for (const listener of changeListeners) listener()
    const { tip } = history
    for (const each of states.all()) {
      if (each.listeners.size === 0) continue
      const state = isShown ? each.history.newest() : undefined
      if (state === each.lastTold || (state === undefined && isShown && each.error === undefined)) continue
      each.lastTold = state
      for (const listener of each.listeners) listener(state === undefined || !tip ? undefined : { state, head: tip })
    }
  }

  return {
    notify,
    /** Hides states that became too old, and shows them again. */
    showOrHide(): void {
      if (isShown === freshness.isFresh()) return
      isShown = !isShown
      if (!isShown) telemetry.trouble(subject, 'lost', `what is known of ${name} is too old to be shown: ${freshness.reason}`)
      notify()
    },
    /** Tells the listener of the state as it is, and of each one after it. */
    add(tracked: TrackedState, listener: StateListener): () => void {
      const state = tracked.history.newest()
      if (state !== undefined && history.tip && isShown) {
        tracked.lastTold = state
        listener({ state, head: history.tip })
      } else if (!isShown || tracked.lastTold === undefined) {
        tracked.lastTold = undefined
        listener(undefined)
      }
      tracked.listeners.add(listener)
      return () => {
        tracked.listeners.delete(listener)
        tracked.usedAt = performance.now()
      }
    },
    onChange(listener: () => void): () => void {
      changeListeners.add(listener)
      return () => void changeListeners.delete(listener)
    },
    reset(): void {
      isShown = true
    },
  }
}
