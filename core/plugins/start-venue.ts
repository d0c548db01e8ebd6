import { abortable, isAbort, pause, withDeadline, withTimeout } from '../base/async.ts'
import { SluiceError, type Life, type Log } from '../contracts/index.ts'
import type { LoadedPlugin, LoadedVenue } from './loaded-plugin.ts'
import { messageOf } from './code/thrown.ts'

/** A venue on its way from start to stop. Until it is `ready`, its callers get SERVICE_UNINITIALIZED, or NETWORK where its nodes are away. */
export interface RunningVenue {
  readonly state: VenueState
  /** Why the latest attempt to start failed; undefined once the venue is ready. */
  readonly lastError: string | undefined
  /** Whether that was because its nodes could not be reached, or were over their limits. */
  readonly lastTrouble: 'NETWORK' | 'RATE_LIMIT' | undefined
  /** Settles when the venue is ready or was stopped; at once for a venue that starts on demand. Never rejects. */
  readonly settled: Promise<void>
  /** Tries to start an idle venue, unless an attempt has just failed. Settles with that attempt; never rejects. */
  wake(): Promise<void>
  /** Never rejects: a failure of the plugin's `stop()` is logged. */
  stop(): Promise<void>
}

/** `idle`: nobody has needed the venue yet, or the last attempt failed and nobody has asked since. */
type VenueState = 'idle' | 'starting' | 'ready' | 'stopped'

export interface Venues {
  /** Grows with `add`. */
  readonly running: ReadonlyMap<LoadedVenue<object>, RunningVenue>
  /**
   * Starts the venues of these plugins, without waiting for them: a dead node does not delay the server.
   * A venue on a network that is not `required` starts when it is first asked for.
   */
  add(loaded: readonly LoadedPlugin[]): void
  /** Stops the venues of a plugin. */
  remove(plugin: LoadedPlugin): Promise<unknown>
  stop(): Promise<unknown>
}

export function startVenues(first: readonly LoadedPlugin[]): Venues {
  const required = new Set<string>()
  const running = new Map<LoadedVenue<object>, RunningVenue>()

  function add(loaded: readonly LoadedPlugin[]): void {
    for (const { kind, name, configuration } of loaded)
      for (const [network, settings] of kind === 'chain' ? Object.entries(configuration.networks) : [])
        if (settings.required) required.add(`${name}/${network}`)
    const venues: LoadedVenue<Life>[] = loaded.flatMap((plugin) => [...plugin.venues])
    for (const venue of venues) running.set(venue, startVenue(venue, { onDemand: !required.has(`${venue.chain}/${venue.network}`) }))
  }
  add(first)
  return {
    running,
    add,
    async remove({ venues }) {
      await Promise.all(venues.map(async (venue) => running.get(venue)?.stop()))
      for (const venue of venues) running.delete(venue)
    },
    stop: () => Promise.all([...running.values()].map((each) => each.stop())),
  }
}

interface Startable {
  readonly chain: string
  readonly network: string
  readonly implementation: Life
  readonly log: Log
}

interface StartOptions {
  /** Starts only when it is woken: an unused venue needs no connections and writes no log. */
  readonly onDemand?: boolean
  /** An attempt that has not settled by then is abandoned, and another one is made. */
  readonly attemptMs?: number
  /** The pause before the second attempt; each further pause is twice as long. */
  readonly firstPauseMs?: number
  readonly maxPauseMs?: number
  /** How long `stop()` may take. */
  readonly stopMs?: number
}

/** Short, because a caller waits: the start is tried again soon after failed nodes may be asked again. */
const maxPauseOnDemandMs = 2_000

/**
 * Starts a venue, with growing pauses between attempts, until it succeeds: a dead node never refuses a plugin. On demand, each wake makes
 * one attempt.
 */
export function startVenue(
  { chain, network, implementation, log }: Startable,
  {
    onDemand = false,
    attemptMs = 30_000,
    firstPauseMs = 500,
    maxPauseMs = onDemand ? maxPauseOnDemandMs : 30_000,
    stopMs = 5_000,
  }: StartOptions = {},
): RunningVenue {
  const stopping = new AbortController()
  let state: VenueState = implementation.start === undefined ? 'ready' : 'idle'
  let lastError: string | undefined
  let lastTrouble: RunningVenue['lastTrouble']
  let stopped: Promise<void> | undefined
  let pauseMs = firstPauseMs
  let dueAt = 0
  let attempt: Promise<void> | undefined

  const settled = state === 'ready' || onDemand ? Promise.resolve() : start()

  async function start(): Promise<void> {
    state = 'starting'
    while (state === 'starting') {
      await tryToStart()
      if (state === 'starting') await pause(dueAt - performance.now(), stopping.signal)
    }
  }

  async function wake(): Promise<void> {
    if (state !== 'idle') return attempt
    if (performance.now() < dueAt) return
    state = 'starting'
    await tryToStart()
    if (state === 'starting') state = 'idle'
  }

  /** Each attempt has its own signal, so that an abandoned one does not go on beside the next. */
  function tryToStart(): Promise<void> {
    return (attempt ??= withDeadline(stopping.signal, attemptMs, (signal) =>
      abortable((async () => implementation.start?.(signal))(), signal),
    )
      .then(() => {
        if (!stopping.signal.aborted) [state, lastError, lastTrouble] = ['ready', undefined, undefined]
      })
      .catch((thrown: unknown) => {
        if (stopping.signal.aborted) return
        lastTrouble = troubleOf(thrown)
        onFailure(messageOf(thrown))
      })
      .finally(() => {
        attempt = undefined
      }))
  }

  function onFailure(reason: string): void {
    // Logged once for each reason: a network may be away for as long as the server runs.
    if (reason !== lastError)
      log.warn({ chain, network, reason }, `start failed, retried ${onDemand ? 'when the network is asked for' : 'until it succeeds'}`)
    lastError = reason
    dueAt = performance.now() + pauseMs
    pauseMs = Math.min(pauseMs * 2, maxPauseMs)
  }

  async function stop(): Promise<void> {
    state = 'stopped'
    stopping.abort()
    try {
      await withTimeout((async () => implementation.stop?.())(), stopMs, () => {
        throw new Error(`not done after ${stopMs / 1000} s`)
      })
    } catch (thrown) {
      log.warn({ chain, network, reason: messageOf(thrown) }, 'stop failed, going on without it')
    }
  }

  return {
    get state() {
      return state
    },
    get lastError() {
      return lastError
    },
    get lastTrouble() {
      return lastTrouble
    },
    settled,
    wake,
    stop: () => (stopped ??= stop()),
  }
}

/** An attempt that was not done in time waited for a node. */
function troubleOf(thrown: unknown): RunningVenue['lastTrouble'] {
  if (thrown instanceof SluiceError) return thrown.name === 'NETWORK' || thrown.name === 'RATE_LIMIT' ? thrown.name : undefined
  return isAbort(thrown) ? 'NETWORK' : undefined
}
