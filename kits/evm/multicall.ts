import artifact from './artifacts/Batch.json' with { type: 'json' }
import { nativeAddress } from './encoding.ts'
import type { Call, CallResult, Probe } from './types.ts'

// Multicall3, https://github.com/mds1/multicall3. Packed by hand: this is on the way of every quote.
const aggregate3 = '0x82ad56cb'

/** Selectors of Multicall3's own views. */
export const multicallViews = {
  getBlockNumber: '0x42cbb15c',
  getCurrentBlockTimestamp: '0x0f28c97d',
  getBasefee: '0x3e64a696',
} as const

/** `getEthBalance(address)`. */
export function ethBalanceCall(multicall: string, owner: string): Call {
  return { to: multicall, data: `0x4d2301cc${addressWord(owner)}` }
}

const wordDigits = 64
const one = word(1)

export function word(value: number | bigint): string {
  return value.toString(16).padStart(wordDigits, '0')
}

export function addressWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(wordDigits, '0')
}

/** Calldata of `aggregate3((address target, bool allowFailure, bytes callData)[])`; every call may fail by itself. */
export function packAggregate3(calls: readonly Call[]): string {
  return `${aggregate3}${word(32)}${packList(calls.map(({ to, data }) => packItem(to, one, data)))}`
}

/** A tuple of an address, a word and bytes. */
function packItem(to: string, middle: string, data: string): string {
  return `${addressWord(to)}${middle}${word(96)}${packBytes(data)}`
}

/** Bytes with their length, filled up to whole words. */
export function packBytes(data: string): string {
  const digits = data.slice(2)
  return word(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / wordDigits) * wordDigits, '0')
}

/** A list of what differs in length: how many, where each begins, then each. */
function packList(entries: readonly string[]): string {
  let offset = entries.length * 32
  let offsets = ''
  for (const entry of entries) {
    offsets += word(offset)
    offset += entry.length / 2
  }
  return `${word(entries.length)}${offsets}${entries.join('')}`
}

/** Reads `(bool success, bytes returnData)[]`; undefined where the bytes are not that, with as many entries as expected. */
export function unpackAggregate3(bytes: string, expected: number): readonly CallResult[] | undefined {
  const end = (bytes.length - 2) / 2
  /** A number at a byte offset; NaN outside of the bytes or beyond what an offset can be. */
  const at = (offset: number): number =>
    offset + 32 <= end ? Number(`0x${bytes.slice(2 + offset * 2, 2 + offset * 2 + wordDigits)}`) : Number.NaN
  const list = at(0)
  if (at(list) !== expected) return undefined
  const results: CallResult[] = []
  for (let index = 0; index < expected; index += 1) {
    const tuple = list + 32 + at(list + 32 + index * 32)
    const ok = at(tuple)
    const data = tuple + at(tuple + 32)
    const length = at(data)
    if (!(ok <= 1) || !(data + 32 + length <= end)) return undefined
    const start = 2 + (data + 32) * 2
    results.push({ ok: ok === 1, data: `0x${bytes.slice(start, start + length * 2)}` })
  }
  return results
}

/** https://eips.ethereum.org/EIPS/eip-3860: more is refused in a call too (geth `core/state_transition.go`). */
export const maxCreationBytes = 49_152

/** `code` of what is no probe (contracts/Batch.sol). */
const plainCall = word(0)
/** Where it begins, in a list. */
const offsetBytes = 32

type Item = Call | Probe

export const isProbe = (item: Item): item is Probe => 'code' in item

/** Creation code that performs calls as Multicall3 does and runs probes among them; answers as `aggregate3` does. */
export function packBatch(items: readonly Item[]): string {
  const codes = [...new Set(items.flatMap((item) => (isProbe(item) ? item.code : [])))]
  const packedCodes = packList(codes.map(packBytes))
  const packedItems = packList(items.map((item) => packed(item, isProbe(item) ? codes.indexOf(item.code) + 1 : 0)))
  return `${artifact.bytecode}${word(64)}${word(64 + packedCodes.length / 2)}${packedCodes}${packedItems}`
}

/** Cuts a list, in its order, into parts that each fit into one piece of creation code together with `everywhere`. */
export function batchParts(items: readonly Item[], everywhere: readonly Call[]): readonly (readonly Item[])[] {
  const parts: Item[][] = []
  let codes = new Set<string>()
  let roomBytes = 0
  const needsBytes = (item: Item) => {
    const own = offsetBytes + bytesOf(packed(item, 0))
    return isProbe(item) && !codes.has(item.code) ? own + offsetBytes + bytesOf(packBytes(item.code)) : own
  }
  for (const item of items) {
    if (needsBytes(item) > roomBytes) {
      parts.push([])
      codes = new Set()
      roomBytes = maxCreationBytes - bytesOf(packBatch(everywhere).slice(2))
    }
    roomBytes -= needsBytes(item)
    if (roomBytes < 0) throw new Error(`A call or probe of ${needsBytes(item)} bytes is more than creation code may hold.`)
    parts.at(-1)?.push(item)
    if (isProbe(item)) codes.add(item.code)
  }
  return parts
}

function packed(item: Item, code: number): string {
  return isProbe(item) ? packItem(nativeAddress, word(code), item.args ?? '0x') : packItem(item.to, plainCall, item.data)
}

const bytesOf = (digits: string) => digits.length / 2
