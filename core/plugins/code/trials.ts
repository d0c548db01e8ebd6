import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { parseSchemaAnswer, type SchemaAnswer, type SchemaQuestion } from '../../config/plugin-schema.ts'
import type { Token, TradingType } from '../../contracts/index.ts'
import { createPlaces } from '../../base/async.ts'
import { threadUrl } from '../../base/layout.ts'
import { hookUpdate } from './compile.ts'
import type { FoundPlugin } from '../discover/find.ts'
import type { HookUpdate } from './hook.ts'
import type { Description } from '../instantiate.ts'
import { onProcessorTimeUsed, tooLong, tooMuchProcessorTime, type LoadBudget } from '../load-budget.ts'
import { remedies, faultOf, pendingAwait, PluginFault, stoodStill, type Step, wordsOf } from '../refusal.ts'
import { messageOf } from './thrown.ts'

/** Tries plugins in threads of their own. A failed trial throws a PluginFault. */
export interface Trials {
  describe(plugin: FoundPlugin): Promise<Description>
  create(plugin: FoundPlugin, venues: readonly TrialVenue[]): Promise<void>
  /** Asks what the plugin's schema says of its configuration. */
  judge(plugin: FoundPlugin, question: SchemaQuestion): Promise<SchemaAnswer>
  close(): Promise<void>
}

const maxThreads = Math.max(2, Math.min(4, availableParallelism()))
/**
 * A trial that takes longer lets the next one begin in a thread of its own. Before that one thread is faster than two: it loads the kits
 * once.
 */
const soloMs = 1_000
/** The first trial of a thread loads the kits, which takes far longer on a busy machine: this part of its deadline it runs alone. */
const firstSoloShare = 0.5
/** Starting a thread is the server's work, not the plugin's: it has a deadline of its own. */
const bootMs = 60_000
const heapMegabytes = 512
/** V8 of Node 24 takes half a gigabyte for each thread, which counts where the kernel bounds what a process may have. */
const codeRangeSizeMb = 64

/**
 * Each trial has a budget. A thread goes on to the next plugin as long as trials pass. A trial that fails in a used thread is repeated
 * in a new one, so that no plugin is refused for what another one did.
 */
export function startTrials(budget: LoadBudget): Trials {
  const idle: Thread[] = []
  let running = 0
  const takeTurn = createPlaces(1)

  async function run(request: TrialRequest, step: Step): Promise<TrialReply & { is: 'passed' | 'judged' }> {
    const passTurn = await takeTurn()
    running += 1
    let passingOn: NodeJS.Timeout | undefined
    // Counted from when the plugin has its thread: on a busy machine a second thread would only slow down the first.
    const tryAlone = async (thread: Thread, isNew: boolean) => {
      passingOn ??= setTimeout(
        () => {
          if (running < maxThreads) passTurn()
        },
        isNew ? budget.processorMs * firstSoloShare : soloMs,
      )
      return tryIn(thread, request, step, isNew)
    }
    try {
      const inNew = async () => tryAlone(await bootThread(), true)
      const thread = idle.pop()
      return thread === undefined ? await inNew() : await tryAlone(thread, false).catch(inNew)
    } finally {
      clearTimeout(passingOn)
      running -= 1
      passTurn()
    }
  }

  async function tryIn(
    thread: Thread,
    request: TrialRequest,
    step: Step,
    isNew: boolean,
  ): Promise<TrialReply & { is: 'passed' | 'judged' }> {
    let reply: TrialReply | undefined
    try {
      reply = await thread.ask(request, budget, step)
    } finally {
      // A thread that answered is used again, unless its answer is in doubt.
      if (reply?.is === 'passed' || reply?.is === 'judged' || (reply !== undefined && isNew)) idle.push(thread)
      else await thread.end()
    }
    if (reply.is === 'refused') throw new PluginFault(reply.step, reply.reason, reply.remedy)
    if (reply.is === 'ready') throw noResult(step)
    return reply
  }

  return {
    async describe(plugin) {
      const reply = await run({ do: 'describe', plugin, news: await hookUpdate(plugin.builtIn ? [] : [plugin.folder]) }, 'import')
      if (reply.is === 'passed') return reply.description
      throw noResult('import')
    },
    create: async (plugin, venues) => {
      const folders = [plugin, ...venues.flatMap(({ connector }) => connector?.on.plugin ?? [])]
        .filter(({ builtIn }) => !builtIn)
        .map(({ folder }) => folder)
      await run({ do: 'create', plugin, venues, news: await hookUpdate([...new Set(folders)]) }, 'create')
    },
    async judge(plugin, question) {
      const reply = await run({ do: 'judge', plugin, question, news: await hookUpdate([]) }, 'manifest')
      try {
        if (reply.is === 'judged') return parseSchemaAnswer(question, reply.answer)
      } catch (thrown) {
        throw faultOf(thrown, 'manifest', remedies.schema)
      }
      throw noResult('manifest')
    },
    close: async () => void (await Promise.all(idle.splice(0).map((thread) => thread.end()))),
  }
}

const noResult = (step: Step) => new PluginFault(step, 'The trial returned no result', 'Correct the plugin.')

interface Thread {
  ask(request: TrialRequest, budget: LoadBudget, step: Step): Promise<TrialReply>
  end(): Promise<void>
}

async function bootThread(): Promise<Thread> {
  const worker = new Worker(threadUrl('core/plugins/code/trial-thread'), {
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, codeRangeSizeMb },
    stdout: true,
    stderr: true,
    execArgv: [],
  })
  // A plugin's output while loading is shown once, when it is loaded into the server.
  worker.stdout.resume()
  worker.stderr.resume()
  // Errors of an abandoned thread are ignored.
  worker.on('error', () => {})
  const booted = await nextReply(worker, { processorMs: Infinity, clockMs: bootMs }, () => 0, 'import').catch(async (thrown: unknown) => {
    await worker.terminate()
    const reason = `The thread for trials of plugins did not start: ${messageOf(thrown)}`
    throw new PluginFault('import', reason, 'The machine may be too busy.', true)
  })
  const processorMs = processorClock(worker, booted.is === 'ready' ? booted.taskId : undefined)
  return {
    ask: (request, budget, step) => {
      const reply = nextReply(worker, budget, processorMs, step)
      worker.postMessage(request)
      return reply
    },
    end: async () => void (await worker.terminate()),
  }
}

/** Linux counts a thread's processor time in hundredths of a second. */
const tickMs = 10

/** The processor time of a thread. Where the system does not tell, the time in which it had something to do. */
function processorClock(worker: Worker, taskId: string | undefined): () => number {
  return () => {
    try {
      const status = readFileSync(`/proc/self/task/${taskId}/stat`, 'latin1')
      // After the name: state, ten numbers, and then the ticks in the process and in the kernel.
      const [user = 0, system = 0] = status
        .slice(status.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number)
      return (user + system) * tickMs
    } catch {
      return worker.performance.eventLoopUtilization().active
    }
  }
}

function nextReply(worker: Worker, budget: LoadBudget, processorMs: () => number, step: Step): Promise<TrialReply> {
  const { when } = wordsOf(step)
  return new Promise((resolve, reject) => {
    const refuse = (fault: PluginFault) => settle(() => reject(fault))
    const endLook = onProcessorTimeUsed(budget, processorMs, () => refuse(tooMuchProcessorTime(step, budget)))
    const eventLoopBefore = worker.performance.eventLoopUtilization()
    const cap = setTimeout(() => {
      const { idle, active } = worker.performance.eventLoopUtilization(eventLoopBefore)
      refuse(tooLong(step, budget, `: ${idle > active ? pendingAwait : stoodStill}`))
    }, budget.clockMs)
    const onMessage = (reply: TrialReply) => settle(() => resolve(reply))
    const onError = (error: unknown) => refuse(new PluginFault(step, reasonOf(error, when), remedies.background))
    const onExit = (code: number) =>
      refuse(new PluginFault(step, `It ended the process ${when}: process.exit(${code})`, remedies.throwInstead))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)

    function settle(done: () => void): void {
      endLook()
      clearTimeout(cap)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      done()
    }
  })
}

function reasonOf(error: unknown, when: string): string {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return `It took more than ${heapMegabytes} MB ${when}`
  return `Failed in the background ${when}: ${messageOf(error)}`
}

/** A venue as data, from which a thread builds its own. */
export interface TrialVenue {
  readonly chain: string
  readonly network: string
  readonly config: unknown
  /** Absent for the networks of a chain. */
  readonly connector?: {
    readonly contracts: Readonly<Record<string, string>>
    readonly tokens: readonly Token[]
    readonly tradingTypes: readonly TradingType[]
    /** The chain whose reader the connector gets. */
    readonly on: { readonly plugin: FoundPlugin; readonly config: unknown }
  }
}

export type TrialRequest = {
  readonly plugin: FoundPlugin
  /** Of the plugin, and of the chains that its venues are on. */
  readonly news: HookUpdate
} & (
  | { readonly do: 'describe' }
  | { readonly do: 'create'; readonly venues: readonly TrialVenue[] }
  | { readonly do: 'judge'; readonly question: SchemaQuestion }
)

export type TrialReply =
  | { readonly is: 'ready'; /** What Linux calls the thread. */ readonly taskId: string | undefined }
  | { readonly is: 'passed'; readonly description: Description }
  | { readonly is: 'judged'; /** Not checked yet. */ readonly answer: unknown }
  | { readonly is: 'refused'; readonly step: Step; readonly reason: string; readonly remedy: string }
