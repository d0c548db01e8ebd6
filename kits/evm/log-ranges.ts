// Logs of many blocks, in ranges that the node takes.
import { toQuantity } from 'ethers/utils'
import { SluiceError, type At, type BlockRange } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { parseLog } from './receipts.ts'
import type { FoundLog, LogFilter } from './types.ts'

/** How many blocks back logs are read: older ones need an indexer. */
const maxBlocksBack = 100_000
/** The oldest block that logs are read of, while this is the newest. */
export const firstBlockOfLogs = (newest: bigint): number => Math.max(0, Number(newest) - maxBlocksBack + 1)
/** The limit of public nodes for one call, if they have any. What a node takes less is learned. */
const defaultBlocksPerCall = 10_000
/** Of one question. A plan that takes a few blocks at a time does not give a hundred thousand. */
const maxLogCalls = 2_500

/** Reads logs from a block on, of the newest 100,000 blocks only, in ranges that the node takes. @throws SluiceError NETWORK where these are too small */
export function findLogs(
  rpc: ReadRpc,
  { address, topics, fromBlock }: LogFilter,
  newest: bigint,
  at: At,
  blocksPerCall = defaultBlocksPerCall,
): Promise<readonly FoundLog[]> {
  const last = Number(newest)
  const range = { from: Math.max(fromBlock, firstBlockOfLogs(newest), last - blocksPerCall * 10 + 1), to: last }
  // The last one includes blocks that came meanwhile.
  return readLogs(rpc, { address, topics }, { ...range, isToNewest: true }, (answer) => logsIn(rpc, answer), at, blocksPerCall)
}

/**
 * Logs of a range of blocks, oldest first. @throws SluiceError NETWORK where the node gives too few blocks at a time, and whatever `read` throws
 * @param isToNewest with those that came meanwhile
 * @param read reads the answer for a part of the range
 */
export async function readLogs<L>(
  rpc: ReadRpc,
  filter: object,
  { isToNewest, ...whole }: BlockRange & { isToNewest?: true },
  read: (answer: RpcAnswer) => readonly L[],
  at: At,
  blocksPerCall = defaultBlocksPerCall,
): Promise<readonly L[]> {
  let calls = 0
  const readParts = async (ranges: readonly BlockRange[]): Promise<readonly L[]> => {
    if (ranges.length === 0) return []
    calls += ranges.length
    const answers = await rpc.batch(
      ranges.map(({ from, to }) => ({
        method: 'eth_getLogs',
        params: [{ ...filter, fromBlock: toQuantity(from), toBlock: isToNewest && to === whole.to ? 'latest' : toQuantity(to) }],
        size: to - from + 1,
      })),
      at,
    )
    const found: L[] = []
    // One after the other: what the first teaches of the node's limit counts for the others, and the logs stay in the order of blocks.
    for (const [index, answer] of answers.entries()) {
      const range = ranges[index] ?? whole
      const blocks = blocksIn(range)
      if (answer.error?.fault?.is !== 'too-large' || blocks === 1) {
        for (const log of read(answer)) found.push(log)
        continue
      }
      const taken = Math.min(answer.error.max ?? Infinity, Math.ceil(blocks / 2))
      if (blocksIn(whole) / taken > maxLogCalls || calls > maxLogCalls) throw rangesTooSmall(rpc, taken, blocksIn(whole))
      for (const log of await readParts(piecesOf(range, taken))) found.push(log)
    }
    return found
  }
  return readParts(piecesOf(whole, blocksPerCall))
}

function piecesOf({ from, to }: BlockRange, blocks: number): readonly BlockRange[] {
  return Array.from({ length: Math.max(0, Math.ceil(blocksIn({ from, to }) / blocks)) }, (_, index) => ({
    from: from + index * blocks,
    to: Math.min(to, from + (index + 1) * blocks - 1),
  }))
}

const blocksIn = ({ from, to }: BlockRange) => to - from + 1

function rangesTooSmall(rpc: ReadRpc, taken: number, needed: number): SluiceError {
  return new SluiceError(
    'NETWORK',
    `The RPC node ${rpc.url()} gives logs of about ${taken} blocks at a time, and those of ${needed} are needed: use a larger plan of its provider, or another node.`,
    { retryAfterSeconds: 60 },
  )
}

function logsIn(rpc: ReadRpc, answer: RpcAnswer): readonly FoundLog[] {
  const raw = resultOf(rpc, 'eth_getLogs', answer)
  const logs = Array.isArray(raw) ? raw.map(parseLog) : [undefined]
  return logs.map((log) => {
    if (!log) throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
    return log
  })
}
