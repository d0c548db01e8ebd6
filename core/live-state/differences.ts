import { inspect } from 'node:util'
import { isObject } from '../base/json.ts'

/** A field in which a state in memory differs from the one that was read of the chain. Values are texts for people, cut where they are long. */
export interface Difference {
  /** Its path: `pool.state.liquidity`. */
  readonly field: string
  readonly inMemory: string
  readonly onChain: string
}

const maxDifferences = 8
const maxCharacters = 120
/** A state may be as large as a plugin makes it. */
const maxVisited = 20_000

/**
 * The first fields in which two states differ, from the outside in. What only one of the two knows differs as well. An object that keeps its
 * values to itself tells them by `toJSON`.
 */
export function differencesBetween(inMemory: unknown, onChain: unknown): readonly Difference[] {
  const found: Difference[] = []
  const queue: { readonly field: string; readonly ours: unknown; readonly theirs: unknown }[] = [
    { field: '', ours: inMemory, theirs: onChain },
  ]
  for (let index = 0; index < queue.length && index < maxVisited && found.length < maxDifferences; index += 1) {
    const { field, ours, theirs } = queue[index] ?? { field: '', ours: undefined, theirs: undefined }
    if (Object.is(ours, theirs)) continue
    const [inOurs, inTheirs] = [fieldsOf(ours), fieldsOf(theirs)]
    if (!inOurs || !inTheirs) {
      found.push({ field, inMemory: shown(ours), onChain: shown(theirs) })
      continue
    }
    for (const name of new Set([...inOurs.keys(), ...inTheirs.keys()]))
      queue.push({ field: field === '' ? name : `${field}.${name}`, ours: inOurs.get(name), theirs: inTheirs.get(name) })
  }
  return found
}

/** Undefined for what has none. Functions hold no values of a chain. */
function fieldsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [String(key), each]))
  if (value instanceof Set) return new Map([...value].map((each) => [String(each), each]))
  if (Array.isArray(value)) return new Map(value.map((each: unknown, index) => [String(index), each]))
  if (typeof value === 'function') return new Map()
  if (!isObject(value)) return undefined
  const plain = typeof value['toJSON'] === 'function' ? value['toJSON']() : value
  return isObject(plain) ? new Map(Object.entries(plain)) : undefined
}

function shown(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'bigint' ? String(value) : inspect(value, { depth: 1, breakLength: Infinity })
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
}
