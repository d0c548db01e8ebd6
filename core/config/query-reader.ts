// Reads queries as `field-reader.ts` does, those that come again without reading them again.
import { hashOf, SecondTimes } from '../base/second-times.ts'
import { readQuery, type Fields, type FieldsReader } from './field-reader.ts'

/** A request that may come again. Where its answer is the same object again, only the time and latency of the response differ. */
export interface Question<T extends object = Fields> {
  /** Frozen, with its lists. */
  readonly request: Readonly<T>
  /** The last answer, if it cannot change. */
  answer?: object | undefined
  /** That answer as JSON, up to what differs each time. */
  open?: string
}

const maxCachedQueries = 500
const maxCachedLength = 500

/**
 * Reads queries through caches: bots ask the same question again and again, or the same but for its amount or amounts. The first holds what was asked
 * for twice; for the second the amounts alone are read.
 */
export function cachedQueryReader<T extends object>(read: FieldsReader<T>): (query: string) => Question<T> {
  const cache = new Map<string, Question<T>>()
  const seen = new SecondTimes()
  const byAmount = new Map<string, QueryForm<T>>()
  const readAll = (query: string): T => withFrozenLists(read(readQuery(query), 'query'))
  /** The form of the last one: many come one after another, and what it begins and ends with is compared sooner than it is put together. */
  let last: QueryForm<T> | undefined

  /** Of a query with an amount, or a list of them. */
  function formOf(query: string): QueryForm<T> | undefined {
    if (last && query.startsWith(last.before)) {
      const end = query.indexOf('&', last.before.length)
      if (query.length - last.after.length === (end < 0 ? query.length : end) && query.endsWith(last.after)) return last
    }
    const found = amountField.exec(query)
    if (!found) return undefined
    const from = found.index + found[0].length
    const end = query.indexOf('&', from)
    const [before, after] = [query.slice(0, from), end < 0 ? '' : query.slice(end)]
    const field = found[0].endsWith('s=') ? 'amounts' : 'amount'
    return byAmount.get(before + after) ?? { field, before, after, number: hashOf(after, hashOf(before)) }
  }

  function requestOf(query: string, form: QueryForm<T> | undefined, amount: string): T {
    if (!form || !plainAmounts[form.field].test(amount)) return readAll(query)
    const { field } = form
    if (form.request) {
      last = form
      return read.replaced?.(form.request, field, amount) ?? readAll(query)
    }
    const request = readAll(query)
    // It may be there twice.
    if (String(Object(request)[field]) !== amount) return request
    if (byAmount.size >= maxCachedQueries) byAmount.clear()
    // Not frozen, as V8 copies each field of a frozen object by its name.
    byAmount.set(form.before + form.after, { ...form, request: { ...request } })
    return request
  }

  return (query) => {
    const known = cache.get(query)
    if (known) return known
    if (query.length > maxCachedLength) return { request: Object.freeze(readAll(query)) }
    const form = formOf(query)
    const amount = form ? query.slice(form.before.length, query.length - form.after.length) : ''
    const question: Question<T> = { request: Object.freeze(requestOf(query, form, amount)) }
    // Of what is before and behind the amount it is known.
    if (!seen.isSecond(form ? hashOf(amount, form.number) : hashOf(query))) return question
    if (cache.size >= maxCachedQueries) cache.clear()
    cache.set(query, question)
    return question
  }
}

/** Whoever asks the same gets the same lists. There is nothing deeper in a query. */
function withFrozenLists<T extends object>(request: T): T {
  for (const value of Object.values(request)) if (Array.isArray(value)) Object.freeze(value)
  return request
}

/** Queries that differ in their amount, or their list of amounts, alone. */
interface QueryForm<T> {
  readonly field: keyof typeof plainAmounts
  readonly before: string
  readonly after: string
  /** Of both, by `hashOf`. */
  readonly number: number
  /** That of one of them; absent where none was read yet. */
  readonly request?: Readonly<T>
}

const amountField = /(?:^|&)amounts?=/
/** By the field. */
const plainAmounts = { amount: /^[\d.]{1,99}$/, amounts: /^[\d.,]{1,400}$/ }
