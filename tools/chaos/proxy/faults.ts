import { setTimeout as sleep } from 'node:timers/promises'
import type { Exchange, Trouble } from './fault-proxy.ts'
import { staleHead } from './stale-head.ts'

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
