// What the cards of interfaces work on: its paths as a server has them, clients of it, and what its handlers throw that is a defect.
import { isAbort } from '../../core/base/async.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import { parametersOf, type PathOutline, type PermittedInterface, type ServedCall, type ServedInterface } from '../../core/plugins/index.ts'
import type { Answer, Client } from '../client.ts'

export type Fields = Readonly<Record<string, unknown>>

/** An interface on a running server. */
export interface TestInterface {
  readonly name: string
  readonly served: ServedInterface
  /** Of the interface, with all permissions and all wallets. */
  readonly client: Client
  /** Of the interface, without any permission. */
  readonly stranger: Client
  /** Of the server's own interface. */
  readonly server: Client
  readonly watched: WatchedInterface
}

/** What its paths gave and threw, since it was asked for last. */
export interface WatchedInterface {
  /** The interface with its paths watched. */
  watch(served: PermittedInterface): PermittedInterface
  /** What is watched. */
  served(): ServedInterface | undefined
  /** What a handler threw that is no error of the table, or an answer of a wrong shape: its words, with the request. */
  takeDefects(): readonly string[]
  /** Resolves when a handler gets the next request. */
  nextRequest(): Promise<void>
  /** Calls of endpoints. */
  takeCalls(): number
  /** The longest answer, in bytes. */
  takeLongest(): number
}

const mostWords = 300

export function watchInterface(): WatchedInterface {
  let defects: string[] = []
  let [calls, longest] = [0, 0]
  let waiting: (() => void)[] = []
  let served: ServedInterface | undefined
  const watchedPath = (path: PermittedInterface['paths'][number]): PermittedInterface['paths'][number] => ({
    ...path,
    async answer(fields, call) {
      for (const tell of waiting) tell()
      waiting = []
      const counted: ServedCall = {
        caller: call.caller,
        requestId: call.requestId,
        get signal() {
          return call.signal
        },
        get isGone() {
          return call.isGone
        },
        delivered: call.delivered,
        rights: () => call.rights(),
        once: (...args) => call.once(...args),
        follow: (...args) => call.follow(...args),
        preferences: call.preferences,
        addKey: (...args) => call.addKey(...args),
        call(...args) {
          calls += 1
          return call.call(...args)
        },
        ask(...args) {
          calls += 1
          return call.ask(...args)
        },
      }
      try {
        const text = await path.answer(fields, counted)
        longest = Math.max(longest, Buffer.byteLength(text))
        return text
      } catch (error) {
        if (!(error instanceof SluiceError && error.name !== 'UNKNOWN_ERROR') && !isAbort(error))
          defects.push(defectOf(path, fields, error))
        throw error
      }
    },
  })
  const take = <T>(value: T, clear: () => void): T => {
    clear()
    return value
  }
  return {
    watch: (own) => (served = { paths: own.paths.map(watchedPath), showError: (error) => own.showError(error) }),
    served: () => served,
    takeDefects: () => take(defects, () => (defects = [])),
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    takeCalls: () => take(calls, () => (calls = 0)),
    takeLongest: () => take(longest, () => (longest = 0)),
  }
}

function defectOf({ method, path }: PathOutline, fields: string | Fields, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `${method} ${path} with ${shortened(JSON.stringify(fields))}: ${shortened(reason)}`
}

export const shortened = (text: string): string => (text.length > mostWords ? `${text.slice(0, mostWords)}…` : text)

/** Requests that succeed on the devnet, as the schema of a path says them. */
export function examplesOf({ request }: PathOutline): readonly Fields[] {
  const examples: unknown = Reflect.get(request, 'examples')
  return Array.isArray(examples) ? examples.filter(isObject) : []
}

/** @param fields of the path, and of the query or the body */
export function ask(client: Client, path: PathOutline, fields: Fields): Promise<Answer> {
  if (path.method !== 'POST') return client.request(path.method, targetOf(path, fields))
  return client.post(pathWith(path, fields), Object.fromEntries(fieldsBeside(path, fields)))
}

/** Of a request without a body: its path and its query. */
export function targetOf(path: PathOutline, fields: Fields): string {
  const query = fieldsBeside(path, fields).map(([name, value]): [string, string] => [name, textOf(value)])
  return query.length === 0 ? pathWith(path, fields) : `${pathWith(path, fields)}?${new URLSearchParams(query).toString()}`
}

const pathWith = ({ path }: PathOutline, fields: Fields): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(fields[name]) || '-'))

const fieldsBeside = ({ path }: PathOutline, fields: Fields): [string, unknown][] => {
  const inPath = parametersOf(path)
  return Object.entries(fields).filter(([name]) => !inPath.includes(name))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))

/** Fields that are right by their types: of an example, where the path has one. */
export function usualFields(path: PathOutline): Fields {
  const [example] = examplesOf(path)
  if (example) return example
  const required: readonly string[] = path.request.required ?? []
  return Object.fromEntries(required.map((name) => [name, valueFor(path.request.properties[name])]))
}

function valueFor(schema: unknown): unknown {
  if (!isObject(schema)) return 'x'
  const { type, enum: known, const: only, minimum, anyOf } = schema
  if (only !== undefined) return only
  if (Array.isArray(known)) return known[0]
  if (Array.isArray(anyOf)) return valueFor(anyOf[0])
  switch (type) {
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 1
    case 'boolean':
      return true
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return '1'
  }
}
