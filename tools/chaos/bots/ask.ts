import type { Answer, Client } from '../../../testkit/client.ts'
import type { Call, Request } from '../history.ts'
import type { Server } from '../servers/spawn-server.ts'
import type { Stage } from '../stage.ts'
import { bounded } from './bounded.ts'
import type { Message } from './message.ts'

export interface Manner {
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
