import type { At, Json, Sighting } from '../../../contracts/index.ts'
import type { Rpc, RpcAnswer } from '../../nodes/types.ts'
import { createRemembered } from '../../rails/remembered.ts'
import { finalDepth } from '../network.ts'
import { readTransaction, receiptOfStatus, transactionOptions } from '../reading/receipt.ts'
import type { SolanaReceipt } from '../../../../kits/solana/types.ts'
import { whyFailed } from './why-failed.ts'

interface Found {
  id: string
  slot: number
  depth: number
  err: Json
}

/** For one look; the others have their turn at the next. */
const mostAtOnce = 64
/** Every node was asked so often for the receipt of what is final, and none has it: there is none to be had. */
const mostInVain = 10

/**
 * Tells what landed, with its receipt: asked for once. One whose receipt no node has yet is told with a later look: what is told as final
 * is not looked at again, and its receipt says what it gave and cost.
 */
export function createReceipts(rpc: Rpc) {
  const known = createRemembered<SolanaReceipt>()
  const inVain = createRemembered<number>()
  const keyOf = ({ id, slot }: Pick<Found, 'id' | 'slot'>) => `${id}/${slot}`
  const triesOf = (each: Found) => inVain.get(keyOf(each)) ?? 0
  const isUnknown = (each: Found) => !known.get(keyOf(each))

  return async function tell(found: readonly Found[], at: At): Promise<readonly Sighting[]> {
    const unknown = found
      .filter((each) => isUnknown(each) && triesOf(each) < mostInVain)
      .toSorted((a, b) => triesOf(a) - triesOf(b))
      .slice(0, mostAtOnce)
    learn(unknown, await rpc.batch(callsFor(unknown), at))
    // The node in use may keep no history.
    const late = unknown.filter((each) => each.depth >= finalDepth && isUnknown(each))
    const answered = late.length === 0 ? [] : await rpc.everyone((ask) => ask(callsFor(late)), at)
    for (const answers of answered) learn(late, answers)
    if (answered.length > 0) for (const each of late) inVain.set(keyOf(each), triesOf(each) + 1)
    return found.map((each) => sightingOf(each, known.get(keyOf(each)) ?? (triesOf(each) < mostInVain ? undefined : withoutReceipt(each))))
  }

  function learn(asked: readonly Found[], answers: readonly RpcAnswer[]): void {
    for (const [index, each] of asked.entries()) {
      const { receipt } = readTransaction(each.id, answers[index]?.result) ?? {}
      // Another slot's is of a block that is taken back, or of the one that came in its place.
      if (receipt?.slot === each.slot) known.set(keyOf(each), receipt)
    }
  }
}

const callsFor = (found: readonly Found[]) => found.map(({ id }) => ({ method: 'getTransaction', params: [id, transactionOptions] }))

const withoutReceipt = ({ id, slot, err }: Found): SolanaReceipt => receiptOfStatus(id, slot, err)

function sightingOf({ id, slot, depth }: Found, receipt: SolanaReceipt | undefined): Sighting {
  if (!receipt) return { id, is: 'pending', underpriced: false }
  const ok = receipt.status === 1
  return { id, is: 'landed', ok, blockNumber: slot, depth, receipt, ...(!ok && { reason: whyFailed(receipt.err, receipt.logs) }) }
}
