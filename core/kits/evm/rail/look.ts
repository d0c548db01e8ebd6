import { toQuantity } from 'ethers/utils'
import type { At, Head, Look, OpenAttempt, Sighting } from '../../../contracts/index.ts'
import { isObject, quantityOf } from '../quantity.ts'
import type { EvmFees } from './fees.ts'
import type { EvmSynced } from './slots.ts'
import { readReceipt } from '../reading/receipt.ts'
import type { Rpc, RpcAnswer } from '../types.ts'

type Attempt = OpenAttempt<string, number, EvmFees>

/** Nodes and providers take up to a thousand calls in a batch (geth `--rpc.batch-request-limit`), two for an attempt. */
const attemptsPerBatch = 400

/** Receipts, transactions and counts of all open attempts in one batch. */
export async function look(
  rpc: Rpc,
  confirmations: number,
  open: readonly Attempt[],
  head: Head,
  at: At,
): Promise<Look<string, EvmSynced>> {
  const sightings: Sighting[] = []
  const synced = new Map<string, EvmSynced>()
  for (let start = 0; start < open.length; start += attemptsPerBatch) {
    const part = await lookAt(rpc, confirmations, open.slice(start, start + attemptsPerBatch), head, at)
    sightings.push(...part.sightings)
    for (const [address, counts] of part.synced) synced.set(address, counts)
  }
  return { sightings, synced }
}

async function lookAt(rpc: Rpc, confirmations: number, open: readonly Attempt[], head: Head, at: At): Promise<Look<string, EvmSynced>> {
  const owners = [...new Set(open.map(({ from }) => from))]
  // What is mined up to here has all its confirmations.
  const depth = BigInt(confirmations - 1)
  const finalBlock = toQuantity(head.number > depth ? head.number - depth : 0n)
  const answers = await rpc.batch(
    [
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ...owners.flatMap((owner) =>
        [finalBlock, 'latest', 'pending'].map((tag) => ({ method: 'eth_getTransactionCount', params: [owner, tag] })),
      ),
      ...open.flatMap(({ id }) => ['eth_getTransactionReceipt', 'eth_getTransactionByHash'].map((method) => ({ method, params: [id] }))),
    ],
    at,
  )

  const block = answers[0]?.result
  const latest = {
    number: Number((isObject(block) ? quantityOf(block['number']) : undefined) ?? head.number),
    baseFeeRaw: (isObject(block) ? quantityOf(block['baseFeePerGas']) : undefined) ?? head.baseFeeRaw ?? 0n,
  }
  const counts = new Map(owners.map((owner, index) => [owner, answers.slice(1 + index * 3, 4 + index * 3).map(countOf)]))
  const found = answers.slice(1 + owners.length * 3)
  const sightings = open.flatMap(
    (attempt, index) => sight(attempt, latest, found[index * 2], found[index * 2 + 1], counts.get(attempt.from)?.[0]) ?? [],
  )

  const synced = new Map<string, EvmSynced>()
  for (const [owner, [final, mined, pending]] of counts) {
    if (final !== undefined && mined !== undefined && pending !== undefined) synced.set(owner, { final, latest: mined, pending })
  }
  return { sightings, synced }
}

/** Undefined where the node gave no answer that says anything. */
function sight(
  { id, slot, fees }: Attempt,
  latest: { number: number; baseFeeRaw: bigint },
  receipt: RpcAnswer | undefined,
  tx: RpcAnswer | undefined,
  finalCount: number | undefined,
): Sighting | undefined {
  if (!receipt || !tx || receipt.error || tx.error) return undefined
  if (receipt.result !== null) {
    const read = readReceipt(receipt.result)
    if (!read) return undefined
    return {
      id,
      is: 'landed',
      ok: read.status === 1,
      blockNumber: read.blockNumber,
      depth: Math.max(1, latest.number - read.blockNumber + 1),
      receipt: read,
    }
  }
  if (tx.result !== null) {
    // In a block whose receipts the node does not have yet: the next look tells.
    if (isObject(tx.result) && typeof tx.result['blockNumber'] === 'string') return undefined
    return { id, is: 'pending', underpriced: BigInt(fees.maxFeePerGas) < latest.baseFeeRaw }
  }
  return { id, is: finalCount !== undefined && finalCount > slot ? 'dead' : 'unseen' }
}

function countOf(answer: RpcAnswer | undefined): number | undefined {
  const count = quantityOf(answer?.result)
  return count === undefined ? undefined : Number(count)
}
