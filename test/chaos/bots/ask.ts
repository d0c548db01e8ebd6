import { formatEther, formatUnits } from 'ethers'
import type { Answer, Client } from '../../../core/testing/client.ts'
import type { Call, Request } from '../history.ts'
import type { Server } from '../servers/spawn-server.ts'
import type { Stage } from '../stage.ts'
import { bounded } from './bounded.ts'

export interface Manner {
  /** Which server; any that runs, where none is named. */
  server?: number
  /** The bot hangs up after so long. */
  hangUpAfterMs?: number
}

/** Sends a request once and keeps what came of it. */
export async function ask(stage: Stage, request: Request, { server, hangUpAfterMs }: Manner = {}): Promise<Call> {
  const { recorder, place } = stage
  const to = await stage.someServer(server)
  const requestId = `chaos-${request.id}-${recorder.calls.length}`
  const headers = { 'x-request-id': requestId, ...(request.key !== undefined && { 'idempotency-key': request.key }) }
  const call: Call = { request: request.id, requestId, sentAt: recorder.clock(), endedAt: 0, outcome: { is: 'lost', reason: 'never sent' } }
  const [path, body] = messageOf(request)
  call.outcome = await send(to, hangUpAfterMs, (client) => client.post(path, { ...place, ...body }, { headers })).then(
    outcomeOf,
    (error: unknown) => ({
      is: 'lost',
      reason: reasonOf(error),
    }),
  )
  call.endedAt = recorder.clock()
  recorder.calls.push(call)
  if (call.outcome.is === 'answer' && call.outcome.txHash !== undefined) recorder.hashes.push(call.outcome.txHash)
  return call
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

function messageOf({ id, op, wallet: address, connector = 'uniswap', token, valueRaw = 0n }: Request): [string, object] {
  if (op === 'cancel') return ['/evm/cancel', { address }]
  if (op === 'speedUp') return ['/evm/speedUp', { address }]
  if (op === 'create-token') return ['/altchain/create-token', { address, tokenSymbol: token }]
  const perp = { connector: 'perp', address }
  if (op === 'deposit' || op === 'withdraw') return [`/perpAMM/${op}`, { ...perp, token: 'USDC', amount: formatUnits(valueRaw, 6) }]
  const market = { base: 'ETH', quote: 'USD' }
  if (op === 'close') return ['/perpAMM/close', { ...perp, ...market }]
  const amount = formatEther(valueRaw)
  if (connector !== 'perp') return ['/amm/trade', { connector, address, base: 'ETH', quote: 'USDC', amount, side: 'SELL' }]
  // Up and down, so that some open, some reduce, and some turn what is there.
  return ['/perpAMM/open', { ...perp, ...market, amount, side: id % 3 === 0 ? 'LONG' : 'SHORT', margin: '10', leverage: '5' }]
}

function outcomeOf({ status, body, text }: Answer): Call['outcome'] {
  const field = (name: string) => (typeof body?.[name] === 'string' ? { [name]: body[name] } : {})
  return { is: 'answer', status, text, ...field('name'), ...field('message'), ...(status === 200 && field('txHash')) }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
