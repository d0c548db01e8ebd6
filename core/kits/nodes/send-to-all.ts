import type { At, Reception, RefusalMeaning } from '../../contracts/index.ts'
import { quoteNode } from './quote-node.ts'
import type { Rpc, RpcAnswer, Sent, Signed } from './types.ts'

/** How a chain family reads what one node said to signed bytes. */
export interface Judge {
  /** The result of a node that has them. */
  isTaken(result: unknown): boolean
  error(error: NonNullable<RpcAnswer['error']>): Reception
}

/** The same bytes to every node; one that has them is enough. Settles whatever the nodes do. */
export async function sendToAll(rpc: Rpc, signed: Signed, judge: Judge, at: At): Promise<Reception> {
  try {
    return together((await rpc.broadcast(signed, at)).map((answer) => receptionOf(answer, judge)))
  } catch (error) {
    return { is: 'unclear', reason: error instanceof Error ? error.message : 'the nodes could not be asked' }
  }
}

function receptionOf(answer: Sent, judge: Judge): Reception {
  if ('unreachable' in answer) return { is: 'unclear', reason: answer.unreachable }
  if (answer.error) return judge.error(answer.error)
  if (judge.isTaken(answer.result)) return { is: 'accepted' }
  return {
    is: 'unclear',
    reason: `a node answered with something else than the hash: ${quoteNode(JSON.stringify(answer.result ?? null, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)))}`,
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

/** Where nodes differ, the first of these is what there is to know. */
const telling: readonly RefusalMeaning[] = ['slot-used', 'unfunded', 'underpriced', 'outbid', 'invalid', 'slot-ahead', 'not-now']
