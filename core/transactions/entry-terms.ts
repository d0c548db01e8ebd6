// What was asked for and what was answered: an entry of the journal keeps both for as long as there is one.
import { isObject } from '../base/json.ts'
import type { Json } from '../contracts/index.ts'

/** A request of a client, as it was read. */
export interface RequestWords {
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Texts of JSON that are longer are kept without their lists and objects: each entry of a request has them, and each of its events. */
const maxTermsLength = 4_000

export const wordsOf = (path: string, fields: Readonly<Record<string, unknown>>): RequestWords => ({ path, fields: shortened(fields) })

function shortened(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (JSON.stringify(fields).length <= maxTermsLength) return fields
  const isShort = (value: unknown) => (typeof value === 'string' ? value.length <= 256 : typeof value !== 'object')
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isShort(value)))
}

/** What an entry has of its own, or what differs each time the same is asked for. */
const ofEntry: ReadonlySet<string> = new Set(['txHash', 'nonce', 'gasPrice', 'gasPriceToken', 'gasLimit', 'transactions'])

/** What an answer says that the transaction does, without what the entry has itself; undefined where it says nothing. */
export function plannedOf(answer: object): Json | undefined {
  const said = withoutOwn(JSON.parse(JSON.stringify(answer)))
  const fields = isObject(said) ? shortened(said) : {}
  return Object.keys(fields).length === 0 ? undefined : (fields as Json)
}

function withoutOwn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwn)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([field, each]) => (ofEntry.has(field) ? [] : [[field, withoutOwn(each)]])))
}
