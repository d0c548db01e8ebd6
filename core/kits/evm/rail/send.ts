import { hexlify } from 'ethers/utils'
import type { At, Reception, RefusalMeaning, Sealed } from '../../../contracts/index.ts'
import { meaningOfSending, quoteNode } from './wordings.ts'
import type { Meaning } from './wordings.ts'
import type { Rpc } from '../types.ts'

type Answer = Awaited<ReturnType<Rpc['broadcast']>>[number]

/** The same bytes to every node; one that has them is enough. */
export async function send(rpc: Rpc, { id, raw }: Sealed, at: At): Promise<Reception> {
  try {
    return together((await rpc.broadcast({ id, raw: hexlify(raw) }, at)).map((answer) => judge(answer, id)))
  } catch (error) {
    return { is: 'unclear', reason: error instanceof Error ? error.message : 'the nodes could not be asked' }
  }
}

/** A refusal counts only when every node said so: one that did not answer may have taken it. */
function together(judged: readonly Reception[]): Reception {
  const others = judged.flatMap((each) => (each.is === 'accepted' ? [] : each))
  if (others.length < judged.length) return { is: 'accepted' }
  const is = others.length > 0 && others.every((each) => each.is === 'refused') ? 'refused' : 'unclear'
  const reason = [...new Set(others.map((each) => each.reason))].join('; ')
  const meaning = telling.find((one) => others.some((each) => each.meaning === one))
  return { is, reason: reason === '' ? 'no node was asked' : reason, ...(meaning && { meaning }) }
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

/** Where nodes differ, the first of these is what there is to know. */
const telling: readonly RefusalMeaning[] = ['slot-used', 'unfunded', 'underpriced', 'outbid', 'invalid', 'slot-ahead', 'not-now']

function judge(answer: Answer, id: string): Reception {
  if ('unreachable' in answer) return { is: 'unclear', reason: answer.unreachable }
  if (!answer.error) {
    if (String(answer.result).toLowerCase() === id.toLowerCase()) return { is: 'accepted' }
    return {
      is: 'unclear',
      reason: `a node answered with something else than the hash: ${quoteNode(JSON.stringify(answer.result ?? null))}`,
    }
  }
  const meaning = meaningOfSending(answer.error)
  if (meaning === 'known') return { is: 'accepted' }
  const reason = quoteNode(answer.error.message)
  // Words that nobody knows may mean anything.
  return { ...(meaning === undefined ? { is: 'unclear' } : verdicts[meaning]), reason }
}
