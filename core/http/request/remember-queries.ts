import type { FieldsReader } from '../../handlers/read-fields.ts'
import { readQuery } from './read-query.ts'

const mostKept = 500
const mostLength = 500

/** Reads queries, and remembers what it read: bots ask the same question again and again. What it gives is for reading only. */
export function rememberQueries<T extends object>(read: FieldsReader<T>): (search: string) => Readonly<T> {
  const kept = new Map<string, Readonly<T>>()
  return (search) => {
    const known = kept.get(search)
    if (known) return known
    const request = Object.freeze(read(readQuery(search), 'query'))
    if (search.length > mostLength) return request
    if (kept.size >= mostKept) kept.clear()
    kept.set(search, request)
    return request
  }
}
