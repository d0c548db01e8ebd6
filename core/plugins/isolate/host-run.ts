// One run of a host: the process of a plugin from its start to its end, and what is asked of it within its budget.
import { randomUUID } from 'node:crypto'
import { withTimeout } from '../../base/async.ts'
import { isObject } from '../../base/json.ts'
import { bigintAsText, printable, saidBy } from '../../base/printable.ts'
import type { Log } from '../../contracts/index.ts'
import { messageOf } from '../code/thrown.ts'
import type { Description } from '../instantiate.ts'
import { onProcessorTimeUsed, tooLong, tooMuchProcessorTime, type LoadBudget } from '../load-budget.ts'
import { remedies, pendingAwait, PluginFault, stoodStill, type Step, toldFault, wordsOf } from '../refusal.ts'
import { openChannel, otherEndGone, type Channel } from './channel.ts'
import type { ContainedProcess } from './containment.ts'
import type { Bounds } from './frames.ts'
import { maxHostFrameBytes, type HostSettings, type HostVenue, type LoadRequest } from './messages.ts'
import { excessOf } from './process-tree.ts'

const watchMs = 1_000
/** With its program and everything below it. */
const limits = { residentBytes: 512 * 2 ** 20, processes: 8 }
/** By the clock: also for what uses no processor. */
const maxStallMs = 60_000
/** Twice what a process has under way at most: what it gave up may still be answered here. */
const maxQuestions = 144
const maxUnreadBytes = 16 * 2 ** 20
/** What a host may send: several times what a connector needs that follows thousands of pools. */
const bounds: Bounds = {
  perSecond: { bytes: 16 * 2 ** 20, messages: 5_000 },
  maxUnaskedFrameBytes: 2 * 2 ** 20,
  maxUnaskedBytes: 32 * 2 ** 20,
  maxFrameMs: 60_000,
  // A level of an order book has some 24 bytes, and is one list. What interfaces say is texts.
  maxParts: { ofServing: 30_000, perByte: 1 / 12 },
  processor: { burstMs: 150, perSecondMs: 30, perAnswerMs: 0.2 },
}
/** After its process has ended, for what is still to be read of its socket. */
const maxUnreadMs = 500
/** Of the answer to a ping: a word. */
const maxPingBytes = 1_024
/** A host that has nothing to do answers at once. */
const pingMs = 2_000
/** Notices of a host: lines of its log. What is beyond is dropped. */
const maxNoticesPerMinute = 300
const maxErrorText = 2_000

export interface RunOptions {
  readonly name: string
  readonly log: Log
  readonly request: LoadRequest
  readonly budget: LoadBudget
  onFault(): void
}

/** A process while it runs. */
export interface HostRun {
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
}

/** Whether a question is part of a request that the process serves. */
export type ExpectsQuestion = (method: string, args: readonly unknown[]) => boolean

/** Talks with the process. */
export function startRun(
  { name, log, onFault }: RunOptions,
  child: ContainedProcess,
  answer: (method: string, args: readonly unknown[], signal: AbortSignal) => unknown,
  onChanged: (id: unknown) => void,
  expects: () => ExpectsQuestion | undefined,
): HostRun {
  let why: string | undefined
  let remedy: string = remedies.throwInstead
  let [isClosed, isLost] = [false, false]
  let said = ''
  let [notices, noticesSince] = [0, performance.now()]
  let setClosed = () => {}
  const closed = new Promise<void>((resolve) => (setClosed = resolve))
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
      setClosed()
      // Its exit says more than the end of its socket.
      if (error.message !== otherEndGone) kill(error.message, remedies.askLess)
      else setTimeout(() => kill('it closed its socket'), 1_000).unref()
    },
    maxFrameBytes: maxHostFrameBytes,
    maxQuestions,
    bounds,
    expects,
    maxUnreadBytes,
    plugin: name,
  })
  const ended = child.ended.then(async (end) => {
    said = end.said
    isLost = end.isLost === true
    // What it wrote before it ended may say more than how it ended.
    if (why === undefined) await withTimeout(closed, maxUnreadMs, () => {})
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
      const line = [{ said: isObject(fields) ? JSON.stringify(fields, bigintAsText).slice(0, maxErrorText) : '' }, shown(message)] as const
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
    reason: () => [why ?? 'unknown', lastLineOf(name, said)].filter(Boolean).join('; '),
    remedy: () => remedy,
  }
}

/** Loads the plugin in it. @throws PluginFault */
export async function loadIn(started: HostRun, { name, request, budget }: RunOptions): Promise<Description> {
  const reply = await within(started, 'import', () => started.channel.ask('load', [request]), budget)
  const { description } = accepted(reply, 'import', name)
  if (!isDescription(description)) throw new PluginFault('import', 'The host did not describe the plugin', remedies.correct)
  return description
}

/** Creates the connector on its venues. @returns what each has besides methods, unchecked @throws PluginFault */
export async function createIn(
  started: HostRun,
  venues: readonly HostVenue[],
  settings: HostSettings,
  { name, budget }: RunOptions,
): Promise<readonly unknown[]> {
  const reply = await within(started, 'create', () => started.channel.ask('create', [venues, settings]), budget)
  const { venues: properties } = accepted(reply, 'create', name)
  if (Array.isArray(properties) && properties.length === venues.length) return properties
  throw new PluginFault('create', 'The host did not create its venues', remedies.correct)
}

/** Creates the plugin's interface. @returns its paths, unchecked @throws PluginFault */
export async function serveIn(started: HostRun, plugin: string, config: object, { name, budget }: RunOptions): Promise<unknown> {
  const reply = await within(started, 'create', () => started.channel.ask('serve', [plugin, config]), budget)
  return accepted(reply, 'create', name)['paths']
}

/** A step with the plugin's budget. @throws PluginFault */
export async function within(
  started: HostRun,
  step: Step,
  work: () => Promise<unknown>,
  budget: LoadBudget,
  words = wordsOf(step),
): Promise<unknown> {
  const usedMs = () => started.use()?.processorMs ?? 0
  const usedBefore = usedMs()
  let isLoop = false
  const endLook = onProcessorTimeUsed(budget, usedMs, () => {
    isLoop = true
    started.kill(tooMuchProcessorTime(step, budget, words).message)
  })
  try {
    return await withTimeout(work(), budget.clockMs, async () => {
      const ms = usedMs() - usedBefore
      const loops = ms > budget.processorMs / 2 || ms > budget.clockMs / 2
      const used = `, ${Math.round(ms / 1000)} s of them of processor time`
      const why = loops ? `${used}: an endless loop, or too much work` : `: ${(await answersPing(started)) ? pendingAwait : stoodStill}`
      throw tooLong(step, budget, why, words)
    })
  } catch (thrown) {
    // Where it ends by itself, how it ended says more than that it is gone.
    if (messageOf(thrown) !== otherEndGone) started.kill(messageOf(thrown))
    await started.ended
    if (isLoop) throw tooMuchProcessorTime(step, budget, words)
    throw (
      (thrown instanceof PluginFault ? thrown : undefined) ??
      new PluginFault(step, `Its process ended ${words.when}: ${started.reason()}`, started.remedy())
    )
  } finally {
    endLook()
  }
}

/** Whether its event loop runs, so that nothing but a promise of its own keeps it. */
async function answersPing({ channel }: HostRun): Promise<boolean> {
  const word = randomUUID()
  return channel.ask('ping', [word], AbortSignal.timeout(pingMs), maxPingBytes).then(
    (answer) => answer === word,
    () => false,
  )
}

interface WatchOptions {
  running(): HostRun | undefined
  /** Whether it need not answer now: loading has a budget of its own. */
  isExcused(): boolean
  readonly stallSeconds: number
  readonly signal: AbortSignal
}

/** Ends the process that runs where it uses too much, or stands still. */
export function watchRuns({ running, isExcused, stallSeconds, signal }: WatchOptions): void {
  let pinged: { at: number; processorMs: number; by: HostRun } | undefined
  const interval = setInterval(() => {
    const now = running()
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
    if (isExcused()) return
    const usedMs = (use?.processorMs ?? 0) - pinged.processorMs
    const waitedMs = performance.now() - pinged.at
    if (usedMs >= stallSeconds * 1000 || waitedMs >= Math.max(maxStallMs, stallSeconds * 1000))
      now.kill(`it did not answer for ${Math.round(waitedMs / 1000)} s`)
  }, watchMs)
  interval.unref()
  signal.addEventListener('abort', () => clearInterval(interval), { once: true })
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
export function accepted(reply: unknown, step: Step, plugin: string): Record<string, unknown> {
  if (!isObject(reply)) throw new PluginFault(step, 'The host gave no answer', remedies.correct)
  if (reply['refused'] === undefined) return reply
  const { step: at, reason, remedy } = isObject(reply['refused']) ? reply['refused'] : {}
  throw toldFault(plugin, { step: toldSteps.find((each) => each === at) ?? step, reason, remedy })
}

const toldSteps: readonly Step[] = ['import', 'manifest', 'create']

function isDescription(value: unknown): value is Description {
  return (
    isObject(value) &&
    (value['kind'] === 'connector' || value['kind'] === 'chain' || value['kind'] === 'interface') &&
    typeof value['family'] === 'string' &&
    isObject(value['manifest'])
  )
}
