// An endpoint is called here, whichever interface the call comes by: over HTTP it is a request, for others a function.
import { anyConnector, type Endpoint, type StreamFormat } from '../api/endpoint.ts'
import { endpoints, type AnyEndpoint, type EndpointName, type EndpointByName, type RequestOf, type ResponseOf } from '../api/index.ts'
import { after } from '../base/async.ts'
import { badFields } from '../base/errors.ts'
import type { Payer } from '../base/fair-turns.ts'
import type { Settings } from '../config/settings.ts'
import { pathsHider } from '../config/shown-paths.ts'
import { readIdempotencyKey, type Answer, type Idempotency } from '../transactions/idempotency.ts'
import { wordsOf } from '../transactions/entry-terms.ts'
import type { KeyClaim } from '../transactions/journal/journal.ts'
import type { IdempotencyContext } from '../transactions/submit-request.ts'
import {
  requirePermission,
  requireWallet,
  type Caller,
  type Handler,
  type Handlers,
  type RequestContext,
  type Services,
  type WaitedRequest,
} from './context.ts'
import { orWaiting } from './approval-runs.ts'
import { createRenderer } from './answer-forms.ts'
import { HeldRequest } from '../limits/approval-check.ts'
import { NonceAhead } from '../transactions/nonce-queue.ts'
import { Deadline, ended } from './deadline.ts'
import { fieldsReader, type Fields, type FieldsReader } from '../config/field-reader.ts'
import type { Question } from '../config/query-reader.ts'
import type { NetworkEntry, VenueEntry } from '../plugins/index.ts'
import { streamHandlers } from './streams.ts'

export interface Dispatch {
  /**
   * Calls an endpoint for a caller, with all that a request over HTTP goes through behind its limits. The answer is what HTTP would give as JSON.
   * @throws SluiceError what HTTP would answer with
   */
  call<N extends EndpointName>(name: N, fields: RequestOf<EndpointByName<N>>, options: CallOptions): Promise<ResponseOf<EndpointByName<N>>>
  /** The same, without a promise where the answer is there at once: see `after`. It throws at once, too. */
  ask<N extends EndpointName>(
    name: N,
    fields: RequestOf<EndpointByName<N>>,
    options: CallOptions,
  ): ResponseOf<EndpointByName<N>> | Promise<ResponseOf<EndpointByName<N>>>
  /** The same for those who send the text of the answer on. */
  endpoint(name: EndpointName): EndpointCalls
}

/** Who calls, and for how long. The state of a request of HTTP is one. */
export interface CallOptions {
  readonly caller: Caller
  /** Shared by all calls of one certificate: its work takes turns with that of others. */
  readonly client: Payer
  readonly requestId: string
  /** The Idempotency-Key, for endpoints that make a transaction. It is the same key as in a request over HTTP. */
  readonly key?: string
  /** How an interface's key was stored before it had the interface's name: what an equal request did under it is its outcome. */
  readonly formerKey?: string
  /** Ends the call before its deadline. A transaction that was signed is sent all the same. */
  readonly signal?: AbortSignal
  /** The time limit of the request that the call is part of: it ends with that. */
  readonly within?: Deadline
}

/** Calls of one endpoint. */
export interface EndpointCalls {
  /** By its schema. @throws SluiceError INCOMPLETE_PARAMS with all problems */
  readonly readFields: FieldsReader<Fields>
  /**
   * The answer, at once if it can.
   * @param read gives the fields as `readFields` returned them, once the permission is known
   */
  answer<C extends Call>(call: C, read: (call: C) => Question): Answer | Promise<Answer>
  /** The same as an object: what the JSON of the answer would be read as. */
  ask(call: Call, request: Readonly<Fields>): object | Promise<object>
  /**
   * All that there is as text, which is made as fast as it is taken, for longer than a request may take. Absent: the endpoint has no more than an answer.
   * @throws SluiceError as `answer`; the text as what happens then
   */
  readonly stream?: <C extends Call>(
    call: C,
    read: (call: C) => Question,
    of: { readonly format: StreamFormat; readonly signal: AbortSignal },
  ) => Promise<AsyncGenerator<string, void>>
}

/** A call that is to be answered with text. */
export interface Call extends Omit<CallOptions, 'key'> {
  /** By `performance.now`. */
  readonly startedAt: number
  /** The Idempotency-Key as it was sent. */
  readonly key?: unknown
  /** Of a request that has waited for a second person, or is looked at by one. */
  readonly waited?: WaitedRequest
}

/** Without a spread, of which V8 copies each field by its name: bots ask for prices all the time. */
class FunctionCall implements Call {
  readonly startedAt = performance.now()
  readonly caller: Caller
  readonly client: Payer
  readonly requestId: string
  readonly key?: string
  readonly formerKey?: string
  readonly signal?: AbortSignal
  readonly within?: Deadline

  constructor({ caller, client, requestId, key, formerKey, signal, within }: CallOptions) {
    this.caller = caller
    this.client = client
    this.requestId = requestId
    if (key !== undefined) this.key = key
    if (formerKey !== undefined) this.formerKey = formerKey
    if (signal !== undefined) this.signal = signal
    if (within !== undefined) this.within = within
  }
}

export interface DispatchParts {
  services: Services
  handlers: Handlers
  idempotency: Idempotency
  settings: Settings
}

export function createDispatch(parts: DispatchParts): Dispatch {
  const calls = new Map<string, EndpointCalls>(endpoints.map((each) => [each.name, endpointCalls(each, parts)]))
  const of = (name: string): EndpointCalls => {
    const found = calls.get(name)
    if (!found) throw new Error(`there is no endpoint ${name}`)
    return found
  }
  parts.services.approvalRuns.runBy((name, call, request) => of(name).answer(call, () => ({ request })))
  const ask: Dispatch['ask'] = (name, fields, options) => {
    if (options.signal?.aborted || options.within?.isOver) throw ended
    // The answer of this very endpoint, by its schema.
    return of(name).ask(new FunctionCall(options), fields) as never
  }
  return { endpoint: of, ask, call: async (name, fields, options) => ask(name, fields, options) }
}

function endpointCalls(endpoint: AnyEndpoint, { services, handlers, idempotency, settings }: DispatchParts): EndpointCalls {
  const { permission, wallet, acts, on, path, request: schema, response } = endpoint as Endpoint
  // What is said of the server itself may name its files.
  const hidePaths = on === 'service' ? pathsHider(settings) : undefined
  const { render, asObject } = createRenderer(response, hidePaths)
  const readFields = fieldsReader(schema)
  const readAsked = onceForFrozen((fields) => readFields(fields, 'body'))
  // The handler of this very endpoint: its request is what the reader has checked, its context what the lookup returns.
  const handler = handlers[endpoint.name] as unknown as (request: Fields, context: object) => ReturnType<Handler<'Status'>>
  const lookUp = lookupOf(on, services)
  const { requestTimeoutSeconds } = settings.server
  const { approvals } = services

  function readAllowed<C extends Call>(call: C, read: (call: C) => Question): Question {
    const { caller } = call
    if (permission) requirePermission(caller, permission)
    const question = read(call)
    const { request } = question
    if (wallet)
      for (const address of [request.address, request.wallet_address]) if (typeof address === 'string') requireWallet(caller, address)
    return question
  }

  function answer<C extends Call>(call: C, read: (call: C) => Question): Answer | Promise<Answer> {
    const question = readAllowed(call, read)
    const key = acts ? readIdempotencyKey(call.key) : undefined
    const former = acts ? readIdempotencyKey(call.formerKey) : undefined
    if (key === undefined || former === undefined) return answerUnder(key, call, question)
    return isStored(call.caller, former, question.request).then((has) => answerUnder(has ? former : key, call, question))
  }

  /** Whether an equal request of this caller has this key, or one that waits for a second person. */
  async function isStored({ id: client }: Caller, key: string, request: Readonly<Fields>): Promise<boolean> {
    return (await idempotency.has({ client, path, key }, request)) || (await approvals.find({ client, path, key })) !== undefined
  }

  function answerUnder(key: string | undefined, call: Call, question: Question): Answer | Promise<Answer> {
    const { caller } = call
    const { request } = question
    if (!acts || call.waited !== undefined) return answerNow(call, question, key)
    const waiting = () =>
      orWaiting({ endpoint, caller, requestId: call.requestId, key, request, signal: call.signal ?? call.within?.signal }, services, () =>
        answerNow(call, question, key),
      )
    if (approvals.concerns(caller.id)) return waiting()
    const answered = answerNow(call, question, key)
    return answered instanceof Promise ? answered.catch((error: unknown) => orElse(error, waiting)) : answered
  }

  /** Its client has no requests that wait any more, and this one has waited: it has the outcome that it had. */
  function orElse(error: unknown, waiting: () => Promise<Answer>): Promise<Answer> {
    if (error instanceof HeldRequest) return waiting()
    throw error
  }

  /** What a call works with. */
  function begin({ caller, requestId, client, signal, within, waited }: Call, asked: Readonly<Fields>) {
    const request = waited ? { ...asked, ...waited.bound } : asked
    const deadline = new Deadline(requestTimeoutSeconds, { payer: client, turns: services.turns }, signal ?? within)
    const context = new HandlerContext(services, caller, requestId, deadline)
    if (acts) Object.assign(context, { words: wordsOf(path, asked) })
    if (waited) Object.assign(context, { approval: waited.mark })
    return { request, deadline, context }
  }

  /** What the handler gives. */
  function handle(call: Call, asked: Readonly<Fields>): object | Promise<object> {
    const { request, deadline, context } = begin(call, asked)
    return deadline.bound<object>(() =>
      after(lookUp(request), (target: TargetEntries) =>
        counted(target, () => (acts ? inTurn(() => handler(request, context.at(target)), context) : handler(request, context.at(target)))),
      ),
    )
  }

  function answerNow(call: Call, question: Question, key: string | undefined): Answer | Promise<Answer> {
    const { caller, requestId, startedAt, waited } = call
    const { request: asked } = question
    if (key === undefined) {
      const answered = handle(call, asked)
      return answered instanceof Promise
        ? answered.then((given: object) => render(given, question, startedAt))
        : render(answered, question, startedAt)
    }
    const { request, deadline, context } = begin(call, asked)

    /** The caller gets exactly the bytes that are journaled with the signed transaction. */
    const act = async (claim: KeyClaim, tag: string) => {
      // A new key was never used. One that was may have waited, also where nothing of its client waits any more.
      if (
        claim.claim > 1 &&
        waited === undefined &&
        !approvals.concerns(caller.id) &&
        (await approvals.find({ client: caller.id, path, key }))
      )
        throw new HeldRequest({})
      const signed: { answer?: Answer; isRecorded: boolean } = { isRecorded: false }
      const keyed: IdempotencyContext = {
        claim,
        tag,
        answerOf: (given) => (signed.answer = render(given, question, startedAt)),
        onRecorded: () => void (signed.isRecorded = true),
      }
      const target = await lookUp(request)
      const given: object = await counted(target, () =>
        inTurn(() => handler(request, Object.assign(context.at(target), { keyed })), context),
      )
      const { isRecorded } = signed
      return { answer: (isRecorded && signed.answer) || render(given, question, startedAt), isRecorded }
    }
    const { id: client, formerId: formerClient } = caller
    return deadline.bound(() => idempotency.once({ key: { client, path, key }, formerClient, request: asked, requestId, act }))
  }

  function ask(call: Call, fields: Readonly<Fields>): object | Promise<object> {
    const read = () => ({ request: readAsked(fields) })
    if (acts) return after(answer(call, read), ({ body }) => JSON.parse(body))
    const { startedAt } = call
    const { request } = readAllowed(call, read)
    return after(handle(call, request), (given) => asObject(given, request, startedAt))
  }

  const streamHandler = streamHandlers.get(endpoint.name)
  const stream: EndpointCalls['stream'] =
    streamHandler &&
    (async (call, read, { format, signal }) => {
      const { caller, client } = call
      const { request } = readAllowed(call, read)
      services.turns.chargeTo(signal, client)
      const text = streamHandler(request, { services, caller, signal }, format)
      // What is wrong with the request, or with the store, is said as by any answer: before there is a first page.
      const deadline = new Deadline(requestTimeoutSeconds, { payer: client, turns: services.turns }, call.signal)
      return beginningWith(await deadline.bound(() => text.next()), text, hidePaths)
    })

  return { readFields, answer, ask, ...(stream && { stream }) }
}

/**
 * A nonce that is not free yet is waited for, with nothing signed, for as long as the request may take. Then all of it is done anew, by the quote, the market and
 * the limits of that moment.
 */
async function inTurn(run: () => object | Promise<object>, context: HandlerContext): Promise<object> {
  for (;;)
    try {
      return await run()
    } catch (error) {
      const { network, services } = context
      if (!(error instanceof NonceAhead) || !network) throw error
      await services.transactions.untilFree({ network, ...error.of }, context.signal).catch(() => {
        throw error
      })
    }
}

/** Reads fields that come again as the same object once, where nothing in that can have changed. */
function onceForFrozen(read: (fields: Readonly<Fields>) => Readonly<Fields>): typeof read {
  const known = new WeakMap<object, Readonly<Fields>>()
  return (fields) => {
    if (!Object.isFrozen(fields)) return read(fields)
    const before = known.get(fields)
    if (before) return before
    const asked = read(fields)
    if (Object.values(fields).every((value) => typeof value === 'string')) known.set(fields, Object.freeze(asked))
    return asked
  }
}

async function* beginningWith(
  first: IteratorResult<string, void>,
  others: AsyncGenerator<string, void>,
  hidePaths: (text: string) => string = (text) => text,
): AsyncGenerator<string, void> {
  try {
    if (first.done) return
    yield hidePaths(first.value)
    for await (const text of others) yield hidePaths(text)
  } finally {
    await others.return()
  }
}

/** What a request names of these. */
interface TargetEntries {
  readonly network?: NetworkEntry
  readonly venue?: VenueEntry | undefined
}

const noTarget: TargetEntries = {}

/** A connector of a third party that is replaced waits for the requests that it has. */
function counted<T extends object>({ venue }: TargetEntries, run: () => T | Promise<T>): T | Promise<T> {
  if (venue === undefined || venue.builtIn) return run()
  const done = () => void (venue.requests -= 1)
  venue.requests += 1
  let isPending = false
  try {
    const outcome = run()
    isPending = outcome instanceof Promise
    return outcome instanceof Promise ? outcome.finally(done) : outcome
  } finally {
    if (!isPending) done()
  }
}

/** Finds the network and the connector that a request names. */
function lookupOf(on: Endpoint['on'], { registry }: Services) {
  const find = (chain: string, network: string, connector: string): TargetEntries => {
    if (on === 'chain') return { network: registry.network(chain, network) }
    // The connector first: if both are unknown, its name is the more helpful error.
    const venue = registry.venue(connector, chain, network)
    return { venue, network: registry.networkOf(venue, chain, network) }
  }
  const ofAll = (chain: string, network: string) => ({ network: registry.network(chain, network), venue: undefined })
  return (request: Fields): TargetEntries | Promise<TargetEntries> => {
    if (on === 'service') return noTarget
    const [chain, network, connector] = [String(request.chain), String(request.network), String(request.connector)]
    if (on === 'connector' && connector === anyConnector)
      throw badFields([{ field: 'connector', problem: 'has to name one connector: this endpoint does not compare all of them' }])
    registry.use(chain, network)
    if (on === 'connectors' && connector === anyConnector) return after(registry.wake(chain, network), () => ofAll(chain, network))
    const waking = registry.wake(chain, network, on === 'chain' ? undefined : connector)
    return waking ? waking.then(() => find(chain, network, connector)) : find(chain, network, connector)
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
  network: NetworkEntry | undefined
  venue: VenueEntry | undefined
  readonly #deadline: Deadline

  constructor(services: Services, caller: Caller, requestId: string, deadline: Deadline) {
    this.services = services
    this.caller = caller
    this.requestId = requestId
    this.#deadline = deadline
  }

  at({ network, venue }: TargetEntries): this {
    this.network = network
    this.venue = venue
    return this
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
  }
}
