import { hexlify } from 'ethers/utils'
import type { At, Reception, RefusalMeaning, Sealed } from '../../../contracts/index.ts'
import { quoteNode } from '../../nodes/quote-node.ts'
import { sendToAll } from '../../nodes/send-to-all.ts'
import type { Rpc, RpcAnswer } from '../../nodes/types.ts'
import { meaningOfSending } from '../../../../kits/evm/node-errors.ts'
import type { Meaning } from '../../../../kits/evm/node-errors.ts'

/** The same bytes to every node; one that has them is enough. */
export function send(rpc: Rpc, { id, raw }: Sealed, at: At): Promise<Reception> {
  const isTaken = (result: unknown) => String(result).toLowerCase() === id.toLowerCase()
  return sendToAll(rpc, { id, raw: hexlify(raw) }, { isTaken, error: judge }, at)
}

/** What a node says of the bytes, for those who do not know EVM; `unclear` is what may be said of bytes that are in a pool or a block. */
const verdicts: Readonly<Record<Exclude<Meaning, 'known'>, { is: 'refused' | 'unclear'; meaning?: RefusalMeaning }>> = {
  // By this very transaction, it may be.
  'nonce-too-low': { is: 'unclear', meaning: 'slot-used' },
  'nonce-too-high': { is: 'refused', meaning: 'slot-ahead' },
  'replacement-underpriced': { is: 'refused', meaning: 'outbid' },
  'fee-too-low': { is: 'refused', meaning: 'underpriced' },
  'insufficient-funds': { is: 'refused', meaning: 'unfunded' },
  'out-of-gas': { is: 'refused', meaning: 'invalid' },
  'not-now': { is: 'refused', meaning: 'not-now' },
  invalid: { is: 'refused', meaning: 'invalid' },
  // A pool runs nothing; whoever says this does more than take transactions, and nobody knows what.
  reverted: { is: 'unclear' },
}

function judge(error: NonNullable<RpcAnswer['error']>): Reception {
  const meaning = meaningOfSending(error)
  if (meaning === 'known') return { is: 'accepted' }
  const reason = quoteNode(error.message)
  // Words that nobody knows may mean anything.
  return { ...(meaning === undefined ? { is: 'unclear' } : verdicts[meaning]), reason }
}
