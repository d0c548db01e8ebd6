// What a confirmed transaction moved into and out of the wallet that paid for it, by the balances that its receipt has of before and after it.
import type { Json } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { nativeAddress, type SolanaReceipt } from './types.ts'

/**
 * By mint, smallest units; of SOL without the fee, but with the rent of accounts that it opened. Undefined where no node has its receipt.
 * Fields: https://solana.com/docs/rpc/json-structures#transaction-status-metadata
 */
export function movedIn(receipt: SolanaReceipt & Readonly<Record<string, Json>>, wallet: string): Map<string, bigint> | undefined {
  const { fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = receipt
  if (fee === null) return undefined
  const moved = new Map<string, bigint>()
  const add = (token: string, raw: bigint) => void moved.set(token, (moved.get(token) ?? 0n) + raw)
  for (const [list, sign] of [
    [preTokenBalances, -1n],
    [postTokenBalances, 1n],
  ] as const) {
    // Old nodes have none of them.
    if (!Array.isArray(list)) return undefined
    for (const each of list) {
      const balance = readBalance(each)
      if (!balance) return undefined
      if (balance.owner === wallet) add(balance.mint, sign * balance.raw)
    }
  }
  // The account that pays is the first.
  const [before, after] = [preBalances, postBalances].map((list) => (Array.isArray(list) ? amountOf(list[0] ?? null) : undefined))
  if (before === undefined || after === undefined) return undefined
  add(nativeAddress, after - before + BigInt(fee))
  return moved
}

function readBalance(each: Json): { owner: string | undefined; mint: string; raw: bigint } | undefined {
  if (!isObject(each) || !isObject(each['uiTokenAmount'])) return undefined
  const { owner, mint, uiTokenAmount } = each
  const raw = amountOf(uiTokenAmount['amount'] as Json)
  if (typeof mint !== 'string' || raw === undefined) return undefined
  return { owner: typeof owner === 'string' ? owner : undefined, mint, raw }
}

const amountOf = (value: Json): bigint | undefined =>
  typeof value === 'string' && /^\d{1,20}$/.test(value)
    ? BigInt(value)
    : typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
      ? BigInt(value)
      : undefined
