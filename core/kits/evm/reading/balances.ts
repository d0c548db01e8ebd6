import { SluiceError } from '../../../contracts/index.ts'
import type { At, Token } from '../../../contracts/index.ts'
import { balanceOfCall, uintOf } from './erc20.ts'
import { ethBalanceCall } from '../../../../kits/evm/multicall.ts'
import type { EvmReader } from '../../../../kits/evm/types.ts'

/** Native and token balances at one block, in one round trip. */
export async function readBalances(
  reader: EvmReader,
  multicall: string,
  owner: string,
  tokens: readonly Token[],
  at: At,
): Promise<readonly bigint[]> {
  if (tokens.length === 0) return []
  const calls = tokens.map((token) => (token.native ? ethBalanceCall(multicall, owner) : balanceOfCall(token.address, owner)))
  const { results } = await reader.read(calls, at)
  return tokens.map((token, index) => uintOf(results[index] ?? noResult) ?? notAToken(token))
}

export const noResult = { ok: false, data: '0x' } as const

/** A balance of 0 in its place would be a lie. */
export function notAToken({ symbol, address }: Token): never {
  throw new SluiceError('TOKEN_NOT_SUPPORTED', `${symbol} at ${address} does not answer as a token on this network: check its address.`)
}
