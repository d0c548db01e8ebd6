import { setTimeout as sleep } from 'node:timers/promises'
import { minedSince, nextNonces } from './chain/facts.ts'
import { bounded } from './bots/bounded.ts'
import { persist } from './bots/persist.ts'
import type { History } from './history.ts'
import { dumpJournal } from './journal-dump.ts'
import type { Random } from './random.ts'
import { confirmations, type World } from './world.ts'

/** I6: within the confirmation depth plus so many blocks. */
const extraBlocks = 5
/** The network has a block a second. What is in a block waits for nothing but the next ones, which need not take so long. */
const blockMs = 1000
const hastyBlockMs = 400
const waitingStates = ['QUEUED', 'SIGNED', 'BROADCAST']
const openStates = [...waitingStates, 'MINED']

/**
 * The faults are over: asks for what is unknown, lets the blocks pass that what is open has to reach its end, ends the servers and
 * gives all there is to judge.
 */
export async function settle(world: World, random: Random): Promise<History> {
  const { chain, proxy, recorder, servers, wallets } = world
  proxy.become()
  // Blocks count from when the faults ended; nobody gets any for free.
  chain.pace(0)
  for (const [index, server] of servers.entries()) {
    // One that is still to die somewhere does it now.
    if (server?.dieAt) server.signal('SIGKILL')
    if (server?.dieAt) await server.ended
    if (!server || server.hasEnded()) await world.start(index)
  }
  await Promise.all(world.unresolved.map((request) => persist(world, request, random.fork(request.id), 30_000)))

  const allowed = confirmations + extraBlocks
  let blocks = 0
  while (blocks < allowed && (await count(world, openStates)) > 0) {
    await chain.mine(1)
    blocks += 1
    await sleep(hastyBlockMs)
    if ((await count(world, waitingStates)) > 0) await sleep(blockMs - hastyBlockMs)
  }
  // The last block has to be seen.
  for (let tries = 0; tries < 15 && (await count(world, openStates)) > 0; tries += 1) await sleep(200)

  await Promise.all(servers.map(async (each) => each?.stop()))
  world.lastWords.push(...servers.flatMap((each) => (each?.misbehaved() ? [each.log()] : [])))
  return {
    wallets,
    requests: recorder.requests,
    calls: recorder.calls,
    samples: recorder.samples,
    sent: proxy.sent,
    foreign: recorder.foreign,
    healed: recorder.healed,
    mined: await minedSince(chain, world.firstBlock, wallets),
    nextNonces: await nextNonces(chain, wallets),
    journal: await dumpJournal(world.home),
    settled: { blocks, allowed },
  }
}

async function count(world: World, states: readonly string[]): Promise<number> {
  const { client } = await world.someServer()
  const counts = await Promise.all(
    states.map(async (state) => {
      const { status, body, text } = await bounded(client.get('/transactions', { state, limit: '500' }))
      if (status !== 200) throw new Error(`/transactions answered ${status}: ${text}`)
      return Number(body.transactions.length)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
