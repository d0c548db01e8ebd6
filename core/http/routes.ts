import Router from '@koa/router'
import type { Endpoint } from '../api/endpoint.ts'
import { endpoints, type AnyEndpoint } from '../api/index.ts'
import { badFields } from '../base/errors.ts'
import { cachedQueryReader, type Question } from '../config/query-reader.ts'
import type { Dispatch } from '../handlers/dispatch.ts'
import type { Registry } from '../plugins/index.ts'
import type { Answer } from '../transactions/idempotency.ts'
import { withoutContext, type Route } from './direct.ts'
import type { RequestState } from './request.ts'
import { acceptedFormat, type StreamedAnswers } from './streamed-answers.ts'
import { createResponseBatcher, jsonHeaders, type ResponseBatcher } from './responses.ts'

export interface RouteParts {
  dispatch: Dispatch
  registry: Registry
}

/** Endpoints of chains and exchanges that read take their fields as a JSON body of a POST too. */
export const alsoPosts = ({ method, set, path }: Endpoint) =>
  method === 'GET' && set !== 'Service' && !endpoints.some((each) => each.method === 'POST' && each.path === path)

/** Every endpoint of the interface, with its methods. */
export function addEndpoints(router: Router<RequestState>, parts: RouteParts, streamedAnswers: StreamedAnswers): void {
  const send = createResponseBatcher()
  for (const endpoint of endpoints) {
    const methods = [endpoint.method, ...(alsoPosts(endpoint) ? ['POST'] : [])]
    router.register(endpoint.path, methods, withoutContext(routeOf(endpoint, parts, { send, streamedAnswers })))
  }
}

/** How answers are sent. */
interface Senders {
  readonly send: ResponseBatcher
  readonly streamedAnswers: StreamedAnswers
}

function routeOf({ name, path }: AnyEndpoint, { dispatch, registry }: RouteParts, { send, streamedAnswers }: Senders): Route {
  const { readFields, answer, stream } = dispatch.endpoint(name)
  const readSearch = cachedQueryReader(readFields)

  return (state) => {
    state.route = path
    const format = stream && acceptedFormat(state.req)
    if (format) return streamedAnswers.answer(state, format, (signal) => stream(state, read, { format, signal }))
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
