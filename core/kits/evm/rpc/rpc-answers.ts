import { NodeFailure } from './node-failure.ts'
import { isObject } from '../quantity.ts'
import type { RpcAnswer } from '../types.ts'

/**
 * Codes that mean "too many requests": HTTP's own number, EIP-1474's "limit exceeded", and those of Optimism's
 * proxyd (`proxyd/backend.go`: over capacity, over rate limit, sender over rate limit), which fronts many public nodes.
 */
const limitExceeded = -32005
const rateLimitCodes: ReadonlySet<number> = new Set([429, limitExceeded, -32012, -32016, -32017])
/**
 * Methods for which "limit exceeded" is about the call: Infura and others say it for logs that are too many, besu for a transaction
 * with more gas than a block has (`RpcErrorType.EXCEEDS_BLOCK_GAS_LIMIT`).
 */
const ownLimits: ReadonlySet<string> = new Set(['eth_getLogs', 'eth_sendRawTransaction'])
/** proxyd: "no backend is currently healthy to serve traffic". */
const unhealthyCodes: ReadonlySet<number> = new Set([-32011])

interface Sent {
  id: number
  method: string
}

/** The answers of one HTTP response, in the order of the calls. Throws NodeFailure where the response is none. */
export function parseAnswers(body: string, sent: readonly Sent[], batched: boolean): readonly RpcAnswer[] {
  const parsed = parseJson(body)
  if (!batched) return [answerTo(sent[0], parsed)]
  // Nodes answer a batch that they refuse as a whole with a single object.
  if (!Array.isArray(parsed)) throw refusalOf(parsed) ?? garbage('answered a batch with something else than a list')
  const byId = new Map<unknown, unknown>()
  for (const entry of parsed) {
    const id: unknown = isObject(entry) ? entry['id'] : undefined
    // Of two answers nobody knows which one is meant.
    if (typeof id === 'number' && byId.has(id)) throw garbage('answered a call twice')
    byId.set(id, entry)
  }
  // Or with that object in a list; it has no id.
  return sent.map((call) => answerTo(call, byId.get(call.id) ?? byId.get(null)))
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw garbage('answered with something that is not JSON')
  }
}

function answerTo(call: Sent | undefined, entry: unknown): RpcAnswer {
  if (call === undefined || !isObject(entry)) throw garbage('left a call without an answer')
  const refusal = refusalOf(entry, call.method)
  if (refusal) throw refusal
  if (entry['id'] !== call.id) throw garbage('answered another call than the one made')
  const { error, result } = entry
  if (error !== undefined && error !== null) {
    if (!isObject(error) || typeof error['code'] !== 'number') throw garbage('answered with a malformed error')
    const { code, message, data } = error
    return { error: { code, message: typeof message === 'string' ? message : '', data } }
  }
  if (result === undefined) throw garbage('answered with neither result nor error')
  return { result }
}

/** A JSON-RPC error that is about the node and not about the call. */
function refusalOf(entry: unknown, method?: string): NodeFailure | undefined {
  const error = isObject(entry) ? entry['error'] : undefined
  const code = isObject(error) ? error['code'] : undefined
  if (typeof code !== 'number') return undefined
  if (unhealthyCodes.has(code)) return new NodeFailure('unreachable', `has no healthy backend (code ${code})`)
  if (rateLimitCodes.has(code) && !(code === limitExceeded && method !== undefined && ownLimits.has(method)))
    return new NodeFailure('rate-limited', `is over its limit (code ${code})`)
  return undefined
}

function garbage(what: string): NodeFailure {
  return new NodeFailure('unreachable', what)
}
