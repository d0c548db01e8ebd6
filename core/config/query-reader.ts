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

/** Reads queries through a cache of what was asked for twice: bots ask the same question again and again. */
export function cachedQueryReader<T extends object>(read: FieldsReader<T>): (query: string) => Question<T> {
  const cache = new Map<string, Question<T>>()
  const seen = new SecondTimes()
  return (query) => {
    const known = cache.get(query)
    if (known) return known
    const question: Question<T> = { request: withFrozenLists(read(readQuery(query), 'query')) }
    if (query.length > maxCachedLength || !seen.isSecond(hashOf(query))) return question
    if (cache.size >= maxCachedQueries) cache.clear()
    cache.set(query, question)
    return question
  }
}

/** Whoever asks the same gets the same lists. There is nothing deeper in a query. */
function withFrozenLists<T extends object>(request: T): Readonly<T> {
  for (const value of Object.values(request)) if (Array.isArray(value)) Object.freeze(value)
  return Object.freeze(request)
}
