import { ZeroAddress } from 'ethers/constants'
import type { At, Need, Token } from '../../../contracts/index.ts'
import { allowanceCall, balanceOfCall, uintOf } from '../reading/erc20.ts'
import { ethBalanceCall } from '../../../../kits/evm/multicall.ts'
import type { EvmRailOptions } from '../../../../kits/evm/rail.ts'
import { balanceTooSmall } from '../../../../kits/nodes/rails.ts'
import { allowanceTooLarge, allowanceTooSmall } from './allowance-shortage.ts'
import type { Call, CallResult } from '../../../../kits/evm/types.ts'

/** The native coin, as plans name it. */
export const nativeAddress = ZeroAddress

/** What reads what all needs are about. */
export function needsCalls(needs: readonly Need[], owner: string, multicall: string): readonly Call[] {
  return needs.map((need) => {
    if (need.is !== 'balance') return allowanceCall(need.token, owner, need.spender)
    return need.token === nativeAddress ? ethBalanceCall(multicall, owner) : balanceOfCall(need.token, owner)
  })
}

/**
 * Throws what the wallet lacks, balances before allowances: who has nothing to trade need not approve.
 * @returns the wallet's native balance, the last of the needs
 */
export async function judgeNeeds(
  { nativeCurrency, token }: EvmRailOptions,
  needs: readonly Need[],
  results: readonly CallResult[],
  at: At,
): Promise<bigint> {
  // What has no balances holds none.
  const current = results.map((result) => uintOf(result) ?? 0n)
  const lacking = needs
    .map((need, index) => ({ need, currentRaw: current[index] ?? 0n }))
    .filter(({ need, currentRaw }) => (need.is === 'allowance-at-most' ? currentRaw > need.amountRaw : currentRaw < need.amountRaw))
  const first = lacking.find(({ need }) => need.is === 'balance') ?? lacking[0]
  if (first) {
    const { need, currentRaw } = first
    const named = need.token === nativeAddress ? nativeCurrency : ((await token(need.token, at)) ?? unnamed(need.token))
    if (need.is === 'allowance-at-most') throw allowanceTooLarge(named, need.spender)
    throw need.is === 'balance'
      ? balanceTooSmall(named, currentRaw, need.amountRaw)
      : allowanceTooSmall(named, need.spender, currentRaw, need.amountRaw)
  }
  return current.at(-1) ?? 0n
}

/** Something without symbol and decimals: its smallest units are all there is to say. */
function unnamed(address: string): Token {
  return { symbol: address, address, decimals: 0 }
}
