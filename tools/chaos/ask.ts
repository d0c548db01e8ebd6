import { setTimeout as sleep } from 'node:timers/promises'
import { formatEther, formatUnits } from 'ethers'
import type { Answer, Client } from '../../testkit/client.ts'
import { orderIdOf } from './checker/orders.ts'
import type { Request, Call } from './history.ts'
import type { Random } from './random.ts'
import type { Server } from './servers/spawn-server.ts'
import type { Stage } from './stage.ts'

/** What is sent, but for the network. */
export interface Message {
  method: 'POST' | 'DELETE'
  path: string
  body: object
}

/** How requests are written. */
export interface Messages {
  one(request: Request): Message
  /** Several orders at once, and at most one that is to be cancelled. */
  together(requests: readonly Request[]): Message
}

export const post = (path: string, body: object): Message => ({ method: 'POST', path, body })

const book = { connector: 'oasis', market: 'WETH-USDC' }

function messageOf(request: Request): Message {
  const { id, op, wallet: address, connector = 'uniswap', token, order, valueRaw = 0n } = request
  if (op === 'cancel') return post('/evm/cancel', { address })
  if (op === 'speedUp') return post('/evm/speedUp', { address })
  if (op === 'create-token') return post('/altchain/create-token', { address, tokenSymbol: token })
  if (op === 'order') return post('/clob/orders', { ...book, address, ...orderBody(request) })
  if (op === 'cancel-order')
    return { method: 'DELETE', path: '/clob/orders', body: { ...book, address, clientOrderId: orderIdOf({ id: order ?? 0 }) } }
  const perp = { connector: 'perp', address }
  if (op === 'deposit' || op === 'withdraw') return post(`/perpAMM/${op}`, { ...perp, token: 'USDC', amount: formatUnits(valueRaw, 6) })
  const market = { base: 'ETH', quote: 'USD' }
  if (op === 'close') return post('/perpAMM/close', { ...perp, ...market })
  const amount = formatEther(valueRaw)
  if (connector !== 'perp') return post('/amm/trade', { connector, address, base: 'ETH', quote: 'USDC', amount, side: 'SELL' })
  // Up and down, so that some open, some reduce, and some turn what is there.
  return post('/perpAMM/open', { ...perp, ...market, amount, side: id % 3 === 0 ? 'LONG' : 'SHORT', margin: '10', leverage: '5' })
}

function batchOf(requests: readonly Request[]): Message {
  const { market, connector } = book
  const [first] = requests
  const cancel = requests.flatMap(({ op, order = 0 }) =>
    op === 'cancel-order' ? [{ market, clientOrderId: orderIdOf({ id: order }) }] : [],
  )
  const create = requests.flatMap((request) => (request.op === 'order' ? [{ market, ...orderBody(request) }] : []))
  return post('/clob/batchOrders', { connector, address: first?.wallet, create, cancel })
}

/** To the exchanges of the devnet. */
export const devnetMessages: Messages = { one: messageOf, together: batchOf }

/** Around one price, so that some meet and some rest. */
function orderBody({ id, valueRaw = 0n }: Request): object {
  const order = { side: id % 2 === 0 ? 'BUY' : 'SELL', amount: formatEther(valueRaw), clientOrderId: orderIdOf({ id }) }
  return id % 7 === 0 ? { ...order, orderType: 'MARKET' } : { ...order, orderType: 'LIMIT', price: String(2990 + ((id * 13) % 21)) }
}

interface Manner {
  /** Which server; any that runs, where none is named. */
  server?: number
  /** The bot hangs up after so long. */
  hangUpAfterMs?: number
}

/** Sends what a bot wants together: one request, or a batch. */
export const askAll = (stage: Stage, requests: readonly Request[], manner: Manner = {}): Promise<Call[]> => {
  const [only, ...more] = requests
  return only && more.length === 0 && !only.inBatch ? ask(stage, only, manner).then((call) => [call]) : askBatch(stage, requests, manner)
}

/** Sends a request once and keeps what came of it. */
export async function ask(stage: Stage, request: Request, manner: Manner = {}): Promise<Call> {
  const [call] = await tell(stage, [request], stage.messages.one(request), (answer) => [outcomeOf(answer)], manner)
  if (!call) throw new Error('A request has a call.')
  return call
}

/** Sends several orders in one request, and keeps what came of each. */
const askBatch = (stage: Stage, requests: readonly Request[], manner: Manner = {}): Promise<Call[]> =>
  tell(stage, requests, stage.messages.together(requests), (answer) => outcomesOf(answer, requests), manner)

async function tell(
  stage: Stage,
  requests: readonly Request[],
  { method, path, body }: Message,
  read: (answer: Answer) => readonly Call['outcome'][],
  { server, hangUpAfterMs }: Manner,
): Promise<Call[]> {
  const { recorder, place } = stage
  const to = await stage.someServer(server)
  const [first] = requests
  const requestId = `chaos-${first?.id}-${recorder.calls.length}`
  const key = first?.key
  const headers = {
    'content-type': 'application/json',
    'x-request-id': requestId,
    ...(key !== undefined && { 'idempotency-key': key }),
  }
  const sentAt = recorder.clock()
  const raw = JSON.stringify({ ...place, ...body })
  const outcomes = await send(to, hangUpAfterMs, (client) => client.request(method, path, { raw, headers })).then(
    read,
    (error: unknown): Call['outcome'][] => requests.map(() => ({ is: 'lost', reason: reasonOf(error) })),
  )
  const endedAt = recorder.clock()
  return requests.map(({ id }, index) => {
    const outcome = outcomes[index] ?? { is: 'lost', reason: 'the answer says nothing of it' }
    const call: Call = { request: id, requestId, sentAt, endedAt, outcome }
    recorder.calls.push(call)
    if (outcome.is === 'answer' && outcome.txHash !== undefined) recorder.hashes.push(outcome.txHash)
    return call
  })
}

async function send(to: Server, hangUpAfterMs: number | undefined, post: (client: Client) => Promise<Answer>): Promise<Answer> {
  if (hangUpAfterMs === undefined) return bounded(post(to.client))
  const client = to.newClient()
  const hangUp = setTimeout(() => client.close(), hangUpAfterMs)
  try {
    return await bounded(post(client))
  } finally {
    clearTimeout(hangUp)
    client.close()
  }
}

function outcomeOf({ status, body, text }: Answer): Call['outcome'] {
  const field = (name: string) => (typeof body?.[name] === 'string' ? { [name]: body[name] } : {})
  const told = { ...field('txHash'), ...field('state'), ...field('orderId') }
  return { is: 'answer', status, text, ...field('name'), ...field('message'), ...(status === 200 && told) }
}

/** Each order of a batch has a state or an error of its own; where all of it failed they share that. */
function outcomesOf(answer: Answer, requests: readonly Request[]): Call['outcome'][] {
  const { status, body, text } = answer
  if (status !== 200) return requests.map(() => outcomeOf(answer))
  const created = [...body.created]
  const cancelled = [...body.cancelled]
  return requests.map(({ op }) => {
    const { error, ...done } = op === 'order' ? created.shift() : cancelled.shift()
    return { ...outcomeOf({ ...answer, status: error?.httpErrorCode ?? 200, body: error ?? done }), text, ofBatch: true }
  })
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** After one of these a bot with a key asks again: it does not know yet, or nothing speaks against another try. */
const again: ReadonlySet<string> = new Set([
  'TIMEOUT',
  'IN_FLIGHT',
  'OVERLOADED',
  'RATE_LIMIT',
  'NETWORK',
  'SERVICE_UNINITIALIZED',
  'UNKNOWN_ERROR',
])

/** Each of a batch has its own outcome, for good, once the whole has an answer. */
export const isSettled = ({ outcome }: Call): boolean =>
  outcome.is === 'answer' && (outcome.ofBatch === true || !again.has(outcome.name ?? ''))

/** Sends something with its key again and again until it is answered for good; false where that takes too long. */
export async function persist(send: () => Promise<readonly Call[]>, random: Random, patienceMs: number): Promise<boolean> {
  const end = performance.now() + patienceMs
  for (;;) {
    if ((await send()).some(isSettled)) return true
    if (performance.now() > end) return false
    await sleep(random.between(50, 400))
  }
}

/** Longer than the server gives a request, also where the machine has no time for its answer. */
const patienceMs = 30_000

/** A bot does not wait for ever: what it has given up may still go on at the server. */
export async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs / 1000} s`)), patienceMs)
  })
  try {
    return await Promise.race([work, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
