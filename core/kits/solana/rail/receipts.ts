import type { At, Json, Sighting } from '../../../contracts/index.ts'
import type { Rpc } from '../../nodes/index.ts'
import { createRemembered } from '../../rails/index.ts'
import { finalDepth } from '../network.ts'
import { readTransaction, receiptOfStatus, transactionOptions } from '../reading/receipt.ts'
import type { SolanaReceipt } from '../types.ts'
import { whyFailed } from './why-failed.ts'

interface Found {
  id: string
  slot: number
  depth: number
  err: Json
}

/** For one look; the others have their turn at the next. */
const mostAtOnce = 64

/** Tells what landed, with its receipt: asked for once. One whose receipt no node has yet is told with the next look. */
export function createReceipts(rpc: Rpc) {
  const known = createRemembered<SolanaReceipt>()
  const keyOf = ({ id, slot }: Pick<Found, 'id' | 'slot'>) => `${id}/${slot}`

  return async function tell(found: readonly Found[], at: At): Promise<readonly Sighting[]> {
    const unknown = found.filter((each) => !known.get(keyOf(each))).slice(0, mostAtOnce)
    const answers = await rpc.batch(
      unknown.map(({ id }) => ({ method: 'getTransaction', params: [id, transactionOptions] })),
      at,
    )
    for (const [index, each] of unknown.entries()) {
      const { receipt } = readTransaction(each.id, answers[index]?.result) ?? {}
      // Another slot's is of a block that is taken back, or of the one that came in its place.
      if (receipt?.slot === each.slot) known.set(keyOf(each), receipt)
    }
    return found.map((each) => sightingOf(each, known.get(keyOf(each))))
  }
}

function sightingOf({ id, slot, depth, err }: Found, known: SolanaReceipt | undefined): Sighting {
  // What is final and has no receipt at nodes without history gets none any more.
  const receipt = known ?? (depth >= finalDepth ? receiptOfStatus(id, slot, err) : undefined)
  if (!receipt) return { id, is: 'pending', underpriced: false }
  const ok = receipt.status === 1
  return { id, is: 'landed', ok, blockNumber: slot, depth, receipt, ...(!ok && { reason: whyFailed(receipt.err, receipt.logs) }) }
}
