// One host: starts the process of a plugin, watches what it uses, ends it where that is too much or it stands still, and starts it again.
import { isDeepStrictEqual } from 'node:util'
import { pause } from '../../base/async.ts'
import { SluiceError } from '../../base/errors.ts'
import { parseSchemaAnswer, type SchemaAnswer, type SchemaQuestion } from '../../config/plugin-schema.ts'
import { messageOf } from '../code/thrown.ts'
import type { Description } from '../instantiate.ts'
import { faultOf, PluginFault, remedies } from '../refusal.ts'
import type { Broker } from './broker.ts'
import type { Channel } from './channel.ts'
import type { ContainedProcess } from './containment.ts'
import {
  accepted,
  createIn,
  loadIn,
  serveIn,
  startRun,
  watchRuns,
  within,
  type ExpectsQuestion,
  type HostRun,
  type RunOptions,
} from './host-run.ts'
import type { HostSettings, HostVenue } from './messages.ts'
import type { Web } from './web.ts'

/** A plugin in a process of its own. */
export interface Host {
  readonly description: Description
  readonly deaths: number
  /** Undefined while it answers, else why not, for callers. */
  notReady(): string | undefined
  /** Asks what the plugin's schema says of its configuration. @throws PluginFault */
  judge(question: SchemaQuestion): Promise<SchemaAnswer>
  /** Creates the connector on its venues. @returns what each has besides methods, unchecked @throws PluginFault */
  create(venues: readonly CreatedVenue[], settings: HostSettings): Promise<readonly unknown[]>
  /** Creates the plugin's interface. @param answer of what it calls, for requests that it serves @returns its paths, unchecked @throws PluginFault */
  serve(name: string, config: object, answer: AnswerQuestion, expects: ExpectsQuestion): Promise<unknown>
  /** @param maxBytes of the answer, as JSON @throws HostUnavailable while it does not answer */
  ask(method: string, args: readonly unknown[], signal?: AbortSignal, maxBytes?: number): Promise<unknown>
  /** What is done anew after each death. */
  atRestart(redo: () => Promise<unknown>): void
  /** What is done at each death. */
  atEnd(react: () => void): void
  /** Calls back for each `changed` that the host tells. */
  onChanged(listener: (id: unknown) => void): void
  tell(method: string, args: readonly unknown[]): void
  stop(): Promise<void>
}

/** What the process asks of the server. */
export type AnswerQuestion = (method: string, args: readonly unknown[], signal: AbortSignal) => unknown

/** What was created in the process, and is created again when it was started again. */
interface Creation<T = unknown> {
  /** @returns what has to be the same each time */
  create(run: HostRun): Promise<T>
  readonly answer: AnswerQuestion
  /** Of an interface. */
  readonly expects?: ExpectsQuestion
  /** After each end of the process. */
  reset?(): void
  close?(): Promise<unknown>
}

/** A venue, and the way from it to its chain. */
export interface CreatedVenue {
  /** Facts change: it is made anew for each start. */
  venue(): HostVenue
  readonly broker: Broker
}

export interface HostOptions extends RunOptions {
  /** A host that does not answer for so long is ended, by its own processor time. */
  readonly stallSeconds: number
  /** Waits until another host may start. The returned function lets the next one. */
  takeTurn(): Promise<() => void>
  /** @throws PluginFault where the system cannot start one now */
  spawn(): Promise<ContainedProcess>
  readonly web: Web
  /** Aborted where the server stops while the plugin is being loaded. */
  readonly stopping: AbortSignal
  onDeath(): void
}

/** As many deaths within this time are enough. */
const [maxDeaths, deathsWithinMs] = [5, 600_000]
const [firstPauseMs, maxPauseMs] = [1_000, 60_000]
/** Before it is tried again to start one where none could be started. */
const awayPauseMs = 500

/** A restart calls `start()` again, and little else. */
const startWords = { what: 'start()', when: 'in start()', remedy: 'Let it end, or throw where it cannot.' }

/** @throws PluginFault where the plugin cannot be loaded */
export async function startHost(options: HostOptions): Promise<Host> {
  const { name, log, budget, stallSeconds, takeTurn, onDeath } = options
  let running: HostRun | undefined
  let created: (Creation & { readonly properties: unknown }) | undefined
  let [isLoading, down]: [boolean, string | undefined] = [true, undefined]
  const redone: (() => Promise<unknown>)[] = []
  const reactions: (() => void)[] = []
  const changeListeners: ((id: unknown) => void)[] = []
  const deaths = createDeaths()
  const stopping = new AbortController()

  const end = () => {
    stopping.abort()
    running?.kill('the server stops')
  }
  options.stopping.addEventListener('abort', end, { once: true })
  // Memory and processes are watched from the first.
  watchRuns({ running: () => running, isExcused: () => isLoading || down !== undefined, stallSeconds, signal: stopping.signal })
  const description = await inTurn(takeTurn, async () => {
    if (options.stopping.aborted) throw new PluginFault('import', 'The server stops', 'Start it again.', true)
    return loadIn(await boot(), options)
  })
    .catch(async (thrown: unknown) => {
      await endRefused()
      throw thrown
    })
    .finally(() => options.stopping.removeEventListener('abort', end))

  /** Nobody gets this host, so nobody else would end it. */
  async function endRefused(): Promise<void> {
    stopping.abort()
    const now = running
    now?.kill('it was refused')
    await now?.ended
    await options.web.close()
  }

  async function boot(): Promise<HostRun> {
    const child = await options.spawn()
    if (stopping.signal.aborted) {
      child.kill()
      throw new PluginFault('import', 'The server stops', 'Start it again.', true)
    }
    const started = startRun(
      options,
      child,
      (method, args, signal) => {
        if (stopping.signal.aborted) throw new Error('The plugin was stopped.')
        return method === 'fetch' ? options.web.fetch(args[0], signal) : created?.answer(method, args, signal)
      },
      (id) => changeListeners.forEach((listener) => listener(id)),
      () => created?.expects,
    )
    running = started
    void started.ended.then(() => onEnd(started))
    return started
  }

  function onEnd(started: HostRun): void {
    if (running !== started) return
    running = undefined
    created?.reset?.()
    for (const react of reactions) react()
    // Before it was created its plugin is refused.
    if (stopping.signal.aborted || !created) return
    onDeath()
    const reason = started.reason()
    const { count, recent, pauseMs } = deaths.add(started)
    const about = { plugin: name, deaths: count, reason }
    if (pauseMs === undefined) {
      down = `its process ended ${recent} times within ${deathsWithinMs / 60_000} minutes, and is not started again: ${reason}`
      log.warn(about, 'host of a plugin ended too often: the plugin stays down until the server restarts')
      return
    }
    down = `its process ended and is being started again: ${reason}`
    log.warn(about, 'host of a plugin ended, and is started again')
    void restart(pauseMs)
  }

  async function restart(pauseMs: number): Promise<void> {
    await pause(pauseMs, stopping.signal, { ref: false })
    if (stopping.signal.aborted || !created) return
    const { create, properties } = created
    await inTurn(takeTurn, async () => {
      if (stopping.signal.aborted) return
      let next: HostRun | undefined
      try {
        next = await boot()
        await loadIn(next, options)
        if (!isDeepStrictEqual(await create(next), properties))
          throw new Error('it has other versions, spenders, events, paths or words of its errors than before')
        for (const redo of redone) await within(next, 'create', redo, budget, startWords)
        if (running !== next) return // It ended meanwhile, which what follows prices does not say. Why it is down is known.
        down = undefined
        log.info({ plugin: name }, 'host of a plugin was started again')
      } catch (thrown) {
        // Its end counts as another death.
        if (next) return next.kill(messageOf(thrown))
        down = `its process cannot be started: ${messageOf(thrown)}`
        void restart(awayPauseMs)
      }
    })
  }

  async function createBy<T>(creation: Creation<T>): Promise<T> {
    if (!running) throw new PluginFault('create', 'Its process has ended', remedies.correct)
    // Its questions are answered from now on.
    created = { ...creation, properties: [] }
    try {
      const properties = await creation.create(running)
      ;[created, isLoading] = [{ ...creation, properties }, false]
      return properties
    } catch (thrown) {
      created = undefined
      await creation.close?.()
      throw thrown
    }
  }

  return {
    description,
    get deaths() {
      return deaths.count
    },
    notReady: () => down,
    async judge(question) {
      if (!running) throw new PluginFault('manifest', 'Its process has ended', remedies.correct)
      return judgeIn(running, question, options)
    },
    create: (venues, settings) => createBy(connectorOn(venues, settings, options)),
    serve: (plugin, config, answer, expects) => createBy({ create: (run) => serveIn(run, plugin, config, options), answer, expects }),
    async ask(method, args, signal, maxBytes) {
      if (!running) throw new HostUnavailable(name, down ?? 'it is starting')
      return askIn(running, name, (channel) => channel.ask(method, args, signal, maxBytes), signal)
    },
    atRestart: (redo) => void redone.push(redo),
    atEnd: (react) => void reactions.push(react),
    onChanged: (listener) => void changeListeners.push(listener),
    tell: (method, args) => running?.channel.tell(method, args),
    async stop() {
      stopping.abort()
      const now = running
      now?.kill('the server stops')
      await now?.ended
      await created?.close?.()
      await options.web.close()
    },
  }
}

const connectorOn = (venues: readonly CreatedVenue[], settings: HostSettings, options: HostOptions): Creation<readonly unknown[]> => ({
  create: (run) => createIn(run, factsOf(venues), settings, options),
  answer: (method, args, signal) => answerOf(venues, method, args, signal),
  reset() {
    for (const { broker } of venues) broker.reset()
  },
  close: () => closeBrokers(venues),
})

/** How often a host died, and whether it is started again. */
function createDeaths() {
  /** Most recent last. */
  let times: readonly number[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    /** @returns the pause before it is started again; none where it died too often */
    add(run: HostRun): { readonly count: number; readonly recent: number; readonly pauseMs?: number } {
      count += 1
      const now = performance.now()
      // The service that contains all plugins may end with them: that is no plugin's fault.
      times = [...times.filter((at) => now - at < deathsWithinMs), ...(run.isLost() ? [] : [now])]
      const recent = times.length
      if (recent >= maxDeaths) return { count, recent }
      return { count, recent, pauseMs: Math.min(firstPauseMs * 2 ** Math.max(0, recent - 1), maxPauseMs) }
    },
  }
}

async function inTurn<T>(takeTurn: HostOptions['takeTurn'], work: () => Promise<T>): Promise<T> {
  const passOn = await takeTurn()
  try {
    return await work()
  } finally {
    passOn()
  }
}

/** What a host asks of the chain of one of its venues. */
function answerOf(venues: readonly CreatedVenue[], method: string, [index, ...args]: readonly unknown[], signal: AbortSignal): unknown {
  const broker = venues[Number(index)]?.broker
  if (!broker) throw new Error('There is no such venue.')
  return broker.answer(method, args, signal)
}

/** What the plugin's schema says of its configuration. @throws PluginFault */
async function judgeIn(run: HostRun, question: SchemaQuestion, { name, budget }: RunOptions): Promise<SchemaAnswer> {
  const { answer } = accepted(await within(run, 'manifest', () => run.channel.ask('judge', [question]), budget), 'manifest', name)
  try {
    return parseSchemaAnswer(question, answer)
  } catch (thrown) {
    throw faultOf(thrown, 'manifest', remedies.schema)
  }
}

/** @throws HostUnavailable where it ends meanwhile */
async function askIn(run: HostRun, plugin: string, ask: (channel: Channel) => Promise<unknown>, signal?: AbortSignal): Promise<unknown> {
  try {
    return await ask(run.channel)
  } catch (thrown) {
    if (!run.isClosed() || signal?.aborted) throw thrown
    await run.ended
    throw new HostUnavailable(plugin, `its process ended: ${run.reason()}`)
  }
}

/** The process of a plugin is not there, or ended while it was asked. */
export class HostUnavailable extends SluiceError {
  constructor(plugin: string, why: string) {
    super('SERVICE_UNINITIALIZED', `The plugin ${plugin} cannot be used now: ${why}`, { retryAfterSeconds: 2 })
  }
}

/** As they are now. */
const factsOf = (venues: readonly CreatedVenue[]): readonly HostVenue[] => venues.map((each) => each.venue())

const closeBrokers = (venues: readonly CreatedVenue[]) => Promise.all(venues.map(({ broker }) => broker.close()))
