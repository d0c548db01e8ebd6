import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import fastJsonStringify from 'fast-json-stringify'
import { isAbort } from '../base/async.ts'
import { anyConnector, type Endpoint } from '../api/endpoint.ts'
import { endpoints, interfaceVersion, type AnyEndpoint } from '../api/index.ts'
import { versionHeader } from '../api/version.ts'
import type { Settings } from '../config/settings.ts'
import { pathsHider } from '../config/shown-paths.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import type { FairTurns, Payer } from '../base/fair-turns.ts'
import {
  requirePermission,
  requireWallet,
  after,
  type Caller,
  type Handler,
  type Handlers,
  type RequestContext,
  type Services,
} from '../handlers/context.ts'
import { fieldsReader } from '../handlers/read-fields.ts'
import { isObject } from '../base/json.ts'
import { readIdempotencyKey, type Answer, type Idempotency } from '../transactions/idempotency.ts'
import type { KeyClaim } from '../transactions/journal/journal.ts'
import type { IdempotencyContext } from '../transactions/submit-request.ts'
import { cachedQueryReader, type RequestState, type Question } from './request.ts'

export interface RouteParts {
  services: Services
  handlers: Handlers
  idempotency: Idempotency
  settings: Settings
}

/** Endpoints of chains and exchanges that read take their fields as a JSON body of a POST too. */
export const alsoPosts = ({ method, set, path }: Endpoint) =>
  method === 'GET' && set !== 'Service' && !endpoints.some((each) => each.method === 'POST' && each.path === path)

type Fields = Record<string, unknown>

type Route = (state: RequestState) => void | Promise<void>

/** Makes a route of every endpoint, with its validator and serializer. Returns the route of a method and path. */
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

function createRoute(endpoint: AnyEndpoint, { services, handlers, idempotency, settings }: RouteParts, send: ResponseBatcher): Route {
  const { permission, wallet, acts, on, path, request: schema, response } = endpoint as Endpoint
  const readFields = fieldsReader(schema)
  // What is said of the server itself may name its files.
  const hidePaths = on === 'service' ? pathsHider(settings) : undefined
  const readSearch = cachedQueryReader(readFields)
  let serialize: ((answer: object) => string) | undefined
  // The handler of this very endpoint: its request is what the reader has checked, its context what the lookup returns.
  const handler = handlers[endpoint.name] as unknown as (request: Fields, context: object) => ReturnType<Handler<'Status'>>
  const lookUp = lookupOf(on, services)
  const isEnveloped = 'properties' in response && isObject(response.properties) && 'latency' in response.properties
  const { requestTimeoutSeconds } = settings.server

  return (state) => {
    const { caller, requestId, startedAt, req } = state
    state.route = path
    if (permission) requirePermission(caller, permission)
    const question = readRequest(state)
    const { request } = question
    // Only registered names become a label of metrics.
    if (typeof request.connector === 'string' && services.registry.hasConnector(request.connector)) state.connector = request.connector
    if (wallet)
      for (const address of [request.address, request.wallet_address]) if (typeof address === 'string') requireWallet(caller, address)
    const key = acts ? readIdempotencyKey(req.headers['idempotency-key']) : undefined
    const deadline = new Deadline(requestTimeoutSeconds, { payer: state.client, turns: services.turns })
    const context = new HandlerContext(services, caller, requestId, deadline)
    if (key === undefined) {
      const answered = deadline.bound(() => after(lookUp(request), (target) => handler(request, Object.assign(context, target))))
      return after<object, void>(answered, (answer) => reply(state, send, render(answer, question, startedAt)))
    }

    /** The caller gets exactly the bytes that are journaled with the signed transaction. */
    const act = async (claim: KeyClaim, tag: string) => {
      const signed: { answer?: Answer; isRecorded: boolean } = { isRecorded: false }
      const keyed: IdempotencyContext = {
        claim,
        tag,
        answerOf: (answer) => (signed.answer = render(answer, question, startedAt)),
        onRecorded: () => void (signed.isRecorded = true),
      }
      const answer: object = await handler(request, Object.assign(context, { keyed }, await lookUp(request)))
      const { isRecorded } = signed
      return { answer: (isRecorded && signed.answer) || render(answer, question, startedAt), isRecorded }
    }
    const client = caller.commonName || caller.fingerprint
    const acted = deadline.bound(() => idempotency.once({ key: { client, path, key }, request, requestId, act }))
    return after<Answer, void>(acted, (answer) => reply(state, send, answer))
  }

  /** The fields of a POST are in its body; those of GET and DELETE in the query, or else in a body. */
  function readRequest({ req: { method }, query, body }: RequestState): Question<Fields> {
    if (method === 'POST' && query !== '')
      throw badFields([
        { field: 'query', problem: 'is not read by a POST: write the fields into the JSON body, and nothing after a question mark' },
      ])
    if (method === 'POST') return { request: readFields(body, 'body') }
    if (Object.keys(body).length === 0) return readSearch(query)
    if (query === '') return { request: readFields(body, 'body') }
    throw badFields([{ field: 'body', problem: `comes together with a query: write the fields of a ${method} in one of them` }])
  }

  function render(answer: object, question: Question<Fields>, startedAt: number): Answer {
    // Health endpoints answer 503 and name the failing part.
    const status = 'status' in answer && answer.status === 'failing' ? 503 : 200
    if (!isEnveloped) return { status, body: serialized(answer) }
    const [timestamp, latency] = [Date.now(), secondsSince(startedAt)]
    const moment = `"timestamp":${timestamp},"latency":${latency}`
    if (question.answer === answer) return { status, body: `${question.start}${moment}${question.end}` }
    const body = serialized({ timestamp, ...answer, network: question.request.network, latency })
    // What is not frozen may have changed when it comes again.
    const momentAt = Object.isFrozen(answer) ? body.lastIndexOf(moment) : -1
    question.answer = momentAt < 0 ? undefined : answer
    if (momentAt >= 0) Object.assign(question, { start: body.slice(0, momentAt), end: body.slice(momentAt + moment.length) })
    return { status, body }
  }

  function serialized(shown: object): string {
    // Compiled with the first answer, as the validator is with the first request.
    serialize ??= fastJsonStringify(JSON.parse(JSON.stringify(response)))
    const json = serialize(shown)
    return hidePaths ? hidePaths(json) : json
  }
}

/** Finds the network and the connector that a request names. */
function lookupOf(on: Endpoint['on'], { registry }: Services) {
  const find = (chain: string, network: string, connector: string): object => {
    if (on === 'chain') return { network: registry.network(chain, network) }
    // The connector first: if both are unknown, its name is the more helpful error.
    const venue = registry.venue(connector, chain, network)
    return { venue, network: registry.networkOf(venue, chain, network) }
  }
  const ofAll = (chain: string, network: string) => ({ network: registry.network(chain, network), venue: undefined })
  return (request: Fields): object | Promise<object> => {
    if (on === 'service') return {}
    const [chain, network, connector] = [String(request.chain), String(request.network), String(request.connector)]
    if (on === 'connector' && connector === anyConnector)
      throw badFields([{ field: 'connector', problem: 'has to name one connector: this endpoint does not compare all of them' }])
    if (on === 'connectors' && connector === anyConnector) return after(registry.wake(chain, network), () => ofAll(chain, network))
    const waking = registry.wake(chain, network, on === 'chain' ? undefined : connector)
    return waking ? waking.then(() => find(chain, network, connector)) : find(chain, network, connector)
  }
}

/** Rounded to microseconds: further digits are noise of the clock. */
const secondsSince = (startedAtMs: number) => Math.round((performance.now() - startedAtMs) * 1000) / 1e6

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

/** When the time is over the handler sees the signal too and knows better what happened: it gets so long to say so. */
const graceMs = 100

interface Charge {
  readonly payer: Payer
  readonly turns: FairTurns
}

/** The time limit of one request. Its timer starts when something is first waited for: what is answered at once needs none. */
export class Deadline {
  readonly #seconds: number
  readonly #charge: Charge | undefined
  #controller: AbortController | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param charge who the request's work is done for */
  constructor(seconds: number, charge?: Charge) {
    this.#seconds = seconds
    this.#charge = charge
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const started = new AbortController()
    this.#charge?.turns.chargeTo(started.signal, this.#charge.payer)
    this.#controller = started
    this.#timer = setTimeout(() => started.abort(), this.#seconds * 1000)
    return started.signal
  }

  /** Returns what the work returns, at once if it can. @throws SluiceError TIMEOUT when the time is over; the work goes on */
  bound<T>(work: () => T | Promise<T>): T | Promise<T> {
    // The timer ends with the work: thousands of requests a second must not leave theirs behind.
    let isPending = false
    try {
      const outcome = work()
      isPending = outcome instanceof Promise
      return outcome instanceof Promise ? inTime(outcome, this.signal, this.#seconds).finally(() => clearTimeout(this.#timer)) : outcome
    } finally {
      if (!isPending) clearTimeout(this.#timer)
    }
  }
}

/**
 * What a handler gets. A class, as V8 makes a hidden class for each object literal with a getter: it would stay until the next collection of old
 * objects, and hold its request until then.
 */
class HandlerContext implements RequestContext {
  readonly services: Services
  readonly caller: Caller
  readonly requestId: string
  readonly #deadline: Deadline

  constructor(services: Services, caller: Caller, requestId: string, deadline: Deadline) {
    this.services = services
    this.caller = caller
    this.requestId = requestId
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
  }
}

async function inTime<T>(work: Promise<T>, signal: AbortSignal, seconds: number): Promise<T> {
  let graceTimer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => (graceTimer = setTimeout(() => reject(timeout(seconds)), graceMs)), { once: true })
  })
  // A failure after the timeout must not be an unhandled rejection.
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } catch (error) {
    // A handler that waited may throw what ended its wait.
    throw signal.aborted && isAbort(error) ? timeout(seconds) : error
  } finally {
    clearTimeout(graceTimer)
  }
}

const timeout = (seconds: number) =>
  new SluiceError(
    'TIMEOUT',
    `No answer within ${seconds} s (server.requestTimeoutSeconds). If the request was to make a transaction, GET /transactions?requestId=… with the requestId of this answer shows it, and the same request with the same Idempotency-Key gives its answer.`,
  )

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
