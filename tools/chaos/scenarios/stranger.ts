import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../bots/ask.ts'
import { sendForeign } from '../chain/foreign.ts'
import { signedBytes } from '../checker/signed-bytes.ts'
import type { Random } from '../random.ts'
import { createWorld, type World } from '../world.ts'
import type { Scenario } from './scenario.ts'

/** Time for a server to go on with what follows from a block that it has seen. */
const blockMs = 600
/** Longer than any machine needs for that. */
const patienceMs = 15_000
/** Two blocks to see it by, one for what fills the gap, one for those that waited behind it, and one of grace for the machine. */
const allowed = 5
const trades = 4

/** Another program sends from the wallet in the middle of ours; then its transaction is mined, or goes away and leaves a gap. */
export const stranger: Scenario<{ rounds: number }> = {
  name: 'stranger',
  small: { rounds: 2 },
  full: { rounds: 50 },
  async run({ rounds }, random, judge) {
    const world = await createWorld({ random })
    world.chain.pace(0)
    return judge(world, async () => {
      for (let round = 0; round < rounds; round += 1) await meet(world, round % world.wallets.length, random.fork(round))
      return { 'blocks until healed': world.recorder.healed.map(({ blocks }) => blocks).join(' ') }
    })
  },
}

async function meet(world: World, index: number, random: Random): Promise<void> {
  const { chain, recorder } = world
  const wallet = world.wallets[index] ?? ''
  const before = random.below(trades)
  await tradeOneByOne(world, wallet, before)
  const txHash = await sendForeign(chain, index, random)
  recorder.foreign.add(txHash)
  await tradeOneByOne(world, wallet, trades - before)
  const leaves = random.chance(0.6)
  if (leaves) await chain.rpc('anvil_dropTransaction', txHash)

  const used = async () => Number(await chain.rpc('eth_getTransactionCount', wallet, 'latest'))
  const top = topNonce(world, wallet) + 1
  let blocks = 0
  for (; (await used()) < top && blocks < 3 * allowed; blocks += 1) {
    const seen = world.proxy.acts.begun
    await chain.mine(1)
    await actedSince(world, seen)
  }
  recorder.healed.push({ trouble: `another program's transaction ${leaves ? 'went away' : 'came between'}`, wallet, blocks, allowed })
}

/** Blocks of a real chain leave a server the time to act on each: until it has looked, and nothing follows any more. */
async function actedSince({ proxy: { acts } }: World, seen: number): Promise<void> {
  let last = seen
  for (const end = performance.now() + patienceMs; performance.now() < end;) {
    await sleep(blockMs)
    if (acts.begun > seen && acts.begun === last && acts.underWay === 0) return
    last = acts.begun
  }
}

function topNonce({ proxy }: World, wallet: string): number {
  return Math.max(...signedBytes({ journal: [], sent: proxy.sent }).flatMap(({ from, nonce }) => (from === wallet ? nonce : [])))
}

async function tradeOneByOne(world: World, wallet: string, count: number): Promise<void> {
  for (let traded = 0; traded < count; traded += 1) await ask(world, world.recorder.newRequest({ op: 'trade', wallet }))
}
