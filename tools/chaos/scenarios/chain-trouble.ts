import { setTimeout as sleep } from 'node:timers/promises'
import { HDNodeWallet, keccak256 } from 'ethers'
import { ask } from '../ask.ts'
import type { Chain } from '../chain/chain.ts'
import { signedBytes } from '../checker/known.ts'
import type { Random } from '../random.ts'
import { amid } from '../traffic.ts'
import { createWorld, type World } from '../world.ts'
import type { Scenario } from './scenario.ts'

interface Size {
  trades: number
  /** Of depth 1 to 5 each. */
  reorganisations: number
  /** Of each other kind of trouble. */
  others: number
}

export const usualBaseFee = 10n * 10n ** 9n

/** What happens to chains: blocks are taken back, fees rise, mempools forget, nodes restart, and others spend from the wallet. */
export const chainTrouble: Scenario<Size> = {
  name: 'chain trouble',
  small: { trades: 30, reorganisations: 3, others: 1 },
  full: { trades: 1000, reorganisations: 100, others: 25 },
  async run({ trades, reorganisations, others }, random, judge) {
    const world = await createWorld({ random })
    world.chain.holdBaseFee(usualBaseFee)
    const times = (count: number, name: keyof typeof chainTroubles) => Array.from({ length: count }, () => name)
    const programme = random
      .fork('programme')
      .shuffled([
        ...times(reorganisations, 'reorganisation'),
        ...times(others, 'fees'),
        ...times(others, 'another program'),
        ...times(others, 'mempool'),
        ...times(others, 'restart'),
      ])
    return judge(world, () =>
      amid(world, { trades, parallel: 5, pauseMs: 100 }, random, async (own) => {
        for (const [index, name] of programme.entries()) {
          await sleep(own.between(200, 1500))
          await chainTroubles[name](world, own.fork(index))
        }
        world.chain.holdBaseFee(usualBaseFee)
        return { reorganisations, 'of each other trouble': others }
      }),
    )
  },
}

/** One of each kind. */
export const chainTroubles = {
  reorganisation: ({ chain }: World, random: Random) => chain.reorganise(random.between(1, 5)),

  /** Tenfold, for longer than a transaction waits before it is bumped. */
  async fees({ chain }: World, random: Random) {
    chain.holdBaseFee(usualBaseFee * 10n)
    await sleep(random.between(1000, 6000))
    chain.holdBaseFee(usualBaseFee)
  },

  async 'another program'({ chain, wallets, recorder }: World, random: Random) {
    recorder.foreign.add(await sendForeign(chain, random.below(wallets.length), random))
  },

  async mempool({ chain }: World) {
    await chain.rpc('anvil_dropAllTransactions')
  },

  restart: ({ chain }: World) => chain.restart(),
}

/** Time for a server to go on with what follows from a block that it has seen, on a busy machine. */
const blockMs = 1_500
/** Longer than any machine needs for that. */
const patienceMs = 30_000
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

const mnemonic = 'test test test test test test test test test test test junk'
const nowhere = '0x000000000000000000000000000000000000dEaD'
const gwei = 10n ** 9n

/**
 * Another program has the key of one of the devnet's wallets and sends by it, past the servers: on the next nonce that the node
 * would give it, or on one that ours wait on. Gives the hash, of bytes that the node may have refused.
 */
async function sendForeign(chain: Chain, wallet: number, random: Random): Promise<string> {
  const signer = HDNodeWallet.fromPhrase(mnemonic, undefined, `m/44'/60'/0'/0/${wallet}`)
  const nonce = Number(await chain.rpc('eth_getTransactionCount', signer.address, random.pick(['pending', 'latest'])))
  const tip = BigInt(random.between(2, 20)) * gwei
  const fees = { maxFeePerGas: (await chain.baseFee()) * 3n + tip, maxPriorityFeePerGas: tip }
  const raw = await signer.signTransaction({ type: 2, chainId: 31337, nonce, to: nowhere, value: 0, gasLimit: 21_000, ...fees })
  // "replacement underpriced" is the other program's trouble.
  await chain.rpc('eth_sendRawTransaction', raw).catch(() => {})
  return keccak256(raw)
}
