import { MaxUint256 } from 'ethers'
import { addressWord, word } from '../../../../kits/evm/multicall.ts'
import { quantityOf } from '../quantity.ts'
import type { Call, CallResult } from '../../../../kits/evm/types.ts'

// https://eips.ethereum.org/EIPS/eip-20
export const maxAmountRaw = MaxUint256

export function balanceOfCall(token: string, owner: string): Call {
  return { to: token, data: `0x70a08231${addressWord(owner)}` }
}

export function allowanceCall(token: string, owner: string, spender: string): Call {
  return { to: token, data: `0xdd62ed3e${addressWord(owner)}${addressWord(spender)}` }
}

export function approveCall(token: string, spender: string, amountRaw: bigint): Call {
  return { to: token, data: `0x095ea7b3${addressWord(spender)}${word(amountRaw)}` }
}

export function transferCall(token: string, recipient: string, amountRaw: bigint): Call {
  return { to: token, data: `0xa9059cbb${addressWord(recipient)}${word(amountRaw)}` }
}

export const symbolCall = (token: string): Call => ({ to: token, data: '0x95d89b41' })
export const decimalsCall = (token: string): Call => ({ to: token, data: '0x313ce567' })

/** The number that a view gave; undefined where the contract has no such view, or there is no contract. */
export function uintOf({ ok, data }: CallResult): bigint | undefined {
  return ok && data.length >= 66 ? quantityOf(data.slice(0, 66)) : undefined
}
