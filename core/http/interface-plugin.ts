// A plugin's interface as an app: its paths in a router of its own, each request within bounds of time, bytes and shape.
import { setImmediate as nextTurn } from 'node:timers/promises'
import Router from '@koa/router'
import { linkAbort } from '../base/async.ts'
import type { FairTurns } from '../base/fair-turns.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { readQuery } from '../config/field-reader.ts'
import type { InterfaceCall, InterfaceCaller } from '../contracts/interface.ts'
import { hasPermission, mayUseWallet, requirePermission, type Caller } from '../handlers/context.ts'
import { Deadline } from '../handlers/deadline.ts'
import type { Dispatch } from '../handlers/dispatch.ts'
import {
  leavesOf,
  useOfEndpoint,
  type CallerRights,
  type PathRights,
  type PermittedInterface,
  type ServedCall,
  type ServedInterface,
} from '../plugins/index.ts'
import { AnswerDelivery } from './answer-delivery.ts'
import { answerIdHeader, answerIdOf, storedAnswerId } from './answer-reports.ts'
import { createApp, type App } from './app.ts'
import { withoutContext, type Route } from './direct.ts'
import type { PreferenceOwner, Preferences } from '../store/preferences.ts'
import type { KeyIntake } from '../wallet/key-intake.ts'
import type { Deliveries } from '../transactions/deliveries.ts'
import type { UnkeyedRequest } from '../transactions/delivery-table.ts'
import type { RefusedPositions } from '../transactions/refused-positions.ts'
import { addReportRoute } from './report-route.ts'
import type { RequestState } from './request.ts'
import type { RequestStepsParts, ShowError } from './request-steps.ts'
import { createResponseBatcher, jsonHeaders, type ResponseBatcher } from './responses.ts'

interface CallParts {
  dispatch: Pick<Dispatch, 'call' | 'ask'>
  deliveries: Pick<Deliveries, 'once' | 'report'>
  refusedPositions: Pick<RefusedPositions, 'refuse' | 'answer'>
  preferences: Preferences
  keyIntake: KeyIntake
  turns: FairTurns
}

export type InterfaceAppParts = RequestStepsParts & CallParts

/** Of the time after which a connection counts as gone whose answer did not come. */
const unacknowledgedPart = 0.1
/** What another server on the store has changed, a GET of a caller may not know for so long. */
const preferencesMs = 1_000

/** @param name of its plugin: metrics have its paths under it */
export function createInterfaceApp(name: string, own: PermittedInterface, parts: InterfaceAppParts): App {
  const router = new Router<RequestState>({ sensitive: true })
  const send = createResponseBatcher()
  const { dispatch, deliveries, refusedPositions, preferences, keyIntake, turns, settings } = parts
  const seconds = settings.server.requestTimeoutSeconds
  // Each by its name: the parts come as a container, which looks up what is read of it every time.
  const served = {
    name,
    seconds,
    parts: { dispatch, deliveries, refusedPositions, preferences, keyIntake, turns },
    callers: new WeakMap<Caller, KnownCaller>(),
  }
  for (const path of own.paths) {
    const answer = routeOf(served, path, send)
    const hasParameters = path.path.includes(':')
    router.register(
      path.path,
      [path.method],
      hasParameters
        ? (ctx) => {
            ctx.respond = false
            return answer(ctx.state, ctx['params'])
          }
        : withoutContext(answer, path.isPing),
    )
  }
  addReportRoute(router, name, { deliveries, send })
  addDocument(router, name, own, send)
  return createApp(parts, { router, numbers: 'text', showError: shownBy(name, own, parts) })
}

/** A plugin whose `showError` fails shows errors as the server does. */
const shownBy =
  (name: string, own: ServedInterface, { log }: Pick<RequestStepsParts, 'log'>): ShowError =>
  ({ http, name: error, retryAfterSeconds, body }) => {
    const { message, requestId, details } = body
    const asSluice = { status: http, body }
    const failed = (thrown: unknown) => {
      log.error({ plugin: name, err: thrown }, 'showError of an interface failed')
      return asSluice
    }
    const checked = (shown: unknown) => {
      const status = isObject(shown) ? shown['status'] : undefined
      const own = isObject(shown) ? shown['body'] : undefined
      // What waits for an approval has 202.
      const isError = typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
      if (typeof status === 'number' && (isError || status === http) && typeof own === 'object' && own !== null)
        return { status, body: own }
      log.error({ plugin: name, error, status }, 'showError of an interface gave no error')
      return asSluice
    }
    try {
      const shown = own.showError({ http, name: error, message, requestId, retryAfterSeconds, ...(details !== undefined && { details }) })
      return shown instanceof Promise ? shown.then(checked).catch(failed) : checked(shown)
    } catch (thrown) {
      return failed(thrown)
    }
  }

function routeOf(
  served: InterfaceScope,
  { path, method, permission, secrets = [], timeoutSeconds = 0, rights, answer }: PermittedInterface['paths'][number],
  send: ResponseBatcher,
): (state: RequestState, parameters?: Readonly<Record<string, string>>) => void | Promise<void> {
  const { turns } = served.parts
  const seconds = Math.max(served.seconds, timeoutSeconds)
  const label = `${served.name}:${path}`

  return (state, parameters) => {
    state.route = label
    const { caller, client, req, res } = state
    if (permission !== undefined) requirePermission(caller, permission)
    const { fields, hidden } = fieldsOf(state, parameters, secrets)
    const delivery = new AnswerDelivery(req, res)
    const deadline = new Deadline(seconds, { payer: client, turns })
    const call = new Call(served, { state, deadline, delivery, rights, fields, hidden })
    const answering = deadline.bound(() => answer(fields, call))
    if (!(answering instanceof Promise)) return reply(answering, call)
    const stop = method === 'GET' ? delivery.onLost(() => deadline.end()) : undefined
    return answering.then(
      (body) => {
        stop?.()
        return call.makesOnce ? replyOnce(body, call) : reply(body, call)
      },
      (error: unknown) => {
        stop?.()
        throw error
      },
    )
  }

  function reply(body: string, call: Call): void {
    call.isAnswered = true
    const { res, requestId } = call.state
    send(res, 200, jsonHeaders(requestId, body), body)
  }

  async function replyOnce(body: string, call: Call): Promise<void> {
    call.isAnswered = true
    await readEnds()
    if (call.answerId !== undefined) call.state.res.setHeader(answerIdHeader, call.answerId)
    reply(body, call)
  }
}

/** An interface, and its callers by what it gets of them. */
interface InterfaceScope {
  readonly name: string
  /** What a request may take where its path says nothing. */
  readonly seconds: number
  readonly parts: CallParts
  readonly callers: WeakMap<Caller, KnownCaller>
}

/** Of a caller, as conf/clients.yml says now. */
interface KnownCaller {
  readonly shown: InterfaceCaller
  /** Also by the name that it had before it was listed: what is stored under that is its own. */
  readonly owner: PreferenceOwner
}

interface CallState {
  readonly state: RequestState
  readonly deadline: Deadline
  readonly delivery: AnswerDelivery
  /** Of its path. */
  readonly rights: PathRights
  /** As its caller sent them, without secrets. */
  readonly fields: string | Readonly<Record<string, unknown>>
  readonly hidden: ReadonlyMap<string, string>
}

const nothingHidden: ReadonlyMap<string, string> = new Map()

/** The query, where there is nothing else. Of `secrets` the plugin does not get the values: those of the body are in `hidden`. */
function fieldsOf(
  { query, body }: RequestState,
  parameters: Readonly<Record<string, string>> | undefined,
  secrets: readonly string[],
): { readonly fields: string | Record<string, unknown>; readonly hidden: ReadonlyMap<string, string> } {
  if (secrets.length === 0 && parameters === undefined && Object.keys(body).length === 0) return { fields: query, hidden: nothingHidden }
  const fields: Record<string, unknown> = { ...readQuery(query), ...body, ...parameters }
  return { fields, hidden: secrets.length === 0 ? nothingHidden : hide(fields, secrets, body) }
}

/** @returns the texts of the body by their fields: one in a URL may have been logged on its way */
function hide(fields: Record<string, unknown>, secrets: readonly string[], body: RequestState['body']): ReadonlyMap<string, string> {
  const hidden = new Map<string, string>()
  for (const field of secrets) {
    if (!Object.hasOwn(fields, field)) continue
    fields[field] = 'hidden'
    const text = body[field]
    if (typeof text === 'string') hidden.set(field, text)
  }
  return hidden
}

/** What a handler does not ask for is not made: most call one endpoint. */
class Call implements ServedCall {
  /** What the plugin answered is being sent: not a timeout, and not an error. */
  isAnswered = false
  /** Whether its answer was delivered decides what an equal request is. */
  makesOnce = false
  /** The id by which a proxy reports whether its client has read the answer. */
  readonly answerId: string | undefined
  readonly state: RequestState
  readonly #served: InterfaceScope
  readonly #delivery: AnswerDelivery
  readonly #deadline: Deadline
  readonly #rights: PathRights
  readonly #fields: CallState['fields']
  /** Private keys by their fields. */
  readonly #hidden: ReadonlyMap<string, string>
  /** Idempotency-Keys that the server itself gave for this request. */
  #onceKeys: Set<string> | undefined

  constructor(served: InterfaceScope, { state, deadline, delivery, rights, fields, hidden }: CallState) {
    this.state = state
    this.answerId = answerIdOf(state.req)
    this.#served = served
    this.#delivery = delivery
    this.#deadline = deadline
    this.#rights = rights
    this.#fields = fields
    this.#hidden = hidden
  }

  get requestId(): string {
    return this.state.requestId
  }

  get caller(): InterfaceCaller {
    return this.#known().shown
  }

  get delivered(): Promise<boolean> {
    return this.#delivery.delivered
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
  }

  get isGone(): boolean {
    return this.#delivery.isLost
  }

  rights(): CallerRights {
    const { id, permissions, wallets } = this.state.caller
    return { id, permissions: [...permissions], wallets: wallets === 'all' ? wallets : [...wallets] }
  }

  get call(): InterfaceCall['call'] {
    return (endpoint, fields, { key, signal } = {}) => {
      const refusal = this.#refusal(endpoint)
      if (refusal) return Promise.reject(refusal)
      const { caller, client, requestId } = this.state
      const within = this.#deadline
      const { dispatch } = this.#served.parts
      if (key === undefined && signal === undefined) return dispatch.call(endpoint, fields, { caller, client, requestId, within })
      const ends = signal ? { signal: linked(signal, this.signal) } : { within }
      return dispatch.call(endpoint, fields, { caller, client, requestId, ...ends, ...(key !== undefined && this.#keysOf(key)) })
    }
  }

  get ask(): InterfaceCall['ask'] {
    return (endpoint, fields) => {
      const refusal = this.#refusal(endpoint)
      if (refusal) throw refusal
      const { caller, client, requestId } = this.state
      return this.#served.parts.dispatch.ask(endpoint, fields, { caller, client, requestId, within: this.#deadline })
    }
  }

  get once(): InterfaceCall['once'] {
    return (request, prepare, act) => {
      this.makesOnce = true
      const asked = {
        ...request,
        ...this.#known().owner,
        requestId: this.requestId,
        ...this.#confirmed(request.staleSeconds),
        delivered: this.delivered.then((isDelivered) => isDelivered && this.isAnswered),
      }
      return this.#served.parts.deliveries.once(asked, prepare, async (key, prepared) => {
        ;(this.#onceKeys ??= new Set()).add(key)
        return act(key, prepared)
      })
    }
  }

  #confirmed(staleSeconds: number): Pick<UnkeyedRequest, 'broken' | 'answerId'> {
    const { answerId } = this
    if (answerId === undefined) return { broken: this.#delivery.broken(staleSeconds * unacknowledgedPart * 1000) }
    return { broken: this.#delivery.ended(), answerId: storedAnswerId(this.#served.name, this.state.caller.fingerprint, answerId) }
  }

  get follow(): InterfaceCall['follow'] {
    return async (position, asked, answer) => {
      const { refusedPositions } = this.#served.parts
      const of = { client: this.state.caller.id, ...position }
      void this.delivered.then((isDelivered) => (isDelivered ? undefined : refusedPositions.refuse(of, asked)))
      try {
        const answered = await answer()
        refusedPositions.answer(of, asked)
        return answered
      } catch (thrown) {
        await refusedPositions.refuse(of, asked, thrown)
        throw thrown
      }
    }
  }

  get addKey(): InterfaceCall['addKey'] {
    return async (field, chains) => {
      const over = this.#over()
      if (over) throw over
      const { caller } = this.state
      const { name, parts } = this.#served
      const key = this.#hidden.get(field)
      if (key === undefined) throw badFields([{ field, problem: 'is a text in the body of the request' }])
      return parts.keyIntake.add(key, chains, { interface: name, client: caller.id, mayUse: (address) => mayUseWallet(caller, address) })
    }
  }

  get preferences(): InterfaceCall['preferences'] {
    const { owner } = this.#known()
    const { preferences } = this.#served.parts
    const maxAgeMs = this.state.req.method === 'GET' ? preferencesMs : 0
    return {
      read: () => preferences.read(owner, maxAgeMs),
      known: () => preferences.known(owner, maxAgeMs),
      set: async (name, value) => {
        const over = this.#over()
        if (over) throw over
        return preferences.set(owner, name, value)
      },
    }
  }

  /** Why this request may not call an endpoint now. */
  #refusal(endpoint: string): SluiceError | undefined {
    return this.#rights.refusal(endpoint) ?? (useOfEndpoint(endpoint) === 'reads' ? undefined : this.#over())
  }

  /** Why nothing more is begun for this request. What was begun ends by its own outcome. */
  #over(): SluiceError | undefined {
    if (this.isAnswered) return new SluiceError('FORBIDDEN', 'The request is answered: nothing more is begun for it.')
    return this.isGone ? callerGone : undefined
  }

  /** One that came with the request is the caller's own, and one of `once` is the server's. All others are the interface's, and have its name. */
  #keysOf(key: string): { readonly key: string; readonly formerKey?: string } {
    const own = `${this.#served.name}:`
    if (key.startsWith(own) || this.#onceKeys?.has(key) || this.#isSent(key)) return { key }
    return { key: own + key, formerKey: key }
  }

  #isSent(key: string): boolean {
    if (key === this.state.key) return true
    const sent = typeof this.#fields === 'string' ? readQuery(this.#fields) : this.#fields
    for (const [, value] of leavesOf(sent)) if (value === key) return true
    return false
  }

  #known(): KnownCaller {
    const { name, callers } = this.#served
    const { caller } = this.state
    const known = callers.get(caller)
    if (known) return known
    const { id, formerId } = caller
    const owner = { interface: name, client: id, ...(formerId !== undefined && { formerClient: formerId }) }
    const made = { shown: callerOf(caller), owner }
    callers.set(caller, made)
    return made
  }
}

/** Of whatever was begun nobody says that it failed. */
const callerGone = new SluiceError('TIMEOUT', 'The caller of this request is gone: nothing more is begun for it.')

/** The end of a connection that the system knows of already is read in the next turns of the loop: an answer to it would count as delivered. */
async function readEnds(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await nextTurn()
}

function linked(first: AbortSignal, second: AbortSignal): AbortSignal {
  const both = new AbortController()
  for (const each of [first, second]) linkAbort(each, both)
  return both.signal
}

const callerOf = (caller: Caller): InterfaceCaller =>
  Object.freeze<InterfaceCaller>({
    id: caller.id,
    may: (permission) => hasPermission(caller, permission),
    mayUse: (wallet) => mayUseWallet(caller, wallet),
  })

/** The OpenAPI document of the interface, unless it has one of its own. */
function addDocument(router: Router<RequestState>, name: string, own: ServedInterface, send: ResponseBatcher): void {
  if (own.paths.some(({ path }) => path === '/openapi.json')) return
  let text: string | undefined
  const route: Route = async ({ requestId, res }) => {
    const { interfaceDocument } = await import('./interface-document.ts')
    text ??= JSON.stringify(interfaceDocument(name, own))
    send(res, 200, jsonHeaders(requestId, text), text)
  }
  router.register('/openapi.json', ['GET'], withoutContext(route))
}
