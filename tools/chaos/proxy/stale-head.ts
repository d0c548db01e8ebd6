import type { Exchange, RpcCall } from './fault-proxy.ts'

/** The node is some blocks behind: it knows nothing of what came after, and says so with a straight face. */
export async function staleHead({ calls, random, deliver, answer }: Exchange): Promise<void> {
  const [height] = await deliver([{ id: 0, method: 'eth_blockNumber', params: [] }])
  const head = Math.max(1, Number(Reflect.get(Object(height), 'result')) - random.between(1, 4))
  const answers = await deliver(calls.map((call) => asOf(call, head)))
  answer(answers.map((each, index) => withoutLater(calls[index], each, head)))
}

const quantity = (number: number) => `0x${number.toString(16)}`

/** Where the call names the newest block, the older one stands. */
function asOf(call: RpcCall, head: number): RpcCall {
  return { ...call, params: call.params.map((each) => (each === 'latest' || each === 'pending' ? quantity(head) : each)) }
}

function withoutLater(call: RpcCall | undefined, answer: unknown, head: number): unknown {
  const result: unknown = Reflect.get(Object(answer), 'result')
  if (call?.method === 'eth_blockNumber') return { ...Object(answer), result: quantity(head) }
  const block: unknown = Reflect.get(Object(result), 'blockNumber')
  if (typeof block !== 'string' || Number(block) <= head) return answer
  if (call?.method === 'eth_getTransactionReceipt') return { ...Object(answer), result: null }
  if (call?.method === 'eth_getTransactionByHash')
    return { ...Object(answer), result: { ...Object(result), blockNumber: null, blockHash: null, transactionIndex: null } }
  return answer
}
