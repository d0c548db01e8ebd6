import { toQuantity } from 'ethers/utils'
import { nodeLied, resultOf } from '../../nodes/ask.ts'
import { type Rpc } from '../../nodes/types.ts'
import type { At } from '../../../contracts/index.ts'
import { numberOf } from '../quantity.ts'
import { isLog } from '../../../../kits/evm/receipts.ts'
import type { FoundLog, LogFilter } from '../../../../kits/evm/types.ts'

const mostCalls = 10
/** What public nodes look through in one call, where they have a limit at all. */
const blocksPerCall = 10_000

/** The newest 100,000 blocks since the one asked for, in one batch: who wants what is older asks somebody who keeps an index. */
export async function findLogs(
  rpc: Rpc,
  { address, topics, fromBlock }: LogFilter,
  newest: bigint,
  at: At,
  mostBlocks = blocksPerCall,
): Promise<readonly FoundLog[]> {
  const first = Math.max(fromBlock, 0, Number(newest) - mostBlocks * mostCalls + 1)
  const starts: number[] = []
  for (let start = first; start <= Number(newest); start += mostBlocks) starts.push(start)
  if (starts.length === 0) return []
  const answers = await rpc.batch(
    starts.map((start, index) => ({
      method: 'eth_getLogs',
      params: [
        {
          address,
          topics,
          fromBlock: toQuantity(start),
          // What came meanwhile counts, too.
          toBlock: index === starts.length - 1 ? 'latest' : toQuantity(start + mostBlocks - 1),
        },
      ],
    })),
    at,
  )
  return answers.flatMap((answer) => {
    const raw = resultOf(rpc, 'eth_getLogs', answer)
    const logs = Array.isArray(raw) ? raw.map(foundLog) : [undefined]
    return logs.map((log) => {
      if (!log) throw nodeLied(rpc, 'answered eth_getLogs with something else than logs')
      return log
    })
  })
}

/** Undefined where it is none. */
export function foundLog(raw: unknown): FoundLog | undefined {
  if (!isLog(raw)) return undefined
  const { address, topics, data, transactionHash } = raw
  const blockNumber = numberOf(raw['blockNumber'])
  if (blockNumber === undefined || typeof transactionHash !== 'string') return undefined
  return { address, topics, data, transactionHash, blockNumber }
}
