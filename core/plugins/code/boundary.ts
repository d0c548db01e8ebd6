import { setMaxListeners } from 'node:events'
import { isAbortName } from '../../base/async.ts'
import { chainContract } from '../../contracts/answers/chain.ts'
import { connectorContract } from '../../contracts/answers/connector.ts'
import {
  json,
  leftOutOf,
  noteLeftOut,
  type Contract,
  type LeftOutItem,
  type Method,
  type Schema,
} from '../../contracts/answers/contract.ts'
import type { Chain, Connector, Log } from '../../contracts/index.ts'
import { errorTable, SluiceError, type ErrorName } from '../../base/errors.ts'
import { inTurns } from '../../base/fair-turns.ts'
import { isObject } from '../../base/json.ts'
import { deepFreeze, mayLeaveOut, parserOf } from './parser.ts'
import { placeInStack, placeOfFunction } from './source-places.ts'
import { fieldOf, isError, messageOf, readableError } from './thrown.ts'

/** The plugin whose code is called. */
export interface Callee {
  readonly plugin: string
  readonly log: Log
  /** Of its files, as this process sees them: errors name their lines. */
  readonly folder?: string
  /** In a process of its own: each of its methods answers later. */
  readonly isRemote?: true
}

export const chainBoundary = (chain: Chain, callee: Callee): Chain => boundary(chain, chainContract, callee)

export const connectorBoundary = (connector: Partial<Connector>, callee: Callee): Partial<Connector> =>
  boundary<Partial<Connector>>(connector, connectorContract, callee)

/**
 * The implementation as its contract has it: methods are called through the boundary, properties are read once, and both give copies. What the
 * contract does not have is not there. A method harms one request at most, whatever it does or returns.
 * @param prefix of the names of its members in logs
 * @throws Error where a property is not what the contract says
 */
export function boundary<T extends object>(implementation: T, contract: Contract<T>, callee: Callee, prefix = ''): T {
  const members: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(contract)) {
    const value: unknown = Reflect.get(implementation, name)
    if (value !== undefined && value !== null)
      members[name] = memberOf(implementation, value, member as AnyMember, callee, `${prefix}${name}`)
  }
  // Of the interface what is there, each member as its contract says.
  return Object.freeze(members) as T
}

type AnyMember = Partial<AnyMethod> & {
  readonly value?: Schema<unknown>
  readonly part?: Contract<object>
  readonly streamed?: StreamSchemas
}

interface StreamSchemas {
  readonly update: Schema<unknown>
  readonly snapshot: Schema<unknown>
}
type AnyMethod = Method<readonly unknown[], unknown>

function memberOf(
  implementation: object,
  value: unknown,
  { answer, value: schema, part, streamed, ...method }: AnyMember,
  callee: Callee,
  verb: string,
) {
  if (part) return boundary<object>(Object(value), part, callee, `${verb}.`)
  if (schema) return parsedProperty(schema, value, verb)
  if (streamed && isObject(value) && 'watch' in value) return parsedStream(value, streamed, callee, verb)
  if (typeof value === 'function')
    return answer
      ? guarded(implementation, value, { answer, ...method }, callee, verb)
      : (...args: readonly unknown[]): unknown => Reflect.apply(value, implementation, args)
  if (answer) throw new Error(`${verb} is not a function`)
  return value
}

/** What does not fit is told as undefined: whoever follows the stream takes it for a fault, and asks for a snapshot. */
function parsedStream(stream: Record<string, unknown>, schemas: StreamSchemas, callee: Callee, verb: string): object {
  const { watch, snapshot } = stream
  if (typeof watch !== 'function' || typeof snapshot !== 'function') throw new Error(`${verb} has no watch or no snapshot`)
  const parse = parserOf(schemas.update)
  const parsed = (update: unknown): unknown => {
    try {
      return parse(update, [])
    } catch (thrown) {
      callee.log.warn({ plugin: callee.plugin, verb, reason: messageOf(thrown) }, 'invalid update of an order book')
      return undefined
    }
  }
  return Object.freeze({
    watch: (market: unknown, sink: (update: unknown) => void, signal: unknown): unknown =>
      Reflect.apply(watch, stream, [market, (update: unknown) => sink(parsed(update)), signal]),
    snapshot: guarded(stream, snapshot, { answer: schemas.snapshot }, callee, `${verb}.snapshot`),
  })
}

function parsedProperty(schema: Schema<unknown>, value: unknown, name: string): unknown {
  try {
    return parserOf(schema)(value, [])
  } catch (thrown) {
    throw new Error(`${name}: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** With the first call it is made what checks answers: a start has thousands of methods, and calls few of them. */
function guarded(implementation: object, method: CallableFunction, contract: AnyMethod, callee: Callee, verb: string) {
  let call: ReturnType<typeof checkedCall> | undefined
  return (...args: readonly unknown[]): unknown => (call ??= checkedCall(implementation, method, contract, callee, verb))(args)
}

function checkedCall(implementation: object, method: CallableFunction, contract: AnyMethod, callee: Callee, verb: string) {
  const { atOnce } = contract
  const mayWait = atOnce ?? callee.isRemote
  const parse = answerParser(contract, mayLeaveOut(contract.answer) ? tellsLeftOut(callee, verb) : undefined)
  const { longList } = contract
  const parseSettled = longList === undefined ? parse : longAnswerParser(parse, longList)
  const settle = (answer: unknown, args: readonly unknown[]) =>
    isThenable(answer) ? Promise.resolve(answer).then((settled) => parseSettled(settled, args)) : parse(answer, args)
  const called = { ...callee, method }
  return (args: readonly unknown[]): unknown => {
    // The signal is read only where somebody has to wait: reading it starts the request's timer.
    const signal = atOnce ? undefined : signalOf(args)
    // Answers are compared with what was asked, and not with what a plugin made of it.
    if (signal && contract.mismatch) for (const asked of args.slice(0, -1)) deepFreeze(asked)
    if (signal) return callPlugin(called, verb, () => settle(Reflect.apply(method, implementation, args), args), signal)
    let answer: unknown
    try {
      answer = Reflect.apply(method, implementation, args)
      if (!mayWait || !isThenable(answer)) return parse(answer, args)
    } catch (thrown) {
      throw asCallersError(called, verb, thrown)
    }
    const deadline = signalOf(args)
    if (deadline) return callPlugin(called, verb, () => settle(answer, args), deadline)
    return Promise.resolve(settle(answer, args)).catch((thrown: unknown) => {
      throw asCallersError(called, verb, thrown)
    })
  }
}

type Parse = ReturnType<typeof answerParser>

/** Not by a method of the list, which may be the plugin's own. */
const partOf = (list: readonly unknown[], from: number): readonly unknown[] =>
  Array.from({ length: Math.min(partLength, list.length - from) }, (_, index) => list[from + index])

/** So many members of a list are parsed at once. */
const partLength = 50

/** Parses the list part by part, each as an answer of its own: the rest of the answer is that of the last. */
function longAnswerParser(parse: Parse, { name, most }: NonNullable<AnyMethod['longList']>) {
  return async (answer: unknown, args: readonly unknown[]): Promise<unknown> => {
    const list = isObject(answer) ? answer[name] : undefined
    if (!isObject(answer) || !Array.isArray(list) || list.length <= partLength || list.length > most) return parse(answer, args)
    const parts = Array.from({ length: Math.ceil(list.length / partLength) }, (_, index) => index * partLength)
    const parsed: unknown[] = []
    const leftOut: LeftOutItem[] = []
    let whole: Record<string, unknown> = {}
    await inTurns(
      parts,
      (from) => {
        const copy = parse({ ...answer, [name]: partOf(list, from) }, args)
        if (!isObject(copy) || !Array.isArray(copy[name])) return
        whole = copy
        for (const each of copy[name]) parsed.push(each)
        leftOut.push(...leftOutOf(copy[name]))
      },
      { signal: signalOf(args) },
    )
    return Object.freeze({ ...whole, [name]: noteLeftOut(Object.freeze(parsed), leftOut) })
  }
}

/** Parses an answer, and compares it with the request. */
function answerParser({ answer: schema, mismatch, isCached }: AnyMethod, told?: (answer: unknown) => void) {
  const parseOnly = parserOf(schema)
  const known = isCached && new WeakMap<object, unknown>()
  const parse = (answer: unknown, args: readonly unknown[]): unknown => {
    const copy = parseOnly(answer, args)
    const problem = mismatch?.(copy, args)
    if (problem !== undefined) throw new Error(problem)
    told?.(copy)
    return copy
  }
  if (!known) return parse
  return (answer: unknown, args: readonly unknown[]): unknown => {
    if (typeof answer !== 'object' || answer === null) return parse(answer, args)
    const copy = known.get(answer) ?? parse(answer, args)
    known.set(answer, copy)
    return copy
  }
}

/** Of the last argument, where it is an `At`. */
function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  const at = args.at(-1)
  const signal = isObject(at) ? at.signal : undefined
  return signal instanceof AbortSignal ? signal : undefined
}

/** What is asked again and again lacks the same each time. */
const maxTold = 200

/** Warns of each entry that was left out of a list, once. */
function tellsLeftOut({ plugin, log }: Callee, verb: string) {
  const told = new Set<string>()
  return (answer: unknown): void => {
    const lists = Array.isArray(answer) ? [answer] : isObject(answer) ? Object.values(answer).filter((each) => Array.isArray(each)) : []
    for (const { name, reason } of lists.flatMap((entries) => leftOutOf(entries))) {
      const text = JSON.stringify([name, reason])
      if (told.has(text)) continue
      if (told.size >= maxTold) told.clear()
      told.add(text)
      log.warn({ plugin, verb, entry: name, reason }, 'entry of a list left out')
    }
  }
}

/**
 * Calls a plugin's method so that whatever it does harms this request only. Its SluiceErrors go to the caller; anything else that it throws
 * is logged, and the caller gets UNKNOWN_ERROR. When the signal aborts, the call is abandoned and the caller gets TIMEOUT.
 */
export function callPlugin<T>(callee: MethodCall, verb: string, call: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  const { plugin, log } = callee
  return new Promise((resolve, reject) => {
    const abandon = () => {
      log.warn({ plugin, verb }, 'call into plugin abandoned at the deadline of the request')
      reject(notInTime(plugin))
    }
    if (signal.aborted) return abandon()
    // Other calls, and the plugin itself, may wait for it too. Node warns from the eleventh listener on.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', abandon, { once: true })
    // After the call was abandoned, both change nothing any more, but a defect is still logged.
    const succeed = (value: T) => {
      signal.removeEventListener('abort', abandon)
      resolve(value)
    }
    const fail = (thrown: unknown) => {
      signal.removeEventListener('abort', abandon)
      // The plugin heeded the signal.
      if (signal.aborted && thrown === signal.reason) return
      reject(asCallersError(callee, verb, thrown))
    }
    try {
      const outcome = call()
      // A promise of any class: plugins bring their own libraries.
      if (isThenable(outcome)) Promise.resolve(outcome).then(succeed, fail)
      else succeed(outcome)
    } catch (thrown) {
      fail(thrown)
    }
  })
}

const notInTime = (plugin: string, cause?: Error) =>
  new SluiceError(
    'TIMEOUT',
    `The connector or chain '${plugin}' did not answer in time. Try again; if it was a trade, with the same Idempotency-Key.`,
    { cause },
  )

/** The same for a method that returns at once. */
export function callPluginSync<T>(callee: Callee, verb: string, call: () => T): T {
  try {
    return call()
  } catch (thrown) {
    throw asCallersError(callee, verb, thrown)
  }
}

interface MethodCall extends Callee {
  /** The plugin's function that was called. */
  readonly method?: CallableFunction
}

function asCallersError({ plugin, log, folder, method }: MethodCall, verb: string, thrown: unknown): SluiceError {
  const callersError = callersErrorOf(thrown)
  if (callersError) return callersError
  const err = readableError(thrown)
  // Of a wait of its own, or of a reading that it shares with others: no defect.
  if (isAbortName(err.name)) {
    log.warn({ plugin, verb, err }, 'plugin gave up a wait of its own')
    return notInTime(plugin, err)
  }
  // An answer that does not fit was returned by a method, and thrown here.
  const at = folder === undefined ? undefined : (placeInStack(err.stack ?? '', folder) ?? (method && placeOfFunction(method, folder)))
  log.warn(
    { plugin, verb, ...(at !== undefined && { at }), err },
    'defect of a plugin: it threw something other than a SluiceError, or returned an invalid answer',
  )
  return new SluiceError(
    'UNKNOWN_ERROR',
    `The connector or chain '${plugin}' has failed. The server's log has the reason under this requestId.`,
    { cause: err },
  )
}

const parseDetails = parserOf(json(100_000))

/** A copy of the error that a plugin has for the caller; undefined where it threw something else. */
export function callersErrorOf(thrown: unknown): SluiceError | undefined {
  if (!isError(thrown) || !(thrown instanceof SluiceError)) return undefined
  const name = fieldOf(thrown, 'name')
  if (!isErrorName(name)) return undefined
  const { message, stack, cause } = readableError(thrown)
  const [details, seconds, http] = ['details', 'retryAfterSeconds', 'http'].map((key) => fieldOf(thrown, key))
  const error = new SluiceError(name, message, {
    ...(details !== undefined && { details: detailsOf(details) }),
    ...(typeof seconds === 'number' && Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
    ...(typeof http === 'number' && errorStatuses.has(http) && { http }),
    cause,
  })
  if (stack !== undefined) error.stack = stack
  return error
}

const errorStatuses: ReadonlySet<number> = new Set([...Object.values(errorTable).map(({ http }) => http), 405, 413, 415])
const isErrorName = (name: unknown): name is ErrorName => typeof name === 'string' && Object.hasOwn(errorTable, name)

/** Without them the error says what is wrong all the same. */
function detailsOf(details: unknown): unknown {
  try {
    return parseDetails(details, [])
  } catch {
    return undefined
  }
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
