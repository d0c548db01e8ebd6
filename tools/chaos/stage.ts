import { setTimeout as sleep } from 'node:timers/promises'
import { devnetMessages, type Messages } from './ask.ts'
import type { Recorder, History, Request, SentBytes } from './history.ts'
import type { Violation } from './checker/known.ts'
import type { Random } from './random.ts'
import type { Home } from './servers/home.ts'
import { spawnServer, type Server, type ServerOptions } from './servers/spawn-server.ts'

/** What a bot may want, but for who it is. A batch is several orders at once. */
export type Wish = Pick<Request, 'connector' | 'market' | 'token'> & { op: Request['op'] | 'batch' }

/** What stands between the servers and what they ask. */
export interface Intermediary {
  /** Everything that the servers sent, whatever became of it. */
  sent: readonly SentBytes[]
  /** How many requests had a fault. */
  faults: number
  /** From now on all is well. */
  become(): void
}

/** Servers between bots and a node that may fail, on a chain of whatever family. */
export interface Stage {
  /** The network that all of it is on. */
  place: { chain: string; network: string }
  wallets: readonly string[]
  /** What bots pick from. */
  wishes: readonly Wish[]
  messages: Messages
  proxy: Intermediary
  home: Home
  recorder: Recorder
  /** What was asked together with a key, and not answered for good while faults went on. */
  unresolved: (readonly Request[])[]
  servers: (Server | undefined)[]
  /** Why no server will come any more: whoever waits for one is told. */
  failure: Error | undefined
  /** The last words of servers that ended though nobody asked them to, or did not end when they were asked. */
  lastWords: string[]
  /** How long servers took to be ready, in order. */
  readyInMs: number[]
  /** Starts the server of that number, in place of one that ended. */
  start(index?: number, options?: Pick<ServerOptions, 'dieAt' | 'env' | 'stopAt' | 'flags' | 'unready'>): Promise<Server>
  /** One that runs, or the one of that number; waits while there is none. */
  someServer(index?: number): Promise<Server>
}

/** A stage that a run is judged on. */
export interface JudgedStage extends Stage {
  /** The faults are over: lets the blocks pass that what is open has to reach its end, ends the servers and gives all there is to judge. */
  settle(random: Random): Promise<History>
  judge(history: History): Promise<readonly Violation[]>
  stop(): Promise<void>
}

type StageParts = Pick<Stage, 'place' | 'wallets' | 'wishes' | 'proxy' | 'home' | 'recorder'> & {
  /** Absent: those to the exchanges of the devnet. */
  messages?: Messages
  random: Random
  server: Pick<ServerOptions, 'devnetUrl' | 'patches' | 'prefix' | 'logFile'>
}

/** Without any server yet: the first one makes what they share, certificates and tables. */
export function createStage({ random, server: options, ...given }: StageParts): Stage {
  const servers: Stage['servers'] = []
  const stage: Stage = {
    messages: devnetMessages,
    ...given,
    unresolved: [],
    servers,
    failure: undefined,
    lastWords: [],
    readyInMs: [],
    async start(index = 0, orders = {}) {
      const before = servers[index]
      if (before?.misbehaved()) stage.lastWords.push(before.log())
      servers[index] = undefined
      const server = await spawnServer({ home: given.home, ...options, ...orders })
      servers[index] = server
      stage.readyInMs.push(Math.round(server.readyInMs))
      return server
    },
    async someServer(index) {
      for (;;) {
        const running = servers.filter((each) => each !== undefined && !each.hasEnded()) as Server[]
        const found = index === undefined ? running : running.filter((each) => each === servers[index])
        if (found.length > 0) return random.pick(found)
        if (stage.failure) throw stage.failure
        await sleep(20)
      }
    },
  }
  return stage
}
