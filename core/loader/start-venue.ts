import { asFunction, type AwilixContainer } from 'awilix'
import type { Life, Log } from '../contracts/index.ts'
import type { LoadedPlugin, LoadedVenue } from './loaded-plugin.ts'
import { messageOf } from './refusal.ts'

/** `idle`: nobody has needed it yet, or the last attempt failed and nobody has asked since. */
type VenueState = 'idle' | 'starting' | 'ready' | 'stopped'

interface StartOptions {
  /** Not before it is woken: what nobody uses costs neither connections nor lines in the log. */
  readonly onDemand?: boolean
  /** A start that has not settled by then is given up and tried again. */
  readonly attemptMs?: number
  /** Before the second attempt; doubles from one to the next. */
  readonly firstPauseMs?: number
  readonly longestPauseMs?: number
  /** What `stop()` has. */
  readonly stopMs?: number
}

/** A venue on its way from start to stop. Until it is `ready`, its callers are to be answered with SERVICE_UNINITIALIZED. */
export interface RunningVenue {
  readonly state: VenueState
  /** Why the latest attempt to start failed; undefined once it is ready. */
  readonly lastError: string | undefined
  /** Settles when it is ready, or was stopped before; of one that starts on demand, at once. Never rejects. */
  readonly settled: Promise<void>
  /** Tries to start what is idle, unless that has just failed. Settles with that attempt; never rejects. */
  wake(): Promise<void>
  /** Never rejects: what `stop()` does wrong is logged. */
  stop(): Promise<void>
}

interface Startable {
  readonly chain: string
  readonly network: string
  readonly implementation: Life
  readonly log: Log
}

/** Somebody waits for what was asked for: it is asked again as soon as nodes that were put aside are. */
const longestPauseOnDemandMs = 2_000

/**
 * Starts a venue, again and again with growing pauses until it succeeds: a dead node never refuses a plugin. On demand it is
 * tried once each time that it is woken.
 */
export function startVenue(
  venue: Startable,
  {
    onDemand = false,
    attemptMs = 30_000,
    firstPauseMs = 500,
    longestPauseMs = onDemand ? longestPauseOnDemandMs : 30_000,
    stopMs = 5_000,
  }: StartOptions = {},
): RunningVenue {
  const { chain, network, implementation, log } = venue
  const of = { chain, network }
  const stopping = new AbortController()
  let state: VenueState = implementation.start === undefined ? 'ready' : 'idle'
  let lastError: string | undefined
  let stopped: Promise<void> | undefined
  let pauseMs = firstPauseMs
  let dueAt = 0
  let trying: Promise<void> | undefined

  const settled = state === 'ready' || onDemand ? Promise.resolve() : start()

  async function start(): Promise<void> {
    state = 'starting'
    while (state === 'starting') {
      await tryToStart()
      if (state === 'starting') await pause(dueAt - performance.now(), stopping.signal)
    }
  }

  async function wake(): Promise<void> {
    if (state !== 'idle') return trying
    if (performance.now() < dueAt) return
    state = 'starting'
    await tryToStart()
    if (state === 'starting') state = 'idle'
  }

  function tryToStart(): Promise<void> {
    return (trying ??= attempt()
      .then(() => {
        if (!stopping.signal.aborted) [state, lastError] = ['ready', undefined]
      })
      .catch((thrown: unknown) => {
        if (!stopping.signal.aborted) failed(messageOf(thrown))
      })
      .finally(() => {
        trying = undefined
      }))
  }

  function failed(reason: string): void {
    // Said once for each reason: a network may be away for as long as the server runs.
    if (reason !== lastError)
      log.warn({ ...of, reason }, `start failed; tried again ${onDemand ? 'when it is asked for' : 'until it succeeds'}`)
    lastError = reason
    dueAt = performance.now() + pauseMs
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }

  /** Each attempt has a signal of its own, so that one that was given up does not go on beside the next. */
  async function attempt(): Promise<void> {
    const given = new AbortController()
    const limit = bound(attemptMs, stopping.signal)
    try {
      await Promise.race([(async () => implementation.start?.(given.signal))(), limit.reached])
    } finally {
      limit.clear()
      if (limit.isReached()) given.abort(new Error('this attempt to start was given up'))
    }
  }

  async function stop(): Promise<void> {
    state = 'stopped'
    stopping.abort()
    const limit = bound(stopMs)
    try {
      await Promise.race([(async () => implementation.stop?.())(), limit.reached])
    } catch (thrown) {
      log.warn({ ...of, reason: messageOf(thrown) }, 'stop failed, going on without it')
    } finally {
      limit.clear()
    }
  }

  return {
    get state() {
      return state
    },
    get lastError() {
      return lastError
    },
    settled,
    wake,
    stop: () => (stopped ??= stop()),
  }
}

/** A promise that rejects after that time, or when the signal aborts. */
function bound(afterMs: number, signal?: AbortSignal) {
  const limit = new AbortController()
  const reached = new Promise<never>((_, reject) => {
    limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true })
  })
  const reach = (reason: string) => limit.abort(new Error(reason))
  const timer = setTimeout(() => reach(`not done after ${afterMs / 1000} s`), afterMs)
  const onAbort = () => reach('stopped')
  signal?.addEventListener('abort', onAbort, { once: true })
  // Where nobody waits any more when it rejects.
  reached.catch(() => {})
  return {
    reached,
    isReached: () => limit.signal.aborted,
    clear: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

function pause(forMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, forMs)
    signal.addEventListener('abort', done, { once: true })
  })
}

interface Venues {
  readonly running: ReadonlyMap<LoadedVenue<object>, RunningVenue>
  stop(): Promise<unknown>
}

/**
 * Each venue in a scope of its own, whose end is the venue's. Starting goes on beside the server: a dead node holds up nobody. What is
 * on a network that is not required starts when it is first asked for.
 */
export function startVenues<C extends object>(container: AwilixContainer<C>, loaded: readonly LoadedPlugin[]): Venues {
  const running = new Map<LoadedVenue<object>, RunningVenue>()
  const required = new Set(
    loaded.flatMap(({ kind, name, configuration: { networks } }) =>
      kind === 'chain' ? Object.keys(networks).flatMap((network) => (networks[network]?.required ? `${name}/${network}` : [])) : [],
    ),
  )
  const scopes = loaded
    .flatMap((plugin) => [...plugin.venues])
    .map((venue: LoadedVenue<Life>) => {
      const scope = container.createScope<{ running: RunningVenue }>()
      scope.register({
        running: asFunction(() => startVenue(venue, { onDemand: !required.has(`${venue.chain}/${venue.network}`) }))
          .scoped()
          .disposer((each) => each.stop()),
      })
      running.set(venue, scope.cradle.running)
      return scope
    })
  return { running, stop: () => Promise.all(scopes.map((scope) => scope.dispose())) }
}
