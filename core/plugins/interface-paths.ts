// A path of an interface, from the fields of a request to the text of its answer. It runs where the plugin runs: a schema is code, too.
import { Ajv, type ValidateFunction } from 'ajv'
import { isObject } from '../base/json.ts'
import { compilers, fieldsReader, type Fields } from '../config/field-reader.ts'
import { cachedQueryReader } from '../config/query-reader.ts'
import type { Interface, InterfaceCall, InterfacePath } from '../contracts/interface.ts'
import { deepFreeze } from './code/parser.ts'
import { requireMethods } from './instantiate.ts'
import type { PathRights } from './interface-rights.ts'
import { PluginFault, remedies } from './refusal.ts'

/** Of one answer. */
export const maxAnswerBytes = 8_000_000
/** Of one that comes from another process. */
export const maxHostedAnswerBytes = 3_000_000
/** The same as it crosses: JSON in JSON, where each quote has a mark in front. */
export const maxFramedBytes = 3_500_000

/** Clients of long requests give up after about as long. */
const maxTimeoutSeconds = 300

/** What a path says of itself, as data. */
export type PathOutline = Omit<InterfacePath, 'answer'>

/** An interface as its listener uses it, wherever its plugin runs. */
export interface ServedInterface {
  readonly paths: readonly ServedPath[]
  showError(error: Parameters<Interface['showError']>[0]): ErrorOutline | Promise<ErrorOutline>
}

/** With what each of its paths may call. */
export interface PermittedInterface extends ServedInterface {
  readonly paths: readonly (ServedPath & { readonly rights: PathRights })[]
}

type ErrorOutline = ReturnType<Interface['showError']>

export interface ServedPath extends PathOutline {
  /** @param fields as they were sent; a text: of this query, and there are no others @returns the answer as JSON, at once if it can */
  answer(fields: string | Readonly<Fields>, call: ServedCall): string | Promise<string>
}

/** A request to an interface, with what another process has to know of its caller. */
export interface ServedCall extends InterfaceCall {
  /** The connection of its caller is gone: nothing more is begun for it. */
  readonly isGone: boolean
  rights(): CallerRights
}

export interface CallerRights {
  readonly id: string
  readonly permissions: readonly string[]
  /** By `addressKey`. */
  readonly wallets: 'all' | readonly string[]
}

/** An interface that runs in this process. @param name of its plugin */
export function servedHere(name: string, own: Interface, maxBytes = maxAnswerBytes): ServedInterface {
  return {
    paths: own.paths.map((path) => ({ ...path, answer: answersOf(name, path, maxBytes) })),
    showError: (error) => own.showError(error),
  }
}

function answersOf(name: string, { path, request, response, isPing, answer }: InterfacePath, maxBytes: number): ServedPath['answer'] {
  const readFields = fieldsReader(request)
  const readSearch = cachedQueryReader(readFields)
  const requireShape = shapeChecker(`${name} ${path}`, response)

  function textOf(given: unknown): string {
    const text = JSON.stringify(requireShape(given))
    // A character has three bytes at most.
    const bytes = text.length * 3 > maxBytes ? Buffer.byteLength(text) : 0
    if (bytes > maxBytes) throw new Error(`the answer of ${name} ${path} has ${bytes} bytes: at most ${maxBytes} are sent`)
    return text
  }

  return (fields, call) => {
    const asked = typeof fields === 'string' ? readSearch(fields).request : deepFreeze(readFields(fields, 'query'))
    const given = answer(asked, isPing === true ? withoutCalls(call) : call)
    return isThenable(given) ? Promise.resolve(given).then(textOf) : textOf(given)
  }
}

const isThenable = (given: unknown): given is PromiseLike<unknown> =>
  given instanceof Promise || (isObject(given) && typeof given['then'] === 'function')

/** What a ping calls would go past all that waits. */
function withoutCalls(call: ServedCall): InterfaceCall {
  const { caller, requestId, delivered } = call
  const refuse = async (): Promise<never> => {
    throw new Error('a ping calls no endpoint')
  }
  return {
    caller,
    requestId,
    delivered,
    get signal() {
      return call.signal
    },
    call: refuse,
    ask: refuse,
    once: refuse,
    follow: refuse,
    preferences: { read: refuse, known: refuse, set: refuse },
    addKey: refuse,
  }
}

const compilerOf = compilers(() => new Ajv({ strict: false, strictNumbers: true, validateFormats: false }))

/** Compiled with the first answer. */
function shapeChecker(what: string, schema: object): (answer: unknown) => unknown {
  let fits: ValidateFunction | undefined
  return (answer) => {
    fits ??= compilerOf(schema).compile(JSON.parse(JSON.stringify(schema)))
    if (fits(answer)) return answer
    const [first] = fits.errors ?? []
    throw new Error(`the answer of ${what} has a wrong shape: ${first?.instancePath ?? ''} ${first?.message ?? ''}`)
  }
}

const pathPattern = /^(\/(:[a-zA-Z]\w*|[\w.~-]+))*\/?$/

/** @throws PluginFault */
export function checkInterface(made: Interface): void {
  if (!isObject(made)) throw fault('create() did not return an object')
  requireMethods(made, 'the interface', ['showError'])
  if (!Array.isArray(made.paths) || made.paths.length === 0) throw fault('the interface has no list called paths')
  for (const each of made.paths) requireMethods(each, `${each.method} ${each.path}`, ['answer'])
  checkPaths(made.paths)
}

/** @throws PluginFault */
export function checkPaths(paths: readonly PathOutline[]): void {
  const known = new Set<string>()
  for (const each of paths) {
    const name = `${each.method} ${each.path}`
    if (!['GET', 'POST', 'DELETE'].includes(each.method) || !pathPattern.test(each.path)) throw fault(`${name} is no path of an interface`)
    if (known.has(name)) throw fault(`${name} is there twice`)
    known.add(name)
    if (each.isPing === true && (each.method !== 'GET' || each.path.includes(':')))
      throw fault(`${name} is no ping: that is a GET without parameters`)
    const { timeoutSeconds: seconds = 1 } = each
    if (!(typeof seconds === 'number' && seconds > 0 && seconds <= maxTimeoutSeconds))
      throw fault(`timeoutSeconds of ${name} is none of more than 0 and at most ${maxTimeoutSeconds}`)
    for (const schema of [each.request, each.response]) if (!isObject(schema)) throw fault(`${name} lacks a schema`)
    const fields = Object.keys(each.request.properties ?? {})
    const { secrets = [] } = each
    if (!Array.isArray(secrets)) throw fault(`${name} has no list of secrets`)
    const unknown = [...parametersOf(each.path), ...secrets].find((field) => !fields.includes(field))
    if (unknown !== undefined) throw fault(`the request of ${name} has no field ${unknown}`)
  }
}

/** The fields that a path names. */
export const parametersOf = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

const fault = (reason: string): PluginFault => new PluginFault('create', reason, remedies.methods)
