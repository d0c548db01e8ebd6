import type { Call, CallResult } from '../types.ts'

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
  const tuples = calls.map(({ to, data }) => {
    const digits = data.slice(2)
    const padded = digits.padEnd(Math.ceil(digits.length / wordDigits) * wordDigits, '0')
    return `${addressWord(to)}${one}${word(96)}${word(digits.length / 2)}${padded}`
  })
  let offset = calls.length * 32
  let offsets = ''
  for (const tuple of tuples) {
    offsets += word(offset)
    offset += tuple.length / 2
  }
  return `${aggregate3}${word(32)}${word(calls.length)}${offsets}${tuples.join('')}`
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
