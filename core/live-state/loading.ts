import { abortable, isAbort, pause, withDeadline } from '../base/async.ts'
import type { Head, KnownOf } from '../contracts/index.ts'
import { reasonOf, SluiceError } from '../base/errors.ts'
import { shareOut, type Payer } from '../base/fair-turns.ts'
import type { BlockHistory } from './blocks.ts'
import type { Telemetry } from './telemetry.ts'
import { applyBlock, markAsked, nothingOfBlock, uncoveredBy, type StateGroup, type TrackedState } from './tracked-states.ts'

// Loading states from their exchange, and comparing samples of them with it.

const loadTimeoutMs = 15_000
const retryMs = 100
const maxKeysPerLoad = 250

/** Loads a state; those of one exchange that are wanted at the same time are loaded together. Settles when it is loaded, or with the reason why not. */
type StateLoader = (state: TrackedState, payer?: Payer) => Promise<void>

interface StateLoaderOptions {
  history: BlockHistory
  telemetry: Telemetry
  /** Loading stops when it is aborted; undefined while nothing is followed. */
  running(): AbortSignal | undefined
  /** Called whenever some states are loaded, or failed to load. */
  onLoad(): void
}

export function createStateLoader({ history, telemetry, running, onLoad }: StateLoaderOptions): StateLoader {
  /** Nobody who waits for a first state waits until others are read further, or fails with them. */
  async function loadWanted(group: StateGroup): Promise<void> {
    group.isLoadScheduled = false
    const signal = running()
    if (!signal) return
    await Promise.all([loadEach(group, signal, isInMemory), loadEach(group, signal, (state) => !isInMemory(state))])
    // One may have lost its state meanwhile.
    if (!signal.aborted && history.tip) schedule(group)
  }

  function schedule(group: StateGroup): void {
    if (group.wanted.size === 0 || group.isLoadScheduled) return
    group.isLoadScheduled = true
    setImmediate(() => void loadWanted(group))
  }

  async function loadEach(group: StateGroup, signal: AbortSignal, isOne: (state: TrackedState) => boolean): Promise<void> {
    for (;;) {
      // Whoever asks for thousands keeps nobody waiting who asks for one.
      const states = shareOut([...group.wanted].filter(isOne), ({ payer }) => payer, maxKeysPerLoad)
      if (signal.aborted || !history.tip || states.length === 0) return
      for (const state of states) {
        group.wanted.delete(state)
        if (state.loading) state.loading.asked = [...state.more, ...state.ofBlock.more]
      }
      await loadGroup(group, states, history, telemetry, signal)
      onLoad()
    }
  }

  return (state, payer) => {
    const { group } = state
    state.payer = payer
    const isNew = state.loading === undefined
    const { done } = (state.loading ??= startLoading(state))
    if (isNew) group.wanted.add(state)
    schedule(group)
    return done
  }
}

const isInMemory = ({ history }: TrackedState) => history.newest() !== undefined

function startLoading(state: TrackedState): NonNullable<TrackedState['loading']> {
  let settle = (_error?: unknown) => {}
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error))
  })
  // A failure that nobody waits for must not be an unhandled rejection.
  done.catch(() => {})
  return {
    done,
    settle(error) {
      delete state.loading
      settle(error)
    },
  }
}

/**
 * Loads some states of a group after the newest block, and applies the blocks that came meanwhile. If one key makes the connector fail, the
 * others are loaded without it.
 */
async function loadGroup(
  group: StateGroup,
  states: readonly TrackedState[],
  history: BlockHistory,
  telemetry: Telemetry,
  signal: AbortSignal,
  tries = 2,
): Promise<void> {
  const { chain, network, connector } = group.source.subject
  const after = history.tip
  if (!after) return
  const ofBlock = new Map(states.map((each) => [each, each.ofBlock]))
  try {
    const inMemory = new Map(states.map((each) => [each.key, history.images ? each.history.newest() : each.history.at(after.number)]))
    const { head: read, states: loaded } = await loadStates(group, states, after, { history, signal }, inMemory)
    // After a reorganisation, or if a block since then was not asked about these states, they are loaded again.
    const since = history.after(after)
    if (!since || (!history.images && since.some((block) => uncoveredBy(block, group, states).length > 0))) {
      for (const each of states) group.wanted.add(each)
      return
    }
    for (const each of states) {
      const state = loaded.get(each.key)
      each.history.clear()
      // A block that came meanwhile needs something else.
      const asked = ofBlock.get(each) ?? nothingOfBlock
      if (each.ofBlock === asked) each.ofBlock = nothingOfBlock
      else group.wanted.add(each)
      markAsked(state, asked, read)
      each.images?.restart(read.number)
      if (state !== undefined) each.history.put(read.number, state)
      else fail(each, new SluiceError('PAIR_NOT_FOUND', `${connector} has no ${each.key} on ${chain}/${network}.`))
    }
    const only = new Set(states)
    for (const block of since) {
      // Which accounts a state is made of, the state may tell only now.
      if (history.images)
        for (const uncovered of uncoveredBy(block, group, states.filter(isInMemory))) {
          uncovered.history.clear()
          group.wanted.add(uncovered)
        }
      for (const lost of applyBlock(group, block, telemetry, only)) group.wanted.add(lost)
    }
    for (const each of states) {
      if (each.history.newest() === undefined) continue
      each.retry.reset()
      delete each.error
      each.loading?.settle()
    }
  } catch (error) {
    if (signal.aborted) return
    // The node may not have the block yet, or another node takes over.
    if (isNetworkFailure(error) && tries > 1) {
      await pause(retryMs, signal)
      return loadGroup(group, states, history, telemetry, signal, tries - 1)
    }
    if (!isExternalFailure(error) && states.length > 1) {
      await Promise.all(states.map((each) => loadGroup(group, [each], history, telemetry, signal)))
      return
    }
    for (const each of states) fail(each, errorOf(each, error, telemetry))
  }
}

/** The states after a block, by key. @param inMemory what is known of them after that block; absent where they are to be compared with it */
async function loadStates(
  { source: { followed } }: Pick<StateGroup, 'source'>,
  states: readonly TrackedState[],
  after: Head,
  { history, signal: runSignal }: { history: BlockHistory; signal: AbortSignal },
  inMemory?: ReadonlyMap<string, unknown>,
): Promise<{ head: Head; states: ReadonlyMap<string, unknown> }> {
  const keys = states.map(({ key }) => key)
  const known = new Map<string, KnownOf>()
  for (const { key, about, more: missing, ofBlock } of states) {
    const state = inMemory?.get(key)
    const more = [...missing, ...ofBlock.more]
    if (about !== undefined || more.length > 0 || state !== undefined)
      known.set(key, { about, more, ...(state !== undefined && { state }) })
  }
  const { head, states: loaded } = await withDeadline(runSignal, loadTimeoutMs, (signal) =>
    abortable(Promise.resolve(followed.load(keys, after, { signal }, known)), signal),
  )
  requireRead(head, after, history)
  if (!(loaded instanceof Map)) throw new Error('it returned no states')
  return { head, states: loaded }
}

/** @throws Error unless it was read after this block; with images, after this one or a newer one */
export function requireRead(read: Head, wanted: Head, { images }: Pick<BlockHistory, 'images'>): void {
  if (images ? read.number >= wanted.number : read.number === wanted.number && (read.hash === undefined || read.hash === wanted.hash))
    return
  throw new Error(`it read block ${read.number} instead of ${wanted.number}`)
}

function fail(state: TrackedState, error: unknown): void {
  state.error = error
  state.retry.failed()
  state.loading?.settle(error)
}

function errorOf({ key, group }: TrackedState, error: unknown, telemetry: Telemetry): unknown {
  const { subject } = group.source
  if (error instanceof SluiceError && isExternalFailure(error)) return error
  if (isExternalFailure(error)) {
    const where = `${subject.connector} on ${subject.chain}/${subject.network}`
    return new SluiceError('NETWORK', `${key} of ${where} was not read in time. Try again.`, { retryAfterSeconds: 1, cause: error })
  }
  const why = reasonOf(error)
  telemetry.trouble({ ...subject, what: key }, 'defect', `the connector failed to load a state: ${why}`, error)
  return new SluiceError('UNKNOWN_ERROR', `The connector ${subject.connector} failed to read ${key}. The server's log has the reason.`, {
    cause: error,
  })
}

/** Whether the network or the node failed, rather than the plugin. */
const isExternalFailure = (error: unknown): boolean => (error instanceof SluiceError ? error.name !== 'UNKNOWN_ERROR' : isAbort(error))

/** Whether the failure ends when the network recovers. */
export const isNetworkFailure = (error: unknown): boolean => error instanceof SluiceError && error.http >= 500 && isExternalFailure(error)

/** So many states of an exchange are compared at least, where there are few. */
const minSample = 4

interface ComparisonOptions {
  /** How often it is called. */
  readonly everySeconds: number
  /** Within this time, each state is compared; or each time, where that is less often. */
  readonly withinSeconds: number
  /** Called with each state that is wrong. */
  discard(state: TrackedState): void
}

/**
 * Compares states with the chain, after the same block: those that were compared the longest ago, and so many that each has its turn in time.
 * They are read together. What differs is loaded a second time: a node that makes a block during the first question may answer partly by each
 * of the two blocks.
 */
export async function compareStates(
  group: StateGroup,
  history: BlockHistory,
  telemetry: Telemetry,
  signal: AbortSignal,
  { everySeconds, withinSeconds, discard }: ComparisonOptions,
): Promise<void> {
  // Each image is a reading of the chain, and nobody could read it again at the same slot.
  if (history.images) return
  const { states } = group
  const count = Math.max(minSample, Math.ceil((states.size * everySeconds) / withinSeconds))
  const after = history.tip
  const sample = [...states.values()].filter((each) => after && each.history.at(after.number) !== undefined).slice(0, count)
  // The next comparison takes others first.
  for (const each of sample) {
    states.delete(each.key)
    states.set(each.key, each)
  }
  for (let from = 0; from < sample.length; from += maxKeysPerLoad)
    await compareSample(group, sample.slice(from, from + maxKeysPerLoad), history, telemetry, signal, discard)
}

async function compareSample(
  { source, states }: StateGroup,
  sample: readonly TrackedState[],
  history: BlockHistory,
  telemetry: Telemetry,
  signal: AbortSignal,
  discard: ComparisonOptions['discard'],
): Promise<void> {
  const { subject } = source
  const after = history.tip
  const compared = sample.filter((each) => after && states.get(each.key) === each && each.history.at(after.number) !== undefined)
  if (!after || compared.length === 0) return
  const inMemory = new Map(compared.map((each) => [each, each.history.newest()]))
  /** Those that differ, with what was read of each. */
  const differing = async (among: readonly TrackedState[]): Promise<ReadonlyMap<TrackedState, unknown>> => {
    if (among.length === 0) return new Map()
    const { states: loaded } = await loadStates({ source }, among, after, { history, signal })
    const different = among.filter((each) => !source.same(each.key, inMemory.get(each), loaded.get(each.key), after))
    return new Map(different.map((each) => [each, loaded.get(each.key)]))
  }
  try {
    const suspects = await differing(compared)
    const different = await differing([...suspects.keys()])
    // First of all: what follows runs code of the connector's, and a state that is wrong must not outlive an error in it.
    for (const each of different.keys()) discard(each)
    for (const each of compared) {
      const outcome = different.has(each) ? 'different' : suspects.has(each) ? 'unclear' : 'equal'
      telemetry.check({ ...subject, what: each.key }, outcome, { inMemory: inMemory.get(each), onChain: different.get(each), head: after })
      if (outcome === 'different') source.followed.foundWrong?.(inMemory.get(each))
    }
  } catch (error) {
    if (signal.aborted) return
    telemetry.check(subject, 'unclear')
    if (!isExternalFailure(error)) telemetry.trouble(subject, 'defect', 'the connector failed to load states for a comparison', error)
  }
}
