// Reads what a node answers: the answer to each call of an HTTP response, and what an answer says of the node itself.
import { isObject } from '../../core/base/json.ts'
import { type Dialect, type Fault, type NodeError, NodeFailure, type RpcAnswer } from './dialect.ts'
import { inBrackets, refusalOf, troubleOf } from './faults.ts'
import { garbage, ListRefusedError, type HttpResponse } from './http.ts'

/** A call of the request. */
export interface SentCall {
  /** As it is sent. */
  readonly json: string
  readonly id: number
  readonly method: string
  readonly size: number | undefined
  readonly smallest: boolean | undefined
  /** Among the calls that were asked for. */
  readonly index: number
}

interface ReadAnswers {
  /** In the order of the calls. */
  readonly answers: readonly RpcAnswer[]
  /** The same error answers a batch as a whole. */
  readonly isWhole: boolean
}

/** Reads the answers in one HTTP response. @throws NodeFailure where it is no valid response */
export function readAnswers(
  response: HttpResponse,
  sent: readonly SentCall[],
  asList: boolean,
  { parse = JSON.parse }: Dialect,
): ReadAnswers {
  const parsed = parsedOr(parse, response.body)
  const toEach = (error: NodeError) => ({ answers: sent.map(() => ({ error })), isWhole: asList })
  if (Array.isArray(parsed) && parsed.length > 0 && (asList || parsed.length === 1)) {
    const entries: readonly unknown[] = parsed
    // Nodes put the refusal of a whole batch into a list.
    const [first] = entries
    const refusal = entries.length === 1 && sent.length > 1 && isObject(first) ? errorIn(first) : undefined
    return refusal ? toEach(refusal) : { answers: inOrder(entries, sent, response), isWhole: false }
  }
  if (isObject(parsed)) {
    if (!asList) return { answers: [answerTo(sent[0], parsed, response)], isWhole: false }
    // Or it is a single object.
    const error = errorIn(parsed)
    if (error) return toEach(error)
  }
  if (response.status === payloadTooLarge) return toEach({ code: payloadTooLarge, message: 'request entity too large' })
  if (asList && (isNothing(parsed, response) || refusesForm(response.status)))
    throw new ListRefusedError(sent.length, response.status >= 300 ? `HTTP ${response.status}` : 'it gave no list of answers')
  throw response.status < 300 && parsed !== undefined ? garbage('left a call without an answer') : statusFailure(response)
}

/** No answer at all to a list: no body, an empty list, null, or an object that answers one call. */
const isNothing = (parsed: unknown, { status, body }: HttpResponse): boolean =>
  status < 300 && (parsed === undefined ? body.trim() === '' : parsed === null || typeof parsed === 'object')

/** Of a status without JSON: about what was sent, and not about the key, the rate, or what is behind a gateway. */
const refusesForm = (status: number): boolean =>
  (status >= 400 && status < 500 && ![401, 402, 403, 407, 408, 425, 429, 451].includes(status)) || status === 500 || status === 501

function inOrder(entries: readonly unknown[], sent: readonly SentCall[], response: HttpResponse): readonly RpcAnswer[] {
  const byId = new Map<unknown, unknown>()
  for (const entry of entries) {
    const id = isObject(entry) ? idOf(entry['id']) : undefined
    // Which of two answers is meant cannot be known.
    if (typeof id === 'number' && byId.has(id)) throw garbage('answered a call twice')
    byId.set(id, entry)
  }
  return sent.map((call) => answerTo(call, byId.get(call.id) ?? byId.get(null), response))
}

const payloadTooLarge = 413

function parsedOr(parse: (text: string) => unknown, body: string): unknown {
  try {
    return parse(body)
  } catch {
    return undefined
  }
}

function answerTo(call: SentCall | undefined, entry: unknown, response: HttpResponse): RpcAnswer {
  if (call === undefined || !isObject(entry)) throw garbage('left a call without an answer')
  const error = errorIn(entry)
  const id = idOf(entry['id'])
  if (id !== call.id && !(error && (id === null || id === undefined))) throw garbage('answered another call than the one made')
  if (error) return { error }
  const { result } = entry
  if (result !== undefined) return { result }
  throw response.status >= 300 ? statusFailure(response) : garbage('answered with neither result nor error')
}

/** Ids are answered as they were sent, or as text. */
function idOf(id: unknown): unknown {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : withoutBigint(id)
}

/** The error of an answer. Gateways write it as text, without a code, or in place of the whole answer. */
function errorIn(entry: Record<string, unknown>): NodeError | undefined {
  const { error, result } = entry
  if (error === undefined || error === null) {
    const { message, code } = entry
    return result === undefined && typeof message === 'string' ? { code: codeIn(code), message } : undefined
  }
  if (typeof error === 'string') return { code: codeIn(entry['code']), message: error }
  if (!isObject(error)) return { code: Number.NaN, message: '' }
  const { code, message, data } = error
  return { code: codeIn(code), message: typeof message === 'string' ? message : '', ...(data !== undefined && { data }) }
}

/** NaN where there is none. */
function codeIn(code: unknown): number {
  const plainCode = withoutBigint(code)
  if (typeof plainCode === 'number') return plainCode
  return typeof plainCode === 'string' && /^-?\d{1,9}$/.test(plainCode) ? Number(plainCode) : Number.NaN
}

export const isTroubled = (answer: RpcAnswer | undefined): boolean => answer?.error?.fault?.is === 'trouble'

/** @throws NodeFailure where an answer shows that the node answers no other calls either, or where all that came with a bad status is trouble */
export function throwNodeTrouble(answers: readonly RpcAnswer[], sent: readonly SentCall[], response: HttpResponse): void {
  for (const [index, { error }] of answers.entries()) {
    const fault = error?.fault
    if (!error || fault?.is !== 'trouble') continue
    if (!fault.ofNode && !(response.status >= 300 && answers.every(isTroubled))) continue
    throw failureOf(error, fault, sent[index]?.method ?? '', response)
  }
}

function failureOf(
  error: NodeError,
  { kind, unfit }: Extract<Fault, { is: 'trouble' }>,
  method: string,
  response: HttpResponse,
): NodeFailure {
  const retryAfterSeconds = response.retryAfterSeconds ?? backoffIn(error.data)
  if (response.status === 429 || (response.status >= 300 && kind === 'unreachable')) {
    const { kind: byStatus, message } = statusFailure(response)
    return new NodeFailure(byStatus, message, retryAfterSeconds)
  }
  return kind === 'rate-limited'
    ? new NodeFailure(kind, `is over its limit${inBrackets(error)}`, retryAfterSeconds)
    : new NodeFailure(kind, refusalOf(error, method), retryAfterSeconds, unfit)
}

/** Infura: `data: { rate: { backoff_seconds: 30 } }`. */
function backoffIn(data: unknown): number | undefined {
  const seconds = isObject(data) && isObject(data['rate']) ? data['rate']['backoff_seconds'] : undefined
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds) : undefined
}

/** Ids and error codes fit a number, even where the family reads all integers as bigints. */
const withoutBigint = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

/** What a status says by itself, where the body is no JSON-RPC. */
function statusFailure({ status, retryAfterSeconds, body }: HttpResponse): NodeFailure {
  if (status === 429) return new NodeFailure('rate-limited', 'is over its limit (HTTP 429)', retryAfterSeconds)
  if (status >= 500) return new NodeFailure('unreachable', `failed (HTTP ${status})`, retryAfterSeconds)
  if (status >= 300 && status < 400) return new NodeFailure('unreachable', `redirects (HTTP ${status}), which is not followed`)
  if (status === 401 || status === 403) return new NodeFailure('unreachable', `refuses the key in its URL (HTTP ${status})`)
  const said = troubleOf({ code: Number.NaN, message: body.slice(0, maxReadChars) })
  if (said.is === 'trouble' && said.kind === 'rate-limited')
    return new NodeFailure(said.kind, 'is over its limit, and says so without JSON', retryAfterSeconds)
  return garbage(status >= 400 ? `refused (HTTP ${status})` : 'answered with something that is not JSON')
}

/** Of a page for people. */
const maxReadChars = 2_000
