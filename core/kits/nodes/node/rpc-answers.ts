import { NodeFailure } from './node-failure.ts'
import type { Dialect } from '../../../../kits/nodes/dialect.ts'
import { isObject } from '../is-object.ts'
import type { RpcAnswer } from '../types.ts'

/** How the bodies of answers are read. */
export type Reading = Pick<Dialect, 'parse' | 'refusal'>

interface Sent {
  id: number
  method: string
}

/** The answers of one HTTP response, in the order of the calls. Throws NodeFailure where the response is none. */
export function parseAnswers(body: string, sent: readonly Sent[], batched: boolean, reading: Reading): readonly RpcAnswer[] {
  const parsed = parsedBy(reading, body)
  if (!batched) return [answerTo(sent[0], parsed, reading)]
  // Nodes answer a batch that they refuse as a whole with a single object.
  if (!Array.isArray(parsed)) throw refusalOf(parsed, reading) ?? garbage('answered a batch with something else than a list')
  const byId = new Map<unknown, unknown>()
  for (const entry of parsed) {
    const id = isObject(entry) ? small(entry['id']) : undefined
    // Of two answers nobody knows which one is meant.
    if (typeof id === 'number' && byId.has(id)) throw garbage('answered a call twice')
    byId.set(id, entry)
  }
  // Or with that object in a list; it has no id.
  return sent.map((call) => answerTo(call, byId.get(call.id) ?? byId.get(null), reading))
}

function parsedBy({ parse = JSON.parse }: Reading, body: string): unknown {
  try {
    return parse(body)
  } catch {
    throw garbage('answered with something that is not JSON')
  }
}

function answerTo(call: Sent | undefined, entry: unknown, reading: Reading): RpcAnswer {
  if (call === undefined || !isObject(entry)) throw garbage('left a call without an answer')
  const refusal = refusalOf(entry, reading, call.method)
  if (refusal) throw refusal
  if (small(entry['id']) !== call.id) throw garbage('answered another call than the one made')
  const { error, result } = entry
  if (error !== undefined && error !== null) {
    const code = isObject(error) ? small(error['code']) : undefined
    if (!isObject(error) || typeof code !== 'number') throw garbage('answered with a malformed error')
    const { message, data } = error
    return { error: { code, message: typeof message === 'string' ? message : '', data } }
  }
  if (result === undefined) throw garbage('answered with neither result nor error')
  return { result }
}

/** A JSON-RPC error that is about the node and not about the call. */
function refusalOf(entry: unknown, { refusal }: Reading, method?: string): NodeFailure | undefined {
  const error = isObject(entry) ? entry['error'] : undefined
  const code = isObject(error) ? small(error['code']) : undefined
  return typeof code === 'number' ? refusal(code, method) : undefined
}

/** Ids and codes fit a number, also where all integers are read as bigints. */
function small(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

function garbage(what: string): NodeFailure {
  return new NodeFailure('unreachable', what)
}
