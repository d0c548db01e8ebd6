// The logs of a block taken into pools in memory, through the whole of what follows a network; and the same logs decoded and forgotten.
import { Interface } from 'ethers'
import type { Head } from '../../../core/contracts/index.ts'
import type { FoundLog } from '../../../kits/evm/index.ts'
import { parseLog } from '../../../kits/evm/receipts.ts'
import { followedPools } from '../../../kits/amm/pool-amm.ts'
import type { CachedPool } from '../../../kits/pools/pricing.ts'
import type { PoolProtocol } from '../../../kits/amm/index.ts'
import { v2Protocol } from '../../../kits/amm/v2/pools.ts'
import { v3Events } from '../../../kits/amm/v3/index.ts'
import { getSqrtRatioAtTick } from '../../../kits/amm/v3/math.ts'
import { TickTable } from '../../../kits/amm/v3/swap.ts'
import { v3Protocol } from '../../../kits/amm/v3/pools.ts'
import { createSynchroniser, type Synchroniser } from '../../../core/live-state/synchroniser.ts'
import { createStateSource } from '../../../core/live-state/tracked-states.ts'
import { keeping } from '../../../test/live-state/keeping.ts'
import { serve } from '../child.ts'
import { median } from '../measuring.ts'

/** Of what is logged. */
export type Kind = 'Sync' | 'Swap' | 'Mint and Burn'

export interface Blocks {
  kind: Kind
  /** The text of a node's answer, or logs that were read of it. */
  from: 'answer' | 'logs'
  blocks: number
}

const pools = 1_000
const someone = '0x0000000000000000000000000000000000000009'
const tokens = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002'] as const
const origin = { factory: '0x0000000000000000000000000000000000000003', initCodeHash: `0x${'00'.repeat(32)}` }
const addresses = Array.from({ length: pools }, (_, index) => `0x${(0x5eed_0000 + index * 7919).toString(16).padStart(40, 'a')}`)
const abi = new Interface([...v3Events, 'event Sync(uint112 reserve0, uint112 reserve1)'])
const swapName = 'Swap(address,address,int256,int256,uint160,uint128,int24)'
const spacing = 60
const heldRaw = 10n ** 22n

/** Ten positions about the price of 1, as wide as twenty ticks and more. */
const bounds = Array.from({ length: 20 }, (_, index) => (index - 10) * spacing * 2)
const ticks = new TickTable(-100 * spacing, 100 * spacing, bounds, {
  gross: () => heldRaw,
  net: (index) => (index < 10 ? heldRaw : -heldRaw),
})
const ranged = { sqrtPriceX96: getSqrtRatioAtTick(30), tick: 30, liquidity: heldRaw * 10n, fee: 3000, tickSpacing: spacing, ticks }
const kept: Readonly<Record<Kind, { protocol: PoolProtocol; state: unknown }>> = {
  Sync: { protocol: v2Protocol('v2', [3n, 1000n], origin), state: { reserve0Raw: heldRaw, reserve1Raw: heldRaw } },
  Swap: { protocol: v3Protocol({ version: 'v3', fees: [3000], ...origin }), state: ranged },
  'Mint and Burn': { protocol: v3Protocol({ version: 'v3', fees: [3000], ...origin }), state: ranged },
}

/** What one pool logs in a block; positions come and go by turns. */
function logOf(kind: Kind, block: number, index: number): Pick<FoundLog, 'topics' | 'data'> {
  const amountRaw = heldRaw + BigInt(block * pools + index)
  if (kind === 'Sync') return abi.encodeEventLog('Sync', [amountRaw, amountRaw * 3n])
  const tick = (index % 100) - 50
  if (kind === 'Swap')
    return abi.encodeEventLog(swapName, [someone, someone, amountRaw, -amountRaw, getSqrtRatioAtTick(tick), amountRaw, tick])
  const at = [((index % 40) - 20) * spacing, ((index % 40) - 10) * spacing]
  return block % 2 === 0
    ? abi.encodeEventLog('Mint', [someone, someone, ...at, heldRaw, heldRaw, heldRaw])
    : abi.encodeEventLog('Burn', [someone, ...at, heldRaw, heldRaw, heldRaw])
}

/** A few blocks that are logged again and again. */
const turns = 4
const [numberHere, hashHere] = ['NUMBER', 'HASH']
const texts = new Map<Kind, readonly string[]>()
const hash = `0x${'cd'.repeat(32)}`

/** As a node gives them, of a block: no string is one that was seen before. */
function answerOf(kind: Kind, { number, hash: blockHash = '' }: Head): string {
  const known = texts.get(kind) ?? Array.from({ length: turns }, (_, turn) => JSON.stringify(rawLogs(kind, turn)))
  texts.set(kind, known)
  return (known[Number(number) % turns] ?? '').replaceAll(numberHere, `0x${number.toString(16)}`).replaceAll(hashHere, blockHash)
}

const rawLogs = (kind: Kind, turn: number) =>
  addresses.map((address, index) => ({
    address,
    ...logOf(kind, turn, index),
    blockHash: hashHere,
    blockNumber: numberHere,
    transactionHash: hash,
    transactionIndex: `0x${index.toString(16)}`,
    logIndex: `0x${index.toString(16)}`,
    removed: false,
  }))

/** As the kit reads them. */
function logsIn(answer: string): readonly FoundLog[] {
  const raw = JSON.parse(answer) as unknown[]
  return raw.flatMap((each) => parseLog(each) ?? [])
}

export type BlockLogsProcess = typeof handlers
const handlers = serve({ apply, decode, decodeByLibrary })

/** Microseconds of a block, of those in the middle, from what is told of it to who is told that states have moved. */
async function apply({ kind, from, blocks }: Blocks): Promise<number> {
  const chain = createChain()
  const subject = { chain: 'ethereum', network: 'local', connector: 'uniswap' }
  const telemetry = {
    trouble: (_: unknown, what: string, reason: string) => {
      throw new Error(`${what}: ${reason}`)
    },
    check() {},
    update() {},
  }
  const sync = createSynchroniser({ chain, subject, telemetry, ...keeping, maxKeys: pools })
  try {
    const source = createStateSource(subject, followedOf(kind))
    await Promise.all(addresses.map((address) => sync.read(source, address, { signal: AbortSignal.timeout(10_000) })))
    const micros: number[] = []
    for (let block = 0; block < blocks; block += 1) {
      const answer = answerOf(kind, chain.next)
      chain.told = from === 'answer' ? answer : logsIn(answer)
      micros.push(await timeOfBlock(sync, chain.make))
    }
    return median(micros)
  } finally {
    sync.stop()
  }
}

function timeOfBlock(sync: Synchroniser, make: () => void): Promise<number> {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    const end = sync.onChange(() => {
      end()
      resolve((performance.now() - startedAt) * 1000)
    })
    make()
  })
}

/** All pools have been read before: nothing is asked of a node. */
function followedOf(kind: Kind) {
  const { protocol, state } = kept[kind]
  const { memory } = protocol
  if (!memory) throw new Error('Such pools are not kept in memory.')
  const unread = { read: () => Promise.reject(new Error('Nothing is read of the chain.')) }
  return {
    ...followedPools(protocol, memory, unread),
    load: async (keys: readonly string[], head: Head) => {
      const held = (address: string): CachedPool<PoolProtocol> => ({ protocol, pool: { address, tokens, state } })
      return { head, states: new Map(keys.map((key) => [key, held(key)])) }
    },
  }
}

/** A chain of blocks that each have what was put down. */
function createChain() {
  const headAt = (number: bigint) => ({
    number,
    timestamp: Number(number),
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    parentHash: `0x${(number - 1n).toString(16).padStart(64, '0')}`,
  })
  let tip = headAt(1n)
  let told: string | readonly FoundLog[] = []
  let wake = () => {}
  return {
    local: true,
    get next(): Head {
      return headAt(tip.number + 1n)
    },
    set told(what: string | readonly FoundLog[]) {
      told = what
    },
    make() {
      tip = headAt(tip.number + 1n)
      wake()
    },
    head: async () => tip,
    async *heads(signal: AbortSignal) {
      signal.addEventListener('abort', () => wake(), { once: true })
      while (!signal.aborted) {
        yield tip
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    changes: async (_after: Head, to: Head) => [{ head: to, changes: typeof told === 'string' ? logsIn(told) : told }],
  }
}

/**
 * Microseconds of a block, of those in the middle: the answer is read as the kit reads it, where it is not read yet, and each word of topics
 * and data becomes a number, which is the least that decodes.
 */
function decode({ kind, from, blocks }: Blocks): number {
  return decoded(kind, blocks, (answer, logs) => {
    const read = from === 'answer' ? logsIn(answer) : logs
    return read.reduce((seen, log) => seen + words(log).length, 0)
  })
}

/** The same by ethers, which gives each event's arguments by name, of logs that were read. */
function decodeByLibrary({ kind, blocks }: Blocks): number {
  return decoded(kind, blocks, (_answer, logs) => logs.reduce((seen, log) => seen + (abi.parseLog(log)?.args.length ?? 0), 0))
}

/** @param take what is measured; gives how many words it has decoded */
function decoded(kind: Kind, blocks: number, take: (answer: string, logs: readonly FoundLog[]) => number): number {
  const micros: number[] = []
  let seen = 0
  for (let block = 0; block < blocks; block += 1) {
    const answer = answerOf(kind, { number: BigInt(block), hash, timestamp: block })
    const logs = logsIn(answer)
    const startedAt = performance.now()
    seen += take(answer, logs)
    micros.push((performance.now() - startedAt) * 1000)
  }
  if (seen < blocks * pools) throw new Error(`Of ${blocks * pools} logs only ${seen} words were decoded.`)
  return median(micros)
}

function words({ topics, data }: FoundLog): readonly bigint[] {
  const numbers: bigint[] = []
  for (let topic = 1; topic < topics.length; topic += 1) numbers.push(BigInt(topics[topic] ?? '0x0'))
  for (let at = 2; at < data.length; at += 64) numbers.push(BigInt(`0x${data.slice(at, at + 64)}`))
  return numbers
}
