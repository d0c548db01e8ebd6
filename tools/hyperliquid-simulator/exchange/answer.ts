import { literal, never, strictObject, string, getDotPath, safeParse, type GenericSchema } from 'valibot'
import { actions, execute } from './actions/execute.ts'
import type { Engine, Clock } from './engine.ts'
import { queries } from './info/queries.ts'
import type { Nonces, SignedRequest } from './signing.ts'
import { catchUp } from './time.ts'

export type Endpoint = 'info' | 'exchange'

export interface HttpAnswer {
  readonly status: number
  /** JSON, but for the texts of what went wrong. */
  readonly body: unknown
}

export interface ServedExchange {
  readonly engine: Engine
  readonly nonces: Nonces
  readonly judge: Judge
  readonly weights: Weights
}

const nothing = never('nothing that this exchange knows')
/** One for all actions, which the library keeps to itself. */
const refusal = strictObject({ status: literal('err'), response: string() })
const unreadable: HttpAnswer = { status: 422, body: 'Failed to deserialize the JSON body into the target type' }
/** As was seen of the real one. */
const tooMany: HttpAnswer = { status: 429, body: null }

/** What is asked for, or what is to be done: its type tells. */
export const typeOf = (endpoint: Endpoint, body: unknown): string =>
  String(endpoint === 'info' ? Reflect.get(Object(body), 'type') : Reflect.get(Object(Reflect.get(Object(body), 'action')), 'type'))

export const answer = (served: ServedExchange, endpoint: Endpoint, body: unknown, from: string): HttpAnswer =>
  endpoint === 'info' ? answerQuery(served, body, from) : answerAction(served, body, from)

function answerQuery({ engine, judge, weights }: ServedExchange, body: unknown, from: string): HttpAnswer {
  const type = typeOf('info', body)
  const query = queries[type]
  const read = query && judge.read(`the request ${type}`, query.request, body)
  if (!query) judge.read(`the request ${type}`, nothing, body)
  if (!query || !read) return unreadable
  if (!weights.take(from, query.weight ?? 20)) return tooMany
  catchUp(engine)
  const told = query.answer(engine, read.value)
  judge.read(`the answer to ${type}`, query.response, told)
  return { status: 200, body: told }
}

function answerAction({ engine, nonces, judge, weights }: ServedExchange, body: unknown, from: string): HttpAnswer {
  const type = typeOf('exchange', body)
  const action = actions[type]
  const read = action && judge.read(`the action ${type}`, action.request, body)
  if (!action) judge.read(`the action ${type}`, nothing, body)
  if (!action || !read) return unreadable
  const request = read.value as SignedRequest
  // What a wallet signs by itself is signed as it was written, all else as the exchange reads it.
  const signed = action.types ? { ...request, action: (body as SignedRequest).action } : request
  if (!hasFewDecimals(request.action)) return unreadable
  if (!weights.take(from, 1 + Math.floor((action.weight?.(request.action) ?? 1) / 40))) return tooMany
  const told = execute(engine, nonces, action, request, signed)
  judge.read(`the answer to ${type}`, told.status === 'ok' ? action.response : refusal, told)
  return { status: 200, body: told }
}

/** Prices and sizes of orders have eight decimals at most, or the request is none. */
function hasFewDecimals(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, each]) => {
    if ((key === 'p' || key === 's') && typeof each === 'string') return /^\d+(\.\d{1,8})?$/.test(each)
    return hasFewDecimals(each)
  })
}

/** Everything that is said is held against the schemas that the client library publishes; what does not fit is kept. */
interface Judge {
  readonly violations: readonly string[]
  /** Undefined where it does not fit. */
  read(where: string, schema: GenericSchema, value: unknown): { readonly value: unknown } | undefined
  /** What was kept so far; it counts no more. */
  takeViolations(): string[]
}

export function createJudge(): Judge {
  const violations: string[] = []
  return {
    violations,
    read: (where, schema, value) => {
      const result = safeParse(schema, value)
      if (result.success) return { value: result.output }
      const issues = result.issues.map((issue) => `${getDotPath(issue) ?? 'all of it'}: ${issue.message}`).join('; ')
      violations.push(`${where}: ${issues} in ${JSON.stringify(value).slice(0, 500)}`)
      return undefined
    },
    takeViolations: () => violations.splice(0),
  }
}

const minuteMs = 60_000

/** What each address may ask for in a minute. */
interface Weights {
  /** False where it is too much. */
  take(from: string, weight: number): boolean
}

export function createWeights(clock: Clock, rules: { readonly weightPerMinute: number }): Weights {
  const byAddress = new Map<string, { since: number; used: number }>()
  return {
    take: (from, weight) => {
      const now = clock.now()
      const known = byAddress.get(from)
      const window = known && now - known.since < minuteMs ? known : { since: now, used: 0 }
      byAddress.set(from, window)
      if (window.used + weight > rules.weightPerMinute) return false
      window.used += weight
      return true
    },
  }
}
