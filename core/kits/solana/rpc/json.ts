import type { Json } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'

/** A text or a number: what stands in texts is no number. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const longInteger = /^-?\d{16,}$/

/** JSON of a node, in which lamports and token amounts are integers beyond 2^53: those become decimal strings. */
export function parseNodeJson(body: string): unknown {
  return JSON.parse(body.replaceAll(textOrNumber, (token) => (longInteger.test(token) ? `"${token}"` : token)))
}

/** An integer of a node's answer that is not below 0; undefined where the value is none. */
export function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^\d{1,39}$/.test(value) ? BigInt(value) : undefined
}

/** The same where it fits a number: slots, heights, times. */
export function numberOf(value: unknown): number | undefined {
  const integer = integerOf(value)
  return integer === undefined || integer > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(integer)
}

/** The slot that an answer holds for. */
export function contextSlotOf(result: unknown): number | undefined {
  return isObject(result) && isObject(result['context']) ? numberOf(result['context']['slot']) : undefined
}

/** What such an answer says. */
export function valueOf(result: unknown): unknown {
  return isObject(result) ? result['value'] : undefined
}

/** Amounts that may be large in one answer and small in another: always decimal strings. */
const amounts: ReadonlySet<string> = new Set(['fee', 'lamports', 'preBalances', 'postBalances', 'amount', 'rentEpoch'])
/** Floats of what stands beside them as a string. */
const dropped: ReadonlySet<string> = new Set(['uiAmount'])

/** What a node gave, as people and JSON read it. */
export function jsonOfNode(value: unknown, key = ''): Json {
  if (Array.isArray(value)) return value.map((each) => jsonOfNode(each, key))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !dropped.has(name))
        .map(([name, field]) => [name, jsonOfNode(field, name)]),
    )
  if (typeof value === 'number') return amounts.has(key) ? String(value) : value
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}
