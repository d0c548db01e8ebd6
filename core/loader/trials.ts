import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Token, TradingType } from '../contracts/index.ts'
import { threadUrl } from '../layout.ts'
import { hookUpdate } from './compile.ts'
import type { FoundPlugin } from './find.ts'
import type { HookUpdate } from './hook.ts'
import type { Description } from './instantiate.ts'
import { PluginFault, messageOf, type Step } from './refusal.ts'

/** Tries plugins in threads of their own. A failed trial throws a PluginFault. */
export interface Trials {
  describe(plugin: FoundPlugin): Promise<Description>
  create(plugin: FoundPlugin, venues: readonly TrialVenue[]): Promise<void>
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

/**
 * Each trial has `deadlineMs`. A thread goes on to the next plugin as long as trials pass. A trial that fails in a used thread is repeated
 * in a new one, so that no plugin is refused for what another one did.
 */
export function startTrials(deadlineMs: number): Trials {
  const idle: Thread[] = []
  const waiting: (() => void)[] = []
  let running = 0
  let turns = 1

  /** Waits for a turn. The returned function passes the turn on, once. */
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
    let passingOn: NodeJS.Timeout | undefined
    // Counted from when the plugin has its thread: on a busy machine a second thread would only slow down the first.
    const tryAlone = async (thread: Thread, isNew: boolean) => {
      passingOn ??= setTimeout(
        () => {
          if (running < maxThreads) passTurn()
        },
        isNew ? deadlineMs * firstSoloShare : soloMs,
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

  async function tryIn(thread: Thread, request: TrialRequest, step: Step, isNew: boolean): Promise<Description> {
    let reply: TrialReply | undefined
    try {
      reply = await thread.ask(request, deadlineMs, step)
    } finally {
      // A thread that answered is used again, unless its answer is in doubt.
      if (reply?.is === 'passed' || (reply !== undefined && isNew)) idle.push(thread)
      else await thread.end()
    }
    if (reply.is === 'refused') throw new PluginFault(reply.step, reply.reason, reply.cure)
    if (reply.is !== 'passed') throw new PluginFault(step, 'The trial returned no result', 'Correct the plugin.')
    return reply.description
  }

  return {
    describe: async (plugin) => run({ do: 'describe', plugin, news: await hookUpdate(plugin.builtIn ? [] : [plugin.folder]) }, 'import'),
    create: async (plugin, venues) => {
      const folders = [plugin, ...venues.flatMap(({ connector }) => connector?.on.plugin ?? [])]
        .filter(({ builtIn }) => !builtIn)
        .map(({ folder }) => folder)
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
  const worker = new Worker(threadUrl('core/loader/trial-thread'), {
    execArgv: ['--enable-source-maps'],
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    stdout: true,
    stderr: true,
  })
  // A plugin's output while loading is shown once, when it is loaded into the server.
  worker.stdout.resume()
  worker.stderr.resume()
  // Errors of an abandoned thread are ignored.
  worker.on('error', () => {})
  await nextReply(worker, bootMs, 'import').catch(async (thrown: unknown) => {
    await worker.terminate()
    throw new Error(`The thread for trials of plugins did not start: ${messageOf(thrown)}`)
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
            'Only wire parts together there, and do I/O in start(). The deadline is limits.pluginLoadSeconds in conf/server.yml.',
          ),
        ),
      )
    }, withinMs)
    const onMessage = (reply: TrialReply) => settle(() => resolve(reply))
    const onError = (error: unknown) =>
      settle(() => reject(new PluginFault(step, reasonOf(error, when), 'Correct the plugin: handle the errors of its background work.')))
    const onExit = (code: number) =>
      settle(() =>
        reject(
          new PluginFault(
            step,
            `It ended the process ${when}: process.exit(${code})`,
            'Throw an error instead: a plugin must not end the process.',
          ),
        ),
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
} & ({ readonly do: 'describe' } | { readonly do: 'create'; readonly venues: readonly TrialVenue[] })

export type TrialReply =
  | { readonly is: 'ready' }
  | { readonly is: 'passed'; readonly description: Description }
  | { readonly is: 'refused'; readonly step: Step; readonly reason: string; readonly cure: string }
