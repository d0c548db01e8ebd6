// How what is read of accounts is written: an address, or an address with the number of bytes of which the rest is not read, as of a program's megabyte.
import { maxPerCall } from './accounts.ts'
import type { RpcCall } from '../nodes/dialect.ts'
import { canonicalAddress } from './types.ts'

/** The longest beginning that may be followed: longer ones are accounts. */
const maxStart = 1_024
const startKey = /^(\w+)\/([1-9]\d{0,3})$/

/** So many bytes of an account's data from its beginning. */
export const startOf = (address: string, length: number): string => `${address}/${length}`

interface AccountStart {
  readonly address: string
  /** Absent: the whole account. */
  readonly length?: number
}

/** What a key says. */
export function readKey(key: string): AccountStart {
  const [, address, length] = startKey.exec(key) ?? []
  return address === undefined ? { address: key } : { address, length: Number(length) }
}

/** Whether it is an address, or the beginning of an account, as nodes take them. */
export function isAccountKey(key: string): boolean {
  const { address, length = 1 } = readKey(key)
  return canonicalAddress(address) === address && length <= maxStart
}

/** What one call reads. */
export interface KeyedCall {
  readonly keys: readonly string[]
  readonly call: RpcCall
}

/** The calls that read these, for one batch: beginnings last, so that they are of no older slot than the accounts before them. */
export function keyedCalls(keys: readonly string[], commitment: { readonly commitment: string }): readonly KeyedCall[] {
  const byLength = new Map<number | undefined, string[]>([[undefined, []]])
  for (const key of keys) {
    const { length } = readKey(key)
    const same = byLength.get(length)
    if (same) same.push(key)
    else byLength.set(length, [key])
  }
  return [...byLength].flatMap(([length, same]) =>
    Array.from({ length: Math.ceil(same.length / maxPerCall) }, (_, part): KeyedCall => {
      const own = same.slice(part * maxPerCall, (part + 1) * maxPerCall)
      const slice = length === undefined ? {} : { dataSlice: { offset: 0, length } }
      const params = [own.map((key) => readKey(key).address), { encoding: 'base64', ...commitment, ...slice }]
      return { keys: own, call: { method: 'getMultipleAccounts', params, size: own.length } }
    }),
  )
}

/** Whether it is a whole account's. */
export const isWhole = (key: string): boolean => readKey(key).length === undefined
