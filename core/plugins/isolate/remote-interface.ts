// The server's side of an interface in a process of its own: requests go there as copies, and what its handlers call comes back as their caller.
import { randomUUID } from 'node:crypto'
import { withTimeout } from '../../base/async.ts'
import { SluiceError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { permissions } from '../../api/endpoint.ts'
import type { EndpointName } from '../../api/index.ts'
import { readQuery } from '../../config/field-reader.ts'
import type { InterfacePath, OnceRequest } from '../../contracts/interface.ts'
import { callersErrorOf } from '../code/boundary.ts'
import { checkPaths, maxFramedBytes, type PathOutline, type ServedCall, type ServedInterface, type ServedPath } from '../interface-paths.ts'
import { changesByEndpoint, nameOf } from '../interface-rights.ts'
import { faultOf, PluginFault, remedies } from '../refusal.ts'
import { HostUnavailable, type AnswerQuestion, type Host } from './host.ts'
import type { HostedOutcome, HostedAnswer, HostedRequest } from './interface-process.ts'
import { sentWords, type SentWords } from './sent-words.ts'

/** What one request may call: no answer needs more, and a handler that calls without end is refused before its time is over. */
const maxCallsOfRequest = 500
/** With what is around the answer. */
const maxAskedBytes = maxFramedBytes + 1_024
/** How an error is shown: for longer nobody waits, and so many wait at once. Others are shown as the server shows them. */
const [showMs, maxShown, maxShownBytes] = [2_000, 64, 64 * 1024]
/** Of `once`: what makes requests equal, and what is prepared. They stay in the store. */
const maxOnceBytes = 64 * 1024
/** What became of an act: a word, or an error. */
const maxActedBytes = 16 * 1024
const maxOnceSeconds = 86_400

/** While it is answered, what it may still call. */
interface OpenRequest {
  readonly call: ServedCall
  /** What it may sign; absent of a path that decides that by itself. */
  readonly words: SentWords | undefined
  /** The Idempotency-Key that `once` has now. */
  onceKey?: string
  readonly threw: Map<number, unknown>
  calls: number
  /** It has asked for a transaction, which may be signed whatever becomes of the process. */
  mayHaveSigned?: true
  /** Of `once`: from the moment on that the process has the key, it may have signed something. */
  once?: 'prepares' | 'acts'
}

/** Creates the interface in its host. @throws PluginFault */
export async function remoteInterface(
  name: string,
  host: Host,
  { config, decides }: { readonly config: object; readonly decides: readonly string[] },
): Promise<ServedInterface> {
  const open = new Map<string, OpenRequest>()
  const answerQuestion: AnswerQuestion = (method, args, signal) => {
    if (method === 'endpoint') return callEndpoint(open, args, signal)
    if (method === 'once') return doOnce(name, host, open, args)
    throw new Error('It asks what there is not.')
  }
  const outlines = await host.serve(name, config, answerQuestion, (method, [id]) => {
    const request = (method === 'endpoint' || method === 'once') && typeof id === 'string' ? open.get(id) : undefined
    return request !== undefined && request.calls < maxCallsOfRequest
  })
  let showing = 0

  return {
    paths: readOutlines(outlines).map((outline, index) => ({
      ...outline,
      answer: answersBy(host, { name, index, outline, decides: decides.includes(nameOf(outline)) }, outline.isPing ? new Map() : open),
    })),
    async showError(error) {
      if (showing >= maxShown || host.notReady() !== undefined) throw new Error('its process is not free to show errors')
      showing += 1
      try {
        const ends = AbortSignal.timeout(showMs)
        return (await withTimeout(host.ask('showError', [error], ends, maxShownBytes), showMs, () => {
          throw new Error(`showError did not end within ${showMs / 1000} s`)
        })) as ReturnType<ServedInterface['showError']>
      } finally {
        showing -= 1
      }
    },
  }
}

interface RemotePath {
  /** Of its plugin. */
  readonly name: string
  readonly index: number
  readonly outline: PathOutline
  /** It signs more than what its callers sent. */
  readonly decides: boolean
}

function answersBy(host: Host, { name, index, outline, decides }: RemotePath, open: Map<string, OpenRequest>): ServedPath['answer'] {
  return async (asked, call) => {
    // While it starts again its process runs, and has no interface yet.
    const why = host.notReady()
    if (why !== undefined) throw new HostUnavailable(name, why)
    // Nobody can guess it: a handler names its own request alone, unless it tells others.
    const id = randomUUID()
    const fields = typeof asked === 'string' ? readQuery(asked) : asked
    const request: HostedRequest = { id, index, fields, requestId: call.requestId, rights: call.rights() }
    const words = decides ? undefined : sentWords(nameOf(outline), asked)
    const state: OpenRequest = { call, words, threw: new Map(), calls: 0 }
    open.set(id, state)
    void call.delivered.then((isDelivered) => host.tell('delivered', [id, isDelivered]))
    try {
      return textOf((await host.ask('request', [request], call.signal, maxAskedBytes)) as HostedAnswer, state)
    } catch (thrown) {
      if (!(thrown instanceof HostUnavailable)) throw ofTheTable(thrown)
      throw state.once === 'acts' ? unknownOutcome(name) : state.mayHaveSigned ? maybeSigned(name) : thrown
    } finally {
      // What it calls after its answer is refused.
      open.delete(id)
    }
  }
}

function textOf(answer: HostedAnswer, { threw }: OpenRequest): string {
  if (isObject(answer) && 'threw' in answer && threw.has(answer.threw)) throw threw.get(answer.threw)
  const text = isObject(answer) && 'text' in answer ? answer.text : undefined
  if (typeof text !== 'string') throw new Error('the process of the interface gave no answer')
  // It is parsed and held against its schema in the process of the plugin. To read it here once more would be the time of everybody.
  return text
}

/** Of an error that the plugin threw itself the details have bounds, as those of a connector, and the status is one of an error. */
function ofTheTable(thrown: unknown): unknown {
  const error = callersErrorOf(thrown)
  if (!error || !(thrown instanceof SluiceError)) return thrown
  const { http } = thrown
  if (!Number.isInteger(http) || http < 400 || http > 599) return error
  const { name, message, details, retryAfterSeconds } = error
  return new SluiceError(name, message, { details, http, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
}

async function callEndpoint(open: ReadonlyMap<string, OpenRequest>, args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
  const [id, number, endpoint, fields, key] = args
  const request = openOf(open, id)
  if (typeof number !== 'number' || typeof endpoint !== 'string' || !isObject(fields) || (key !== undefined && typeof key !== 'string'))
    throw new Error('A call has an endpoint, fields, and may have a key.')
  request.calls += 1
  try {
    refuseGone(request)
    if (request.calls > maxCallsOfRequest)
      throw new SluiceError('RATE_LIMIT', `A request to an interface may call endpoints ${maxCallsOfRequest} times.`)
    // The name and the fields are read as those of any caller.
    const ask = () => request.call.call(endpoint as EndpointName, fields, { signal, ...(key !== undefined && { key }) })
    return await (changesByEndpoint(endpoint) ? changed(request, { endpoint, fields, key }, ask) : ask())
  } catch (thrown) {
    request.threw.set(number, thrown)
    throw thrown
  }
}

/** What a request changes: a transaction, or what is for people. @throws SluiceError FORBIDDEN where it is not what its caller sent */
async function changed(
  request: OpenRequest,
  {
    endpoint,
    fields,
    key,
  }: { readonly endpoint: string; readonly fields: Readonly<Record<string, unknown>>; readonly key: string | undefined },
  ask: () => Promise<unknown>,
): Promise<unknown> {
  // The server may give `once` another key: it is one transaction all the same. No key of a plugin is empty.
  const named = key !== undefined && key === request.onceKey ? '' : key
  const failed = request.words?.begin(endpoint, fields, named)
  request.mayHaveSigned = true
  try {
    return await ask()
  } catch (thrown) {
    failed?.(thrown)
    throw thrown
  }
}

/** @throws SluiceError for a request that is over */
function openOf(open: ReadonlyMap<string, OpenRequest>, id: unknown): OpenRequest {
  const request = typeof id === 'string' ? open.get(id) : undefined
  if (!request) throw new SluiceError('FORBIDDEN', 'The request that this call is for is answered, or never was.')
  return request
}

/** @throws SluiceError for a caller that does not wait any more */
function refuseGone({ call }: OpenRequest): void {
  if (call.isGone) throw new SluiceError('TIMEOUT', 'The caller of this request is gone: nothing more is begun for it.')
}

/**
 * `once` of a handler: whether a request is new is for the server to say; what is prepared and done, the process is asked. One that ends meanwhile
 * may have done it.
 */
async function doOnce(name: string, host: Host, open: ReadonlyMap<string, OpenRequest>, args: readonly unknown[]): Promise<void> {
  const [id, number, wanted] = args
  const request = openOf(open, id)
  if (typeof number !== 'number') throw new Error('A call has a number.')
  if (request.once) throw new Error('once() is for one thing of a request.')
  const { signal } = request.call
  const prepare = async (): Promise<object> => {
    const prepared = await host.ask('prepare', [id], signal, maxOnceBytes).catch((thrown: unknown) => {
      throw ofTheTable(thrown)
    })
    if (!isObject(prepared) || bytesOf(prepared) > maxOnceBytes)
      throw new Error(`what once() prepares is an object of at most ${maxOnceBytes} bytes of JSON`)
    return prepared
  }
  const act = async (key: string, prepared: object): Promise<void> => {
    request.once = 'acts'
    request.onceKey = key
    const acted = (await host.ask('act', [id, key, prepared], signal, maxActedBytes).catch((thrown: unknown) => {
      throw thrown instanceof HostUnavailable ? unknownOutcome(name) : ofTheTable(thrown)
    })) as HostedOutcome
    if (acted === 'done') return
    if (isObject(acted) && request.threw.has(acted.threw)) throw request.threw.get(acted.threw)
    throw new Error('the process of the interface did not say what became of it')
  }
  try {
    refuseGone(request)
    request.once = 'prepares'
    request.calls += 1
    await request.call.once(readOnce(wanted), prepare, act)
  } catch (thrown) {
    request.threw.set(number, thrown)
    throw thrown
  }
}

/** The answer to such a request, and the reason that an equal one takes its place. */
const unknownOutcome = (name: string): SluiceError =>
  new SluiceError(
    'TIMEOUT',
    `The process of the plugin ${name} ended while it did what was asked: nobody knows here whether a transaction was signed. The same request again tells, and makes no second one.`,
    { retryAfterSeconds: 2 },
  )

/** The same of one that came with a key of the client's own, or with none. */
const maybeSigned = (name: string): SluiceError =>
  new SluiceError(
    'TIMEOUT',
    `The process of the plugin ${name} ended after the request had asked for a transaction, which may be signed: look at GET /transactions before you ask again.`,
  )

/** @throws Error */
function readOnce(wanted: unknown): OnceRequest {
  if (!isObject(wanted)) throw new Error('once() has a request.')
  const { fields, staleSeconds, collectSeconds, isOneForEver, isNewAfterFailure, isNewAfterAnswer } = wanted
  if (!isObject(fields) || bytesOf(fields) > maxOnceBytes)
    throw new Error(`The fields of once() are an object of at most ${maxOnceBytes} bytes of JSON.`)
  const isTime = (seconds: unknown): seconds is number => typeof seconds === 'number' && seconds >= 0 && seconds <= maxOnceSeconds
  if (!isTime(staleSeconds) || !isTime(collectSeconds)) throw new Error(`once() has times from 0 to ${maxOnceSeconds} s.`)
  return {
    fields,
    staleSeconds,
    collectSeconds,
    isOneForEver: isOneForEver === true,
    isNewAfterFailure: isNewAfterFailure === true,
    isNewAfterAnswer: isNewAfterAnswer === true,
  }
}

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value))

const [maxPaths, maxPathLength, maxSummary] = [500, 200, 500]

/** What the process says of its paths, checked. @throws PluginFault */
function readOutlines(told: unknown): readonly PathOutline[] {
  if (!Array.isArray(told) || told.length > maxPaths) throw fault(`the interface has no list of at most ${maxPaths} paths`)
  const outlines = told.map((each: unknown): PathOutline => {
    if (!isObject(each)) throw fault('a path is no object')
    const { method, path, summary, permission, isPing, secrets, timeoutSeconds, request, response } = each
    if (typeof path !== 'string' || path.length > maxPathLength || typeof summary !== 'string')
      throw fault('a path has no path and summary')
    const known = permissions.find((name) => name === permission)
    if (permission !== undefined && known === undefined) throw fault(`${path} has a permission that there is not`)
    if (!isObject(request) || !isObject(request['properties'] ?? {}) || !isObject(response)) throw fault(`${path} lacks a schema`)
    return {
      method: method as InterfacePath['method'],
      path,
      summary: summary.slice(0, maxSummary),
      ...(known !== undefined && { permission: known }),
      ...(isPing === true && { isPing }),
      ...(secrets !== undefined && { secrets: secrets as string[] }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds: timeoutSeconds as number }),
      request: { ...request, properties: request['properties'] ?? {} } as InterfacePath['request'],
      response,
    }
  })
  try {
    checkPaths(outlines)
  } catch (thrown) {
    throw faultOf(thrown, 'create', remedies.methods)
  }
  return outlines
}

const fault = (reason: string): PluginFault => new PluginFault('create', reason, remedies.methods)
