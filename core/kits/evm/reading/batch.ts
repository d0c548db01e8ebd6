import artifact from '../../../../kits/evm/artifacts/Batch.json' with { type: 'json' }
import { nativeAddress } from '../address.ts'
import type { Call, Probe } from '../../../../kits/evm/types.ts'
import { packBytes, packItem, packList, word } from '../../../../kits/evm/multicall.ts'

/** https://eips.ethereum.org/EIPS/eip-3860: more is refused in a call too (geth `core/state_transition.go`). */
export const mostCreationBytes = 49_152

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
      roomBytes = mostCreationBytes - bytesOf(packBatch(everywhere).slice(2))
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
