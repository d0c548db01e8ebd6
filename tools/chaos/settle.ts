import { setTimeout as sleep } from 'node:timers/promises'
import { bounded, askAll, persist } from './ask.ts'
import type { History } from './history.ts'
import { dumpJournal } from './servers/journal.ts'
import type { Random } from './random.ts'
import type { Stage } from './stage.ts'

const waitingStates = ['QUEUED', 'SIGNED', 'BROADCAST']
const openStates = [...waitingStates, 'MINED']

/** All of a run but what the chain has of it. */
export type ObservedHistory = Omit<History, 'signed' | 'live' | 'mined' | 'nextNonces' | 'orders'>

export interface Blocks {
  /** How many what is open has to reach its end. */
  allowed: number
  /** Lets some come, and gives how many. @param isWaiting whether something is not in a block yet */
  pass(isWaiting: () => Promise<boolean>): Promise<number>
  /** Asks the servers what else there is to judge, before they end. */
  atEnd?(): Promise<void>
}

/** The faults are over: asks for what is unknown, lets the blocks pass that what is open has to reach its end, ends the servers, and gives what bots and journal have. */
export async function settle(stage: Stage, random: Random, { allowed, pass, atEnd }: Blocks): Promise<ObservedHistory> {
  const { proxy, servers, wallets, home, recorder } = stage
  proxy.become()
  for (const [index, server] of servers.entries()) {
    // One that is still to die somewhere does it now.
    if (server?.dieAt) server.signal('SIGKILL')
    if (server?.dieAt) await server.ended
    if (!server || server.hasEnded()) await stage.start(index)
  }
  await Promise.all(stage.unresolved.map((asked) => persist(() => askAll(stage, asked), random.fork(asked[0]?.id ?? 0), 120_000)))

  let blocks = 0
  while (blocks < allowed && (await count(stage, openStates)) > 0) blocks += await pass(async () => (await count(stage, waitingStates)) > 0)
  // The last block has to be seen.
  for (let tries = 0; tries < 300 && (await count(stage, openStates)) > 0; tries += 1) await sleep(200)
  await atEnd?.()

  await Promise.all(servers.map(async (each) => each?.stop()))
  stage.lastWords.push(...servers.flatMap((each) => (each?.misbehaved() ? [each.log()] : [])))
  const { requests, calls, samples, foreign, healed } = recorder
  return { wallets, requests, calls, samples, foreign, healed, journal: await dumpJournal(home), settled: { blocks, allowed } }
}

async function count(stage: Stage, states: readonly string[]): Promise<number> {
  const { client } = await stage.someServer()
  const counts = await Promise.all(
    states.map(async (state) => {
      const { status, body, text } = await bounded(client.get('/transactions', { state, limit: '500' }))
      if (status !== 200) throw new Error(`/transactions answered ${status}: ${text}`)
      return Number(body.transactions.length)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
