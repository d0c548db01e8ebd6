// How long a wallet's coin lasts for gas, at its use of the last days.
import { divideRaw, formatRatio, fromRaw } from '../../base/decimal.ts'
import { newestEntries } from '../../transactions/newest-entries.ts'
import { paidCostOf } from '../mined-amounts.ts'
import type { WalletReading } from './reading.ts'

const dayMs = 24 * 3_600_000
const days = 7
/** Of the wallet's newest entries: what they cost in less time is the use of that time. */
const maxEntries = 1_000

/** By the receipts that the journal has. Undefined on chains without gas. */
export async function readGas({ network, owner, services, signal }: WalletReading, balanceRaw: bigint, nowMs = Date.now()) {
  const { chain, network: name, impl } = network
  const { symbol, decimals } = impl.nativeCurrency
  const filter = { chain, network: name, address: owner, from: nowMs - days * dayMs, limit: maxEntries, archived: true }
  const fees: bigint[] = []
  let since: number | undefined
  const { entries } = await newestEntries(services.transactions.list, filter, { signal })
  for (const entry of entries) {
    const cost = paidCostOf(entry, services.registry)
    if (cost) fees.push(BigInt(cost.feeRaw))
    since = entry.createdAt
  }
  const spentRaw = fees.reduce((sum, fee) => sum + fee, 0n)
  const overMs = BigInt(Math.max(dayMs, Math.ceil(nowMs - (since ?? nowMs))))
  const perDayRaw = divideRaw(spentRaw * BigInt(dayMs), overMs, 'up')
  return {
    symbol,
    balance: fromRaw(balanceRaw, decimals),
    transactions: fees.length,
    spent: fromRaw(spentRaw, decimals),
    ...(since !== undefined && { since }),
    perDay: fromRaw(perDayRaw, decimals),
    ...(perDayRaw > 0n && { daysLeft: formatRatio(balanceRaw, perDayRaw, 'down', 4) }),
  }
}
