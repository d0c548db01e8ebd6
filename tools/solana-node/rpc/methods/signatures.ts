import { configOf, flagOf, listOf, signatureOf } from '../params.ts'
import { inContext, type View } from '../view.ts'
import type { Answer } from '../answer.ts'
import { resultOf } from '../encode/result.ts'
import type { Methods } from './method.ts'

/** So many blocks a node keeps the statuses of without a search in its history: solana-clock, MAX_RECENT_BLOCKHASHES. */
const statusCacheBlocks = 300n

export const signatureMethods: Methods = {
  getSignatureStatuses(view, [signatures, config]) {
    const { searchTransactionHistory } = configOf(config)
    const isDeep = flagOf(searchTransactionHistory)
    const statuses = listOf(signatures, 256).map((each) => status(view, signatureOf(each), isDeep))
    return inContext(view.block('processed'), statuses)
  },
}

function status(view: View, signature: ReturnType<typeof signatureOf>, isDeep: boolean): Answer {
  const found = view.find(signature)
  if (!found) return null
  const { block, landed } = found
  if (!isDeep && view.block('processed').height - block.height > statusCacheBlocks) return null
  return { slot: block.slot, ...view.standing(block), err: landed.outcome.error, status: resultOf(landed.outcome.error) }
}
