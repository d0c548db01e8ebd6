import { setTimeout as sleep } from 'node:timers/promises'
import type { Exchange, Trouble, RpcCall } from './fault-proxy.ts'

const wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {})
const cut = ({ request }: Exchange) => request.socket.destroy()

/** What nodes, and the networks on the way to them, do on bad days. */
export const faults: Readonly<Record<string, Trouble>> = {
  delay: {
    ofSends: 0.7,
    ofOthers: 0.4,
    async fault({ random, over, deliver, answer }) {
      // On the way there or on the way back.
      const [before, after] = random.chance(0.5) ? [random.between(20, 1500), 0] : [0, random.between(20, 1500)]
      await wait(before, over)
      const answers = await deliver()
      await wait(after, over)
      answer(answers)
    },
  },
  'cut after sending': {
    ofSends: 0.8,
    ofOthers: 0.1,
    async fault(exchange) {
      await exchange.deliver()
      cut(exchange)
    },
  },
  'cut before sending': { ofSends: 0.7, ofOthers: 0.1, fault: cut },
  '429': {
    ofSends: 0.6,
    ofOthers: 0.1,
    fault: ({ response }) => response.writeHead(429, { 'retry-after': '1' }).end('{"error":"too many requests"}'),
  },
  '5xx': {
    ofSends: 0.6,
    ofOthers: 0.1,
    async fault({ random, response, deliver }) {
      // A gateway may fail with the answer in its hand.
      if (random.chance(0.5)) await deliver()
      response.writeHead(random.pick([500, 502, 503, 504])).end('<html>Bad Gateway</html>')
    },
  },
  garbage: {
    ofSends: 0.6,
    ofOthers: 0.1,
    async fault({ random, response, deliver }) {
      const answers = JSON.stringify(random.chance(0.7) ? await deliver() : [])
      const bodies = [
        '',
        'null',
        '[]',
        '{}',
        '<html></html>',
        answers.slice(0, -5),
        '{"jsonrpc":"2.0","id":0,"result":"0x0"}',
        '\u0000\u0001\u00ff',
      ]
      response.writeHead(200, { 'content-type': 'application/json' }).end(random.pick(bodies))
    },
  },
  'half-open': {
    ofSends: 0.5,
    ofOthers: 0.05,
    async fault(exchange) {
      if (exchange.random.chance(0.5)) await exchange.deliver()
      await wait(60_000, exchange.over)
      cut(exchange)
    },
  },
  'stale head': { ofSends: 0.5, ofOthers: 0.5, fault: staleHead },
  'wrong nonce': {
    ofSends: 0.5,
    ofOthers: 0.5,
    async fault({ calls, random, deliver, answer }) {
      const answers = await deliver()
      const by = random.pick([-5, -2, -1, 1, 2, 5])
      answer(answers.map((each, index) => (calls[index]?.method === 'eth_getTransactionCount' ? shifted(each, by) : each)))
    },
  },
  'duplicate delivery': {
    ofSends: 0.7,
    ofOthers: 0.5,
    async fault({ random, deliver, answer }) {
      const both = await Promise.all([deliver(), sleep(random.between(0, 50)).then(() => deliver())])
      answer(random.pick(both))
    },
  },
  reordered: {
    ofSends: 0.8,
    ofOthers: 0.5,
    async fault({ sends, random, over, deliver, answer }) {
      if (sends) await wait(random.between(0, 400), over)
      answer(random.shuffled(await deliver()))
    },
  },
}

function shifted(answer: unknown, by: number): unknown {
  const result: unknown = Reflect.get(Object(answer), 'result')
  if (typeof result !== 'string') return answer
  return { ...Object(answer), result: `0x${Math.max(0, Number(result) + by).toString(16)}` }
}

/** The node is some blocks behind: it knows nothing of what came after, and says so with a straight face. */
async function staleHead({ calls, random, deliver, answer }: Exchange): Promise<void> {
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
