import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Endpoint } from '../api/endpoint.ts'
import { endpoints, interfaceVersion, type AnyEndpoint } from '../api/index.ts'
import { versionHeader } from '../api/version.ts'
import { badFields } from '../base/errors.ts'
import type { Dispatch, Question } from '../handlers/dispatch.ts'
import type { Registry } from '../plugins/index.ts'
import type { Answer } from '../transactions/idempotency.ts'
import { cachedQueryReader, type RequestState } from './request.ts'

export interface RouteParts {
  dispatch: Dispatch
  registry: Pick<Registry, 'hasConnector'>
}

/** Endpoints of chains and exchanges that read take their fields as a JSON body of a POST too. */
export const alsoPosts = ({ method, set, path }: Endpoint) =>
  method === 'GET' && set !== 'Service' && !endpoints.some((each) => each.method === 'POST' && each.path === path)

type Route = (state: RequestState) => void | Promise<void>

/** Makes a route of every endpoint. Returns the route of a method and path. */
export function createRoutes(parts: RouteParts): (method: string, path: string) => Route | undefined {
  const byMethod = new Map<string, Map<string, Route>>()
  const send = createResponseBatcher()
  for (const endpoint of endpoints) {
    const route = createRoute(endpoint, parts, send)
    const methods = [endpoint.method, ...(endpoint.method === 'GET' ? ['HEAD'] : []), ...(alsoPosts(endpoint) ? ['POST'] : [])]
    for (const method of methods) {
      const byPath = byMethod.get(method) ?? new Map<string, Route>()
      byMethod.set(method, byPath.set(endpoint.path, route))
    }
  }
  return (method, path) => byMethod.get(method)?.get(path)
}

function createRoute({ name, path }: AnyEndpoint, { dispatch, registry }: RouteParts, send: ResponseBatcher): Route {
  const { readFields, answer } = dispatch.endpoint(name)
  const readSearch = cachedQueryReader(readFields)

  return (state) => {
    state.route = path
    const answered = answer(state, read)
    if (answered instanceof Promise) return answered.then((given) => reply(state, send, given))
    reply(state, send, answered)
  }

  function read(state: RequestState): Question {
    const question = readRequest(state)
    const { connector } = question.request
    // Only registered names become a label of metrics.
    if (typeof connector === 'string' && registry.hasConnector(connector)) state.connector = connector
    return question
  }

  /** The fields of a POST are in its body; those of GET and DELETE in the query, or else in a body. */
  function readRequest({ req: { method }, query, body }: RequestState): Question {
    if (method === 'POST' && query !== '')
      throw badFields([
        { field: 'query', problem: 'is not read by a POST: write the fields into the JSON body, and nothing after a question mark' },
      ])
    if (method === 'POST') return { request: readFields(body, 'body') }
    if (Object.keys(body).length === 0) return readSearch(query)
    if (query === '') return { request: readFields(body, 'body') }
    throw badFields([{ field: 'body', problem: `comes together with a query: write the fields of a ${method} in one of them` }])
  }
}

function reply({ requestId, res }: RequestState, send: ResponseBatcher, { status, body }: Answer): void {
  send(res, status, jsonHeaders(requestId, body), body)
}

/** Headers of every answer. */
export const responseHeaders = (requestId: string) => ({ 'X-Request-Id': requestId, [versionHeader]: interfaceVersion })

export const jsonHeaders = (requestId: string, body: string): OutgoingHttpHeaders => ({
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(body),
  ...responseHeaders(requestId),
})

/** Sets the status at once, and writes the response together with the others of the same turn of the event loop. */
type ResponseBatcher = (response: ServerResponse, status: number, headers: OutgoingHttpHeaders, body: string) => void

interface PendingResponse {
  readonly response: ServerResponse
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

/** A batch is sent before the end of the turn if its first response has waited so long. */
const maxBatchMs = 1

/**
 * A caller that waits is asleep, and waking it can cost more than the answer did. Responses of one turn are written together at its end, when
 * the first process that was woken is still awake for the last.
 */
export function createResponseBatcher(): ResponseBatcher {
  let pending: PendingResponse[] = []
  let firstAt = 0

  function send(): void {
    const batch = pending
    pending = []
    for (const { response, headers, body } of batch) {
      // A request that failed meanwhile has its answer.
      if (response.headersSent) continue
      response.writeHead(response.statusCode, headers).end(body)
    }
  }

  return (response, status, headers, body) => {
    response.statusCode = status
    pending.push({ response, headers, body })
    if (pending.length === 1) {
      firstAt = performance.now()
      setImmediate(send)
    } else if (performance.now() - firstAt > maxBatchMs) send()
  }
}
