import { AbiCoder } from 'ethers'
import type { Token } from '../../../contracts/index.ts'
import { uintOf } from './erc20.ts'
import type { CallResult } from '../../../../kits/evm/types.ts'

/** 10^77 is the largest power of ten in 256 bits. */
const maxDecimals = 77
const maxSymbolLength = 32

/** A token from what its `symbol()` and `decimals()` gave; undefined where it has no decimals. */
export function readToken(address: string, symbol: CallResult, decimals: CallResult): Token | undefined {
  const places = uintOf(decimals)
  if (places === undefined || places > BigInt(maxDecimals)) return undefined
  return { symbol: readSymbol(symbol) || address, address, decimals: Number(places) }
}

/** Text of whoever deployed the token: nothing invisible, nothing that breaks a line or turns the writing direction. */
export function readSymbol({ ok, data }: CallResult): string {
  if (!ok) return ''
  const text = data.length === 66 ? textOfBytes32(data) : textOfString(data)
  return text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}\p{P}\p{S}]/gu, '')
    .slice(0, maxSymbolLength)
}

/** The oldest tokens (MKR) return bytes32. */
function textOfBytes32(data: string): string {
  return Buffer.from(data.slice(2), 'hex').toString('utf8').replace(/\0+$/, '')
}

function textOfString(data: string): string {
  try {
    const [text]: unknown[] = AbiCoder.defaultAbiCoder().decode(['string'], data)
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}
