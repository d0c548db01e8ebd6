import type { At } from '../../contracts/index.ts'
import type { Dialect } from '../../../kits/nodes/dialect.ts'
import { NodeFailure } from './node/node-failure.ts'
import type { RpcNode } from '../../../kits/nodes/node.ts'
import type { RpcCall, Sent, Signed } from './types.ts'
import { withSignal } from './with-signal.ts'

/** The same signed bytes to every node at once; an answer of each, or of those that were first once one took them: the others have them too. */
export async function broadcast(nodes: readonly RpcNode[], { sendCall }: Dialect, { id, raw }: Signed, at: At): Promise<readonly Sent[]> {
  const call = sendCall(raw)
  const answers: Sent[] = nodes.map((node) => ({ unreachable: `${node.label} did not answer in time` }))
  await new Promise<void>((done) => {
    let open = nodes.length
    const take = (answer: Sent, index: number) => {
      answers[index] = answer
      open -= 1
      if (open === 0 || ('result' in answer && answer.result === id)) done()
    }
    for (const [index, node] of nodes.entries()) void sendTo(node, call, at).then((answer) => take(answer, index))
  })
  return [...answers]
}

/**
 * Never throws: what became of the bytes is for the caller to judge. A node in its backoff is tried too, for it may still listen;
 * only one that may serve another network is asked for that first.
 */
async function sendTo(node: RpcNode, call: RpcCall, at: At): Promise<Sent> {
  try {
    if (!node.verified()) await withSignal(node.check(), at.signal)
    const [answer] = await node.post([call], false, at)
    return answer ?? { unreachable: `${node.label} gave no answer` }
  } catch (error) {
    return { unreachable: error instanceof NodeFailure ? error.message : `${node.label} did not answer in time` }
  }
}
