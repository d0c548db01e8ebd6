import { literal, never, strictObject, string } from 'valibot'
import { actions } from '../actions/actions.ts'
import { execute } from '../actions/execute.ts'
import type { Engine } from '../engine.ts'
import { queries } from '../info/queries.ts'
import type { Judge } from '../judge.ts'
import type { Nonces } from '../signing/nonces.ts'
import type { SignedRequest } from '../signing/recover.ts'
import { catchUp } from '../time.ts'
import type { Weights } from './weights.ts'

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
