import Router from '@koa/router'
import fastJsonStringify from 'fast-json-stringify'
import type Koa from 'koa'
import { badFields, endpoints, type AnyEndpoint, type Endpoint } from '../api/index.ts'
import type { Settings } from '../config/index.ts'
import type { KeyClaim } from '../transactions/index.ts'
import { requirePermission, requireWallet } from '../verbs/caller.ts'
import type { Services, Verb, Verbs } from '../verbs/context.ts'
import type { FieldsReader } from '../verbs/read-fields.ts'
import { startDeadline } from './deadline.ts'
import { readIdempotencyKey, type Idempotency } from './idempotency/idempotency.ts'
import type { Exchange } from './exchange.ts'
import type { Answer } from './idempotency/kept-requests.ts'
import { readQuery } from './request/read-query.ts'
import { requestReader } from './request/read-request.ts'

export interface RouteParts {
  services: Services
  verbs: Verbs
  idempotency: Idempotency
  settings: Pick<Settings, 'server'>
}

/** Reading endpoints of chains and exchanges take the same fields as a JSON body too. */
export const alsoPosts = ({ method, set, path }: Endpoint) =>
  method === 'GET' && set !== 'Service' && !endpoints.some((each) => each.method === 'POST' && each.path === path)

/** One loop over the endpoints makes routes, validators and serializers. */
export function routes(parts: RouteParts): Router<Exchange> {
  const router = new Router<Exchange>({ sensitive: true, strict: true })
  for (const endpoint of endpoints) {
    const answer = handler(endpoint, parts)
    const methods = alsoPosts(endpoint) ? [endpoint.method, 'POST'] : [endpoint.method]
    router.register(endpoint.path, methods, answer, { name: endpoint.name })
  }
  return router
}

function handler(endpoint: AnyEndpoint, { services, verbs, idempotency, settings }: RouteParts): Koa.Middleware<Exchange> {
  const { permission, wallet, acts, on, path } = endpoint as Endpoint
  const read = requestReader(endpoint)
  const serialize = fastJsonStringify(JSON.parse(JSON.stringify(endpoint.response)))
  // The verb of this very endpoint: what the reader has checked is its request, what the lookup gives is its context.
  const verb = verbs[endpoint.name] as unknown as (request: Record<string, unknown>, context: object) => ReturnType<Verb<'Status'>>
  const lookUp = lookupOf(on, services)
  const isEnveloped = hasEnvelope(endpoint)
  const { requestTimeoutSeconds } = settings.server

  return async (ctx) => {
    const { caller, requestId, startedAt } = ctx.state
    if (permission) requirePermission(caller, permission)
    const request = ctx.method === 'POST' ? read(bodyOf(ctx), 'body') : readEither(ctx, read)
    // Only registered names: a label must not be of the caller's making.
    if (typeof request.connector === 'string' && services.directory.hasConnector(request.connector)) ctx.state.connector = request.connector
    if (wallet) for (const named of [request.address, request.wallet_address]) if (typeof named === 'string') requireWallet(caller, named)
    const key = acts ? readIdempotencyKey(ctx.headers['idempotency-key']) : undefined
    const deadline = startDeadline(requestTimeoutSeconds)

    /** What is journaled with signed bytes is what the caller gets, to the byte. */
    const act = async (claim?: KeyClaim, tag = '') => {
      const signed: { answer?: Answer; isKept: boolean } = { isKept: false }
      const answerOf = (answer: object) => (signed.answer = render(answer))
      const kept = () => void (signed.isKept = true)
      const context = { services, caller, requestId, signal: deadline.signal, ...(claim && { keyed: { claim, tag, answerOf, kept } }) }
      const answer: object = await verb(request, { ...context, ...(await lookUp(request)) })
      const { isKept } = signed
      return { answer: (isKept && signed.answer) || render(answer), isKept }
    }
    const render = (answer: object): Answer => ({
      status: statusOf(answer),
      body: serialize(
        isEnveloped ? { timestamp: Date.now(), ...answer, network: request.network, latency: secondsSince(startedAt) } : answer,
      ),
    })
    const work =
      key === undefined
        ? act().then(({ answer }) => answer)
        : idempotency.once({ key: { client: caller.commonName || caller.fingerprint, path, key }, request, requestId, act })
    const { status, body } = await deadline.bound(work)
    ctx.status = status
    ctx.type = 'application/json'
    ctx.body = body
  }
}

function lookupOf(on: Endpoint['on'], { directory }: Services) {
  const names = (request: Record<string, unknown>) => [String(request.chain), String(request.network)] as const
  return async (request: Record<string, unknown>): Promise<object> => {
    if (on === 'service') return {}
    const [chain, network] = names(request)
    await directory.woken(chain, network, on === 'chain' ? undefined : String(request.connector))
    if (on === 'chain') return { network: directory.network(chain, network) }
    // The connector first: a name that is unknown is the better thing to be told.
    const venue = directory.venue(String(request.connector), chain, network)
    return { venue, network: directory.network(chain, network) }
  }
}

/** GET and DELETE have their fields in the query, or else in a body. */
function readEither<T>(ctx: Koa.Context, read: FieldsReader<T>): T {
  const body = bodyOf(ctx)
  if (Object.keys(body).length === 0) return read(readQuery(ctx.querystring), 'query')
  if (ctx.querystring === '') return read(body, 'body')
  throw badFields([{ field: 'body', problem: `is beside a query: write the fields of a ${ctx.method} in one of them` }])
}

const bodyOf = (ctx: Koa.Context): Record<string, unknown> => {
  const body: unknown = ctx.request.body
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
}

const hasEnvelope = ({ response }: Endpoint) =>
  'properties' in response && typeof response.properties === 'object' && response.properties !== null && 'latency' in response.properties

/** To the microsecond: more digits are the clock's noise. */
const secondsSince = (startedAtMs: number) => Math.round((performance.now() - startedAtMs) * 1000) / 1e6

/** Health endpoints answer 503 with the failing part named. */
const statusOf = (answer: object) => ('status' in answer && answer.status === 'failing' ? 503 : 200)
