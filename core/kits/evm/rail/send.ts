import { hexlify } from 'ethers/utils'
import type { At, Reception, Sealed } from '../../../contracts/index.ts'
import { meaningOf, quoteNode } from './wordings.ts'
import type { Rpc } from '../types.ts'

/** The same bytes to every node; one that has them is enough. */
export async function send(rpc: Rpc, { raw }: Sealed, at: At): Promise<Reception> {
  let answers: Awaited<ReturnType<Rpc['broadcast']>>
  try {
    answers = await rpc.broadcast(hexlify(raw), at)
  } catch (error) {
    return { is: 'unclear', reason: error instanceof Error ? error.message : 'the nodes could not be asked' }
  }
  const judged = answers.map(judge)
  // A refusal counts only when every node said so: one that did not answer may have taken it.
  return (
    judged.find(({ is }) => is === 'accepted') ??
    judged.find(({ is }) => is === 'unclear') ??
    judged[0] ?? { is: 'unclear', reason: 'no node was asked' }
  )
}

function judge(answer: Awaited<ReturnType<Rpc['broadcast']>>[number]): Reception {
  if ('unreachable' in answer) return { is: 'unclear', reason: answer.unreachable }
  if (!answer.error) return { is: 'accepted' }
  const meaning = meaningOf(answer.error)
  if (meaning === 'known') return { is: 'accepted' }
  const reason = quoteNode(answer.error.message)
  // Words that nobody knows may mean anything.
  return { is: meaning === undefined ? 'unclear' : 'refused', reason }
}
