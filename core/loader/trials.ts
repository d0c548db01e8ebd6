import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Token, TradingType } from '../contracts/index.ts'
import { threadHere } from './code-layout.ts'
import { hookUpdate } from './compile.ts'
import type { FoundPlugin } from './find.ts'
import type { HookUpdate } from './hook.ts'
import type { Description } from './instantiate.ts'
import { PluginFault, messageOf, type Step } from './refusal.ts'

/** Tries plugins in threads of their own. What fails throws a PluginFault. */
export interface Trials {
  describe(plugin: FoundPlugin): Promise<Description>
  create(plugin: FoundPlugin, venues: readonly TrialVenue[]): Promise<void>
  close(): Promise<void>
}

const mostThreads = Math.max(2, Math.min(4, availableParallelism()))
/** A trial that takes longer does not hold up the others. Until then one thread is quicker than two: it loads the kits once. */
const patienceMs = 1_000
/** The first in a thread loads the kits, which on a busy machine takes far longer: of its time so much is waited for. */
const firstPatience = 0.5
/** Starting a thread is our own work, not the plugin's: it has a bound of its own. */
const bootMs = 60_000
const heapMegabytes = 512

/**
 * Each trial has `deadlineMs`. A thread goes on to the next plugin while all is well; what fails in a thread that
 * another plugin was in before is tried once more in a new one, so that nobody is refused for a neighbour's doing.
 */
export function startTrials(deadlineMs: number): Trials {
  const idle: Thread[] = []
  const waiting: (() => void)[] = []
  let running = 0
  let turns = 1

  /** Waits for a turn. The returned function passes it on; the second time it does nothing. */
  async function takeTurn(): Promise<() => void> {
    if (turns > 0) turns -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    let passed = false
    return () => {
      if (passed) return
      passed = true
      const next = waiting.shift()
      if (next === undefined) turns += 1
      else next()
    }
  }

  async function run(request: TrialRequest, step: Step): Promise<Description> {
    const passTurn = await takeTurn()
    running += 1
    let impatience: NodeJS.Timeout | undefined
    // Counted from when the plugin has its thread: on a busy machine a second thread would only take the time of the first.
    const tryPatiently = async (thread: Thread, isNew: boolean) => {
      impatience ??= setTimeout(
        () => {
          if (running < mostThreads) passTurn()
        },
        isNew ? deadlineMs * firstPatience : patienceMs,
      )
      return tryIn(thread, request, step, isNew)
    }
    try {
      const inNew = async () => tryPatiently(await bootThread(), true)
      const thread = idle.pop()
      return thread === undefined ? await inNew() : await tryPatiently(thread, false).catch(inNew)
    } finally {
      clearTimeout(impatience)
      running -= 1
      passTurn()
    }
  }

  async function tryIn(thread: Thread, request: TrialRequest, step: Step, isNew: boolean): Promise<Description> {
    let reply: TrialReply | undefined
    try {
      reply = await thread.ask(request, deadlineMs, step)
    } finally {
      // One that answers goes on, unless its answer is in doubt.
      if (reply?.is === 'passed' || (reply !== undefined && isNew)) idle.push(thread)
      else await thread.end()
    }
    if (reply.is === 'refused') throw new PluginFault(reply.step, reply.reason, reply.cure)
    if (reply.is !== 'passed') throw new PluginFault(step, 'The trial gave no answer', 'Correct the plugin.')
    return reply.description
  }

  return {
    describe: async (plugin) => run({ do: 'describe', plugin, news: await hookUpdate([plugin.folder]) }, 'import'),
    create: async (plugin, venues) => {
      const folders = [plugin, ...venues.flatMap(({ connector }) => connector?.on.plugin ?? [])].map(({ folder }) => folder)
      await run({ do: 'create', plugin, venues, news: await hookUpdate([...new Set(folders)]) }, 'create')
    },
    close: async () => void (await Promise.all(idle.splice(0).map((thread) => thread.end()))),
  }
}

interface Thread {
  ask(request: TrialRequest, withinMs: number, step: Step): Promise<TrialReply>
  end(): Promise<void>
}

async function bootThread(): Promise<Thread> {
  const worker = new Worker(threadHere('trial-thread'), {
    execArgv: ['--enable-source-maps'],
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    stdout: true,
    stderr: true,
  })
  // What a plugin prints while loading is seen once, when it is loaded for good.
  worker.stdout.resume()
  worker.stderr.resume()
  // What a thread still reports after it was given up concerns nobody.
  worker.on('error', () => {})
  await nextReply(worker, bootMs, 'import').catch(async (thrown: unknown) => {
    await worker.terminate()
    throw new Error(`A thread to try plugins in could not be started: ${messageOf(thrown)}`)
  })
  return {
    ask: (request, withinMs, step) => {
      const reply = nextReply(worker, withinMs, step)
      worker.postMessage(request)
      return reply
    },
    end: async () => void (await worker.terminate()),
  }
}

function nextReply(worker: Worker, withinMs: number, step: Step): Promise<TrialReply> {
  const [what, when] = step === 'create' ? ['create()', 'in create()'] : ['Loading', 'while it was loaded']
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      settle(() =>
        reject(
          new PluginFault(
            step,
            `${what} was not done after ${withinMs / 1000} s: an endless loop, or an await that never settles`,
            'Do nothing but wiring there, and I/O in start(); limits.pluginLoadSeconds in conf/server.yml is the time it has.',
          ),
        ),
      )
    }, withinMs)
    const onMessage = (reply: TrialReply) => settle(() => resolve(reply))
    const onError = (error: unknown) =>
      settle(() => reject(new PluginFault(step, reasonOf(error, when), 'Correct the plugin; handle what it starts in the background.')))
    const onExit = (code: number) =>
      settle(() =>
        reject(new PluginFault(step, `It ended the process ${when}: process.exit(${code})`, 'A plugin throws when it cannot go on.')),
      )
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)

    function settle(done: () => void): void {
      clearTimeout(timer)
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

/** A venue as data: what a thread needs to build one of its own. */
export interface TrialVenue {
  readonly chain: string
  readonly network: string
  readonly config: unknown
  /** Absent for a chain's own networks. */
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
} & ({ readonly do: 'describe' } | { readonly do: 'create'; readonly venues: readonly TrialVenue[] })

export type TrialReply =
  | { readonly is: 'ready' }
  | { readonly is: 'passed'; readonly description: Description }
  | { readonly is: 'refused'; readonly step: Step; readonly reason: string; readonly cure: string }
