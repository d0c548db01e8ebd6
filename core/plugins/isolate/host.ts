// One host: starts the process of a plugin, watches what it uses, ends it where that is too much or it stands still, and starts it again.
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { pause, withTimeout } from '../../base/async.ts'
import type { Log } from '../../contracts/index.ts'
import { parseSchemaAnswer, type SchemaAnswer, type SchemaQuestion } from '../../config/plugin-schema.ts'
import { SluiceError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import type { Description } from '../instantiate.ts'
import { budgetRemedy, remedies, faultOf, pendingAwait, PluginFault, stoodStill, type Step, toldFault, wordsOf } from '../refusal.ts'
import { named, printable, saidBy } from '../../base/printable.ts'
import { messageOf } from '../code/thrown.ts'
import { loopIn } from '../code/watchdog.ts'
import type { LoadBudget } from '../code/trials.ts'
import type { Broker } from './broker.ts'
import type { Web } from './web.ts'
import { openChannel, otherEndGone, type Channel } from './channel.ts'
import type { Bounds } from './frames.ts'
import type { ContainedProcess } from './containment.ts'
import type { HostSettings, HostVenue, LoadRequest } from './messages.ts'
import { excessOf } from './process-tree.ts'

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
  /** @param maxBytes of the answer, as JSON @throws SluiceError SERVICE_UNINITIALIZED while it does not answer */
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

/** A venue, and the way from it to its chain. */
export interface CreatedVenue {
  /** Facts change: it is made anew for each start. */
  venue(): HostVenue
  readonly broker: Broker
}

export interface HostOptions {
  readonly name: string
  readonly log: Log
  readonly request: LoadRequest
  readonly budget: LoadBudget
  /** A host that does not answer for so long is ended, by its own processor time. */
  readonly stallSeconds: number
  /** Waits until another host may start. The returned function lets the next one. */
  takeTurn(): Promise<() => void>
  /** @throws PluginFault where the system cannot start one now */
  spawn(): Promise<ContainedProcess>
  readonly web: Web
  /** Aborted where the server stops while the plugin is being loaded. */
  readonly stopping: AbortSignal
  onFault(): void
  onDeath(): void
}

const watchMs = 1_000
/** With its program and everything below it. */
const limits = { residentBytes: 512 * 2 ** 20, processes: 8 }
/** By the clock: also for what uses no processor. */
const maxStallMs = 60_000
const maxFrameBytes = 4 * 2 ** 20
const maxQuestions = 64
const maxUnreadBytes = 16 * 2 ** 20
/** What a host may send: several times what a connector needs that follows thousands of pools. */
const bounds: Bounds = {
  perSecond: { bytes: 16 * 2 ** 20, messages: 5_000 },
  maxUnaskedFrameBytes: 2 * 2 ** 20,
  maxUnaskedBytes: 32 * 2 ** 20,
  maxFrameMs: 60_000,
  processor: { burstMs: 150, perSecondMs: 30, perAnswerMs: 0.2 },
}
/** Of the answer to a ping: a word. */
const maxPingBytes = 1_024
/** A host that has nothing to do answers at once. */
const pingMs = 2_000
/** Notices of a host: lines of its log. What is beyond is dropped. */
const maxNoticesPerMinute = 300
/** As many deaths within this time are enough. */
const [maxDeaths, deathsWithinMs] = [5, 600_000]
const [firstPauseMs, maxPauseMs] = [1_000, 60_000]
/** Before it is tried again to start one where none could be started. */
const awayPauseMs = 500
const maxErrorText = 2_000

/** A restart calls `start()` again, and little else. */
const startWords = { what: 'start()', when: 'in start()', remedy: 'Let it end, or throw where it cannot.' }

/** A process while it runs. */
interface Running {
  readonly channel: Channel
  readonly use: ContainedProcess['use']
  /** Settles when it has ended. */
  readonly ended: Promise<unknown>
  /** Whether nothing can be asked any more. */
  isClosed(): boolean
  /** Ends it for this reason. */
  kill(why: string, remedy?: string): void
  /** Whether what contained it ended. */
  isLost(): boolean
  /** What `ask` throws once it has ended. */
  readonly reason: () => string
  /** What its author can do about that. */
  readonly remedy: () => string
  /** What it said of a loop; empty where it said nothing. To be asked once it has ended. */
  readonly loop: () => string
}

/** @throws PluginFault where the plugin cannot be loaded */
export async function startHost(options: HostOptions): Promise<Host> {
  const { name, log, request, budget, stallSeconds, takeTurn, onDeath } = options
  let running: Running | undefined
  let created: { venues: readonly CreatedVenue[]; settings: HostSettings; properties: readonly unknown[] } | undefined
  let isLoading = true
  const redone: (() => Promise<unknown>)[] = []
  const reactions: (() => void)[] = []
  const changeListeners: ((id: unknown) => void)[] = []
  /** When it died, most recent last. */
  let deathTimes: number[] = []
  let deaths = 0
  let down: string | undefined
  const stopping = new AbortController()

  const end = () => {
    stopping.abort()
    running?.kill('the server stops')
  }
  options.stopping.addEventListener('abort', end, { once: true })
  // Memory and processes are watched from the first.
  watch()
  const description = await inTurn(async () => {
    if (options.stopping.aborted) throw new PluginFault('import', 'The server stops', 'Start it again.', true)
    return load(await boot())
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

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const passOn = await takeTurn()
    try {
      return await work()
    } finally {
      passOn()
    }
  }

  async function boot(): Promise<Running> {
    const child = await options.spawn()
    if (stopping.signal.aborted) {
      child.kill()
      throw new PluginFault('import', 'The server stops', 'Start it again.', true)
    }
    const started = run(
      options,
      child,
      (method, args, signal) => {
        if (stopping.signal.aborted) throw new Error('The plugin was stopped.')
        if (method === 'fetch') return options.web.fetch(args[0], signal)
        const [index, ...rest] = args
        const broker = created?.venues[Number(index)]?.broker
        if (!broker) throw new Error('There is no such venue.')
        return broker.answer(method, rest, signal)
      },
      (id) => {
        for (const listener of changeListeners) listener(id)
      },
    )
    running = started
    void started.ended.then(() => onEnd(started))
    return started
  }

  async function load(started: Running): Promise<Description> {
    const reply = await within(started, 'import', () => started.channel.ask('load', [request]))
    const { description } = accepted(reply, 'import', name)
    if (!isDescription(description)) throw new PluginFault('import', 'The host did not describe the plugin', remedies.correct)
    return description
  }

  async function create(started: Running, venues: readonly CreatedVenue[], settings: HostSettings): Promise<readonly unknown[]> {
    const reply = await within(started, 'create', () => started.channel.ask('create', [venues.map((each) => each.venue()), settings]))
    const { venues: properties } = accepted(reply, 'create', name)
    if (Array.isArray(properties) && properties.length === venues.length) return properties
    throw new PluginFault('create', 'The host did not create its venues', remedies.correct)
  }

  /** A step with the plugin's budget. @throws PluginFault */
  async function within(started: Running, step: Step, work: () => Promise<unknown>, words = wordsOf(step)): Promise<unknown> {
    const { what, when, remedy } = words
    const usedBefore = started.use()?.processorMs ?? 0
    const tooLong = (reason: string, more = '') => new PluginFault(step, `${what} was not done after ${reason}`, remedy + more, true)
    let isLoop = false
    const look = setInterval(() => {
      if ((started.use()?.processorMs ?? 0) - usedBefore < budget.processorMs) return
      isLoop = true
      started.kill(`${what} was not done after ${budget.processorMs / 1000} s of processor time: an endless loop`)
    }, 100)
    try {
      return await withTimeout(work(), budget.clockMs, async () => {
        const usedMs = (started.use()?.processorMs ?? 0) - usedBefore
        const loops = usedMs > budget.processorMs / 2 || usedMs > budget.clockMs / 2
        const used = `, ${Math.round(usedMs / 1000)} s of them of processor time`
        const why = loops ? `${used}: an endless loop, or too much work` : `: ${(await answersPing(started)) ? pendingAwait : stoodStill}`
        throw tooLong(`${budget.clockMs / 1000} s${why}`)
      })
    } catch (thrown) {
      // Where it ends by itself, how it ended says more than that it is gone.
      if (messageOf(thrown) !== otherEndGone) started.kill(messageOf(thrown))
      await started.ended
      if (isLoop) throw tooLong(`${budget.processorMs / 1000} s of processor time: ${started.loop() || 'an endless loop'}`, budgetRemedy)
      throw (
        (thrown instanceof PluginFault ? thrown : undefined) ??
        new PluginFault(step, `Its process ended ${when}: ${started.reason()}`, started.remedy())
      )
    } finally {
      clearInterval(look)
    }
  }

  /** Whether its event loop runs, so that nothing but a promise of its own keeps it. */
  async function answersPing({ channel }: Running): Promise<boolean> {
    const word = randomUUID()
    return channel.ask('ping', [word], AbortSignal.timeout(pingMs), maxPingBytes).then(
      (answer) => answer === word,
      () => false,
    )
  }

  function onEnd(started: Running): void {
    if (running !== started) return
    running = undefined
    for (const { broker } of created?.venues ?? []) broker.reset()
    for (const react of reactions) react()
    // Before it was created its plugin is refused.
    if (stopping.signal.aborted || !created) return
    deaths += 1
    onDeath()
    const now = performance.now()
    // The service that contains all plugins may end with them: that is no plugin's fault.
    deathTimes = [...deathTimes.filter((at) => now - at < deathsWithinMs), ...(started.isLost() ? [] : [now])]
    const reason = started.reason()
    if (deathTimes.length >= maxDeaths) {
      down = `its process ended ${deathTimes.length} times within ${deathsWithinMs / 60_000} minutes, and is not started again: ${reason}`
      log.warn({ plugin: name, deaths, reason }, 'host of a plugin ended too often: the plugin is quarantined until the server restarts')
      return
    }
    down = `its process ended and is being started again: ${reason}`
    log.warn({ plugin: name, deaths, reason }, 'host of a plugin ended, and is started again')
    void restart(Math.min(firstPauseMs * 2 ** Math.max(0, deathTimes.length - 1), maxPauseMs))
  }

  async function restart(pauseMs: number): Promise<void> {
    await pause(pauseMs, stopping.signal, { ref: false })
    if (stopping.signal.aborted || !created) return
    const { venues, settings, properties } = created
    await inTurn(async () => {
      if (stopping.signal.aborted) return
      let started: Running | undefined
      try {
        const next = await boot()
        started = next
        await load(next)
        if (!isDeepStrictEqual(await create(next, venues, settings), properties))
          throw new Error('it has other versions, spenders, events or words of its errors than before')
        for (const redo of redone) await within(next, 'create', redo, startWords)
        down = undefined
        log.info({ plugin: name }, 'host of a plugin was started again')
      } catch (thrown) {
        // Its end counts as another death.
        if (started) return started.kill(messageOf(thrown))
        down = `its process cannot be started: ${messageOf(thrown)}`
        void restart(awayPauseMs)
      }
    })
  }

  const unavailable = (why: string) =>
    new SluiceError('SERVICE_UNINITIALIZED', `The plugin ${name} cannot be used now: ${why}`, { retryAfterSeconds: 2 })

  function watch(): void {
    let pinged: { at: number; processorMs: number; by: Running } | undefined
    const interval = setInterval(() => {
      const now = running
      if (!now) return
      const use = now.use()
      const excess = excessOf(use, limits)
      if (excess !== undefined) return now.kill(excess, remedies.useLess)
      if (pinged?.by !== now) pinged = undefined
      if (!pinged) {
        const ping = { at: performance.now(), processorMs: use?.processorMs ?? 0, by: now }
        pinged = ping
        // Who does not read cannot know it: the numbers of questions can be guessed.
        const word = randomUUID()
        now.channel.ask('ping', [word], undefined, maxPingBytes).then(
          (answer) => {
            if (pinged === ping && answer === word) pinged = undefined
          },
          () => {},
        )
        return
      }
      // Loading has a budget of its own.
      if (isLoading || down !== undefined) return
      const usedMs = (use?.processorMs ?? 0) - pinged.processorMs
      const waitedMs = performance.now() - pinged.at
      if (usedMs >= stallSeconds * 1000 || waitedMs >= Math.max(maxStallMs, stallSeconds * 1000))
        now.kill(`it did not answer for ${Math.round(waitedMs / 1000)} s`)
    }, watchMs)
    interval.unref()
    stopping.signal.addEventListener('abort', () => clearInterval(interval), { once: true })
  }

  return {
    description,
    get deaths() {
      return deaths
    },
    notReady: () => down,
    async judge(question) {
      const now = running
      if (!now) throw new PluginFault('manifest', 'Its process has ended', remedies.correct)
      const { answer } = accepted(await within(now, 'manifest', () => now.channel.ask('judge', [question])), 'manifest', name)
      try {
        return parseSchemaAnswer(question, answer)
      } catch (thrown) {
        throw faultOf(thrown, 'manifest', remedies.schema)
      }
    },
    async create(venues, settings) {
      if (!running) throw new PluginFault('create', 'Its process has ended', remedies.correct)
      // Its questions are answered from now on.
      created = { venues, settings, properties: [] }
      try {
        const properties = await create(running, venues, settings)
        created = { venues, settings, properties }
        isLoading = false
        return properties
      } catch (thrown) {
        created = undefined
        await closeBrokers(venues)
        throw thrown
      }
    },
    async ask(method, args, signal, maxBytes) {
      const now = running
      if (!now) throw unavailable(down ?? 'it is starting')
      try {
        return await now.channel.ask(method, args, signal, maxBytes)
      } catch (thrown) {
        if (!now.isClosed() || signal?.aborted) throw thrown
        await now.ended
        throw unavailable(`its process ended: ${now.reason()}`)
      }
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
      await closeBrokers(created?.venues ?? [])
      await options.web.close()
    },
  }
}

const closeBrokers = (venues: readonly CreatedVenue[]) => Promise.all(venues.map(({ broker }) => broker.close()))

/** Talks with the process. */
function run(
  { name, log, onFault }: HostOptions,
  child: ContainedProcess,
  answer: (method: string, args: readonly unknown[], signal: AbortSignal) => unknown,
  onChanged: (id: unknown) => void,
): Running {
  let why: string | undefined
  let remedy: string = remedies.throwInstead
  let [isClosed, isLost] = [false, false]
  let said = ''
  let [notices, noticesSince] = [0, performance.now()]
  const kill = (reason: string, otherRemedy = remedy) => {
    if (why === undefined) [why, remedy] = [reason, otherRemedy]
    child.kill()
  }
  const channel = openChannel({
    socket: child.channel,
    answer,
    onTold,
    onClosed: (error) => {
      isClosed = true
      // Its exit says more than the end of its socket.
      if (error.message !== otherEndGone) kill(error.message, remedies.askLess)
      else setTimeout(() => kill('it closed its socket'), 1_000).unref()
    },
    maxFrameBytes,
    maxQuestions,
    bounds,
    maxUnreadBytes,
    plugin: name,
  })
  const ended = child.ended.then((end) => {
    said = end.said
    isLost = end.isLost === true
    why ??= end.reason
    channel.close(new Error(why))
  })

  function onTold(method: string, args: readonly unknown[]): void {
    if (method === 'changed') return onChanged(args[0])
    if (method !== 'fault' && method !== 'log') throw new Error('it tells what there is not')
    if (performance.now() - noticesSince > 60_000) [notices, noticesSince] = [0, performance.now()]
    notices += 1
    if (notices > maxNoticesPerMinute) return
    if (method === 'fault') {
      onFault()
      log.warn({ plugin: name, reason: shown(args[0]) }, 'unhandled failure in the background of a plugin')
    } else {
      const [level, fields, message] = args
      const line = [{ said: isObject(fields) ? JSON.stringify(fields).slice(0, maxErrorText) : '' }, shown(message)] as const
      if (level === 'warn') log.warn(...line)
      else log.info(...line)
    }
  }

  return {
    channel,
    use: child.use,
    ended,
    isClosed: () => isClosed,
    isLost: () => isLost,
    kill,
    reason: () => [why ?? 'unknown', loopOf(said) || lastLineOf(name, said)].filter(Boolean).join('; '),
    remedy: () => remedy,
    loop: () => loopOf(said),
  }
}

const loopOf = (said: string): string => {
  const where = loopIn(said)
  return where === undefined ? '' : `an endless loop in ${named(where)}`
}

/** The last words of a process that failed are its error; lines of a stack are none. */
function lastLineOf(plugin: string, text: string): string {
  const line = text
    .split('\n')
    .findLast((each) => /Error|FATAL/.test(each) && !/^ *at /.test(each))
    ?.trim()
  return line === undefined ? '' : saidBy(plugin, line.slice(0, 300))
}
const shown = (value: unknown): string => (typeof value === 'string' ? printable(value.slice(0, maxErrorText)) : '')

/** @throws PluginFault where the host refused */
function accepted(reply: unknown, step: Step, plugin: string): Record<string, unknown> {
  if (!isObject(reply)) throw new PluginFault(step, 'The host gave no answer', remedies.correct)
  if (reply['refused'] === undefined) return reply
  const { step: at, reason, remedy } = isObject(reply['refused']) ? reply['refused'] : {}
  throw toldFault(plugin, { step: toldSteps.find((each) => each === at) ?? step, reason, remedy })
}

const toldSteps: readonly Step[] = ['import', 'manifest', 'create']

function isDescription(value: unknown): value is Description {
  return (
    isObject(value) &&
    (value['kind'] === 'connector' || value['kind'] === 'chain') &&
    typeof value['family'] === 'string' &&
    isObject(value['manifest'])
  )
}
