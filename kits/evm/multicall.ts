import { SluiceError } from '../../core/contracts/index.ts'
import { invalidAnswer, type ReadRpc } from '../nodes/rpc.ts'
import artifact from './artifacts/Batch.json' with { type: 'json' }
import { addressWord, isBytes, nativeAddress, packBytes, word, wordDigits } from './encoding.ts'
import type { Call, CallResult, Probe } from './types.ts'

// Multicall3, https://github.com/mds1/multicall3. Packed by hand, because every quote that is read from the network needs it.
const aggregate3 = '0x82ad56cb'
const aggregate3Value = '0x174dea71'

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

const mayFail = word(1)

/** Calldata of `aggregate3((address target, bool allowFailure, bytes callData)[])`. Each call may fail alone. */
export function packAggregate3(calls: readonly Call[]): string {
  return `${aggregate3}${word(32)}${packList(calls.map(({ to, data }) => packItem(to, mayFail, data)))}`
}

/** Calldata of `aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[])`. Each call may fail alone. */
export function packAggregate3Value(calls: readonly (Call & { value?: string })[]): string {
  const items = calls.map(({ to, data, value = '0' }) => `${addressWord(to)}${mayFail}${word(BigInt(value))}${word(128)}${packBytes(data)}`)
  return `${aggregate3Value}${word(32)}${packList(items)}`
}

/** A tuple of an address, a word and bytes. */
function packItem(to: string, middle: string, data: string): string {
  return `${addressWord(to)}${middle}${word(96)}${packBytes(data)}`
}

/** A list of entries of different lengths: their number, the offset of each, then the entries. */
function packList(entries: readonly string[]): string {
  let offset = entries.length * 32
  let offsets = ''
  for (const entry of entries) {
    offsets += word(offset)
    offset += entry.length / 2
  }
  return `${word(entries.length)}${offsets}${entries.join('')}`
}

/** Reads `(bool success, bytes returnData)[]`. Undefined if the bytes are not that, or have another number of entries than expected. */
export function unpackAggregate3(bytes: string, expected: number): readonly CallResult[] | undefined {
  const end = (bytes.length - 2) / 2
  /** The number at a byte offset. NaN outside of the bytes, or for what cannot be an offset. */
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

/** The results of `aggregate3`. @throws SluiceError NETWORK if the node returned something else */
export function aggregateResults(rpc: ReadRpc, bytes: unknown, expected: number): readonly CallResult[] {
  const results = isBytes(bytes) ? unpackAggregate3(bytes, expected) : undefined
  if (!results) throw invalidAnswer(rpc, 'answered a call to Multicall3 with something else than its result')
  return results
}

export function noMulticall(network: string, address: string): SluiceError {
  return new SluiceError('NETWORK', `${network} has no Multicall3 at ${address}, which Sluice needs for reading: check rpcUrls.`)
}

/** https://eips.ethereum.org/EIPS/eip-3860. Calls are limited to the same (geth `core/state_transition.go`). */
export const maxCreationBytes = 49_152

/** In place of the number of a probe's code: a plain call (contracts/Batch.sol). */
const plainCall = word(0)
/** The offset of an entry in a list. */
const offsetBytes = 32

type Item = Call | Probe

export const isProbe = (item: Item): item is Probe => 'code' in item

/** Creation code that makes calls as Multicall3 does and runs probes among them. It answers as `aggregate3` does. */
export function packBatch(items: readonly Item[]): string {
  const codes = [...new Set(items.flatMap((item) => (isProbe(item) ? item.code : [])))]
  const packedCodes = packList(codes.map(packBytes))
  const packedItems = packList(items.map((item) => packed(item, isProbe(item) ? codes.indexOf(item.code) + 1 : 0)))
  return `${artifact.bytecode}${word(64)}${word(64 + packedCodes.length / 2)}${packedCodes}${packedItems}`
}

/** Cuts a list, in its order, into parts that each fit into one piece of creation code together with `everywhere`. @throws Error if an item alone does not fit */
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
    if (roomBytes < 0) throw new Error(`A call or probe of ${needsBytes(item)} bytes does not fit into creation code.`)
    parts.at(-1)?.push(item)
    if (isProbe(item)) codes.add(item.code)
  }
  return parts
}

function packed(item: Item, code: number): string {
  return isProbe(item) ? packItem(nativeAddress, word(code), item.args ?? '0x') : packItem(item.to, plainCall, item.data)
}

const bytesOf = (digits: string) => digits.length / 2
