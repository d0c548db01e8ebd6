import { NodeFailure } from './node-failure.ts'
import { isObject } from '../quantity.ts'
import type { RpcAnswer } from '../types.ts'

/**
 * Codes that mean "too many requests": HTTP's own number, EIP-1474's "limit exceeded", and those of Optimism's
 * proxyd (`proxyd/errors.go`), which fronts many public nodes.
 */
const rateLimitCodes: ReadonlySet<number> = new Set([429, -32005, -32016, -32017])
/** proxyd: "no backends available". */
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
  const byId = new Map<unknown, unknown>(parsed.map((entry: unknown) => [isObject(entry) ? entry['id'] : undefined, entry]))
  return sent.map((call) => answerTo(call, byId.get(call.id)))
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
  // For logs, Infura and others say -32005 for "too many results": then the range is to be made smaller.
  if (rateLimitCodes.has(code) && method !== 'eth_getLogs') return new NodeFailure('rate-limited', `is over its limit (code ${code})`)
  return undefined
}

function garbage(what: string): NodeFailure {
  return new NodeFailure('unreachable', what)
}
