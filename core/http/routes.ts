import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import fastJsonStringify from 'fast-json-stringify'
import type Koa from 'koa'
import { badFields, endpoints, type AnyEndpoint, type Endpoint, SluiceError } from '../api/index.ts'
import type { Settings } from '../config/settings.ts'
import { requirePermission, requireWallet } from '../handlers/caller.ts'
import { type Services, type Handler, type Handlers, after } from '../handlers/context.ts'
import type { FieldsReader } from '../handlers/read-fields.ts'
import { readIdempotencyKey, type Idempotency, type Answer } from '../transactions/idempotency.ts'
import type { KeyClaim } from '../transactions/journal/journal.ts'
import type { IdempotencyContext } from '../transactions/submit-request.ts'
import { responseHeaders, type RequestState, cachedQueryReader, requestReader } from './request.ts'
import { isObject } from '../json.ts'

export interface RouteParts {
  services: Services
  verbs: Handlers
  idempotency: Idempotency
  settings: Pick<Settings, 'server'>
}

/** Reading endpoints of chains and exchanges take the same fields as a JSON body too. */
export const alsoPosts = ({ method, set, path }: Endpoint) =>
  method === 'GET' && set !== 'Service' && !endpoints.some((each) => each.method === 'POST' && each.path === path)

type Fields = Record<string, unknown>

/** Answers a request of one endpoint. */
type EndpointHandler = (ctx: Koa.ParameterizedContext<RequestState>) => void | Promise<void>

/** One loop over the endpoints makes routes, validators and serializers. Gives who answers a request of a method and path. */
export function routes(parts: RouteParts): (method: string, path: string) => EndpointHandler | undefined {
  const byMethod = new Map<string, Map<string, EndpointHandler>>()
  const send = createResponseBatcher()
  for (const endpoint of endpoints) {
    const answer = handler(endpoint, parts, send)
    const methods = [endpoint.method, ...(endpoint.method === 'GET' ? ['HEAD'] : []), ...(alsoPosts(endpoint) ? ['POST'] : [])]
    for (const method of methods) {
      const byPath = byMethod.get(method) ?? new Map<string, EndpointHandler>()
      byMethod.set(method, byPath.set(endpoint.path, answer))
    }
  }
  return (method, path) => byMethod.get(method)?.get(path)
}

function handler(endpoint: AnyEndpoint, { services, verbs, idempotency, settings }: RouteParts, send: ResponseBatcher): EndpointHandler {
  const { permission, wallet, acts, on, path } = endpoint as Endpoint
  const read = requestReader(endpoint)
  const readSearch = cachedQueryReader(read)
  // Compiled when it is first used, as the reader's schema is.
  let serialize: ((answer: object) => string) | undefined
  // The verb of this very endpoint: what the reader has checked is its request, what the lookup gives is its context.
  const verb = verbs[endpoint.name] as unknown as (request: Fields, context: object) => ReturnType<Handler<'Status'>>
  const lookUp = lookupOf(on, services)
  const isEnveloped = hasEnvelope(endpoint)
  const { requestTimeoutSeconds } = settings.server

  return (ctx) => {
    const { caller, requestId, startedAt } = ctx.state
    ctx.state.route = path
    if (permission) requirePermission(caller, permission)
    const request = ctx.req.method === 'POST' ? read(bodyOf(ctx), 'body') : readEither(ctx, read, readSearch)
    // Only registered names: a label must not be of the caller's making.
    if (typeof request.connector === 'string' && services.registry.hasConnector(request.connector)) ctx.state.connector = request.connector
    if (wallet) for (const named of [request.address, request.wallet_address]) if (typeof named === 'string') requireWallet(caller, named)
    const key = acts ? readIdempotencyKey(ctx.headers['idempotency-key']) : undefined
    const deadline = createDeadline(requestTimeoutSeconds)
    const call = {
      services,
      caller,
      requestId,
      get signal() {
        return deadline.signal
      },
    }
    if (key === undefined) {
      const answered = deadline.bound(() => after(lookUp(request), (on) => verb(request, Object.assign(call, on))))
      return after<object, void>(answered, (answer) => reply(ctx, send, render(answer, request, startedAt)))
    }

    /** What is journaled with signed bytes is what the caller gets, to the byte. */
    const act = async (claim: KeyClaim, tag: string) => {
      const signed: { answer?: Answer; isKept: boolean } = { isKept: false }
      const answerOf = (answer: object) => (signed.answer = render(answer, request, startedAt))
      const kept = () => void (signed.isKept = true)
      const keyed: IdempotencyContext = { claim, tag, answerOf, onRecorded: kept }
      const answer: object = await verb(request, { ...call, keyed, ...(await lookUp(request)) })
      const { isKept } = signed
      return { answer: (isKept && signed.answer) || render(answer, request, startedAt), isKept }
    }
    const client = caller.commonName || caller.fingerprint
    const acted = deadline.bound(() => idempotency.once({ key: { client, path, key }, request, requestId, act }))
    return after<Answer, void>(acted, (answer) => reply(ctx, send, answer))
  }

  function render(answer: object, { network }: Fields, startedAt: number): Answer {
    const shown = isEnveloped ? { timestamp: Date.now(), ...answer, network, latency: secondsSince(startedAt) } : answer
    serialize ??= fastJsonStringify(JSON.parse(JSON.stringify(endpoint.response)))
    return { status: statusOf(answer), body: serialize(shown) }
  }
}

/** Past Koa's own way to an answer: all that it would look into is known here. */
function reply(ctx: Koa.ParameterizedContext<RequestState>, send: ResponseBatcher, { status, body }: Answer): void {
  ctx.respond = false
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...responseHeaders(ctx.state),
  }
  send(ctx.res, status, headers, body)
}

function lookupOf(on: Endpoint['on'], { registry: directory }: Services) {
  const find = (chain: string, network: string, connector: string): object => {
    if (on === 'chain') return { network: directory.network(chain, network) }
    // The connector first: a name that is unknown is the better thing to be told.
    const venue = directory.venue(connector, chain, network)
    return { venue, network: directory.network(chain, network) }
  }
  return (request: Fields): object | Promise<object> => {
    if (on === 'service') return {}
    const [chain, network, connector] = [String(request.chain), String(request.network), String(request.connector)]
    const waking = directory.wake(chain, network, on === 'chain' ? undefined : connector)
    return waking ? waking.then(() => find(chain, network, connector)) : find(chain, network, connector)
  }
}

/** GET and DELETE have their fields in the query, or else in a body. */
function readEither<T>(ctx: Koa.Context, read: FieldsReader<T>, readSearch: (search: string) => T): T {
  const body = bodyOf(ctx)
  if (body === nothing || Object.keys(body).length === 0) return readSearch(ctx.querystring)
  if (ctx.querystring === '') return read(body, 'body')
  throw badFields([{ field: 'body', problem: `is beside a query: write the fields of a ${ctx.method} in one of them` }])
}

const nothing: Record<string, unknown> = Object.freeze({})

const bodyOf = (ctx: Koa.Context): Record<string, unknown> => {
  const body: unknown = ctx.request.body
  return isObject(body) ? body : nothing
}

const hasEnvelope = ({ response }: Endpoint) =>
  'properties' in response && isObject(response.properties) && 'latency' in response.properties

/** To the microsecond: more digits are the clock's noise. */
const secondsSince = (startedAtMs: number) => Math.round((performance.now() - startedAtMs) * 1000) / 1e6

/** Health endpoints answer 503 with the failing part named. */
const statusOf = (answer: object) => ('status' in answer && answer.status === 'failing' ? 503 : 200)

/** Whoever does the work sees the signal too, and knows better what became of it: it gets this long to say so. */
const graceMs = 100

/** The time of one request. It begins when somebody first waits for something: what is answered at once needs no timer. */
interface Deadline {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal
  /** The work's outcome, at once where it is there; TIMEOUT when the time is over, and the work itself goes on to its own end. */
  bound<T>(work: () => T | Promise<T>): T | Promise<T>
}

export function createDeadline(seconds: number): Deadline {
  let over: AbortController | undefined
  let timer: NodeJS.Timeout | undefined

  return {
    get signal() {
      if (over) return over.signal
      const begun = new AbortController()
      over = begun
      timer = setTimeout(() => begun.abort(), seconds * 1000)
      return begun.signal
    },
    bound(work) {
      // Its timer ends with the work: thousands of requests a second must not leave theirs behind.
      let waits = false
      try {
        const outcome = work()
        waits = outcome instanceof Promise
        return outcome instanceof Promise ? inTime(outcome, this.signal, seconds).finally(() => clearTimeout(timer)) : outcome
      } finally {
        if (!waits) clearTimeout(timer)
      }
    },
  }
}

async function inTime<T>(work: Promise<T>, signal: AbortSignal, seconds: number): Promise<T> {
  let graceTimer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => (graceTimer = setTimeout(() => reject(timeout(seconds)), graceMs)), { once: true })
  })
  // Whoever loses the race must not become an unhandled rejection.
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(graceTimer)
  }
}

const timeout = (seconds: number) =>
  new SluiceError(
    'TIMEOUT',
    `No answer within ${seconds} s (server.requestTimeoutSeconds). If the request was to make a transaction, GET /transactions?requestId=… with the requestId of this answer shows it, and the same request with the same Idempotency-Key gives its answer.`,
  )

/** An answer that comes this much later than the first that waits does not wait for the end of the turn. */
const mostMs = 1

interface PendingResponse {
  readonly response: ServerResponse
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

/** Takes the status of an answer at once, and writes it with the others of the same turn of the event loop. */
type ResponseBatcher = (response: ServerResponse, status: number, headers: OutgoingHttpHeaders, body: string) => void

/**
 * Whoever waits for an answer sleeps, and to wake somebody can cost more than to make the answer: where several are made in a turn of the
 * event loop, the writes come together at its end, when the first of those who are woken are still awake for the last.
 */
export function createResponseBatcher(): ResponseBatcher {
  let waiting: PendingResponse[] = []
  let firstAt = 0

  function send(): void {
    const due = waiting
    waiting = []
    for (const { response, headers, body } of due) {
      // What failed meanwhile has had its answer.
      if (response.headersSent) continue
      response.writeHead(response.statusCode, headers).end(body)
    }
  }

  return (response, status, headers, body) => {
    response.statusCode = status
    waiting.push({ response, headers, body })
    if (waiting.length === 1) {
      firstAt = performance.now()
      setImmediate(send)
    } else if (performance.now() - firstAt > mostMs) send()
  }
}
