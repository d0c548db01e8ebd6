// The readers of calls, by the names that signing.json has for the contracts of the release. Plugins bring none.
import type { EvmRules } from '../policy.ts'
import {
  readCurveRouter,
  readMatchingMarket,
  readPermit2,
  readPerpHouse,
  readPerpVault,
  readStablePool,
  readStableRouter,
  readVault,
} from './other-contracts.ts'
import { Unreadable, type CallReader, type ContractCall } from './reading.ts'
import { readUniversalRouter } from './universal-router.ts'
import { readV2Router } from './v2-router.ts'
import { readV3Positions } from './v3-positions.ts'
import { readAlgebraRouter, readAlgebraV1Router, readSwapRouter, readSwapRouter02 } from './v3-router.ts'
import { readV4Positions } from './v4-positions.ts'

const readers: ReadonlyMap<string, CallReader> = new Map([
  ['v2-router', readV2Router],
  ['v3-router', readSwapRouter],
  ['v3-router-02', readSwapRouter02],
  ['algebra-router', readAlgebraRouter],
  ['algebra-v1-router', readAlgebraV1Router],
  ['v3-positions', readV3Positions],
  ['universal-router', readUniversalRouter],
  ['v4-positions', readV4Positions],
  ['balancer-vault', readVault],
  ['stable-router', readStableRouter],
  ['stable-pool', readStablePool],
  ['curve-router', readCurveRouter],
  ['matching-market', readMatchingMarket],
  ['perp-house', readPerpHouse],
  ['perp-vault', readPerpVault],
])

export const readerNames: readonly string[] = [...readers.keys(), 'permit2']

/**
 * Contracts that have readers take from their caller alone, by calls that the signer reads: so an allowance of theirs takes nothing by itself. A
 * contract that is no token of a list may be one of ERC-721, whose rights some routers let anybody use (callPositionManager of SwapRouter02).
 */
export const isBoundByCalls = ({ token, spender }: { token: string; spender: string }, rules: EvmRules): boolean =>
  rules.readers.has(spender) && (rules.tokens.has(token) || token === rules.wrapped)

/**
 * What the call of a contract can take from the wallet at most. `unreadable`: why it cannot be told.
 * @throws Refusal where somebody else than the wallet gets what it gives
 */
export function readCall(
  call: Omit<ContractCall, 'wrapped' | 'listed'>,
  rules: EvmRules,
  { countsApprovals }: { readonly countsApprovals: boolean },
): ReadonlyMap<string, bigint> | { readonly unreadable: string } {
  const name = rules.readers.get(call.contract)
  if (name === undefined) return { unreadable: 'the contract has no reader' }
  const reader = name === 'permit2' ? readPermit2((right) => !countsApprovals && isBoundByCalls(right, rules)) : readers.get(name)
  if (!reader) return { unreadable: 'the contract has no reader' }
  try {
    return reader({ ...call, wrapped: rules.wrapped, listed: rules.tokens })
  } catch (error) {
    if (error instanceof Unreadable) return { unreadable: error.message }
    throw error
  }
}
