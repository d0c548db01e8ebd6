import { fromUsd } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import type { Account } from '../ledger/account.ts'
import type { Action } from './action.ts'

const slowMs = 10_000

/** How many requests a wallet may make in all: what it starts with and one per dollar that it traded, more for cancels. */
export function requestCap({ rules }: Engine, { volumeUsd }: Account, isCancel = false): number {
  const limit = rules.requestsPerAddress + Number(volumeUsd / 1_000_000n)
  return isCancel ? Math.min(limit + 100_000, limit * 2) : limit
}

/** https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits: beyond it, one every ten seconds. */
export function spendRequests(engine: Engine, account: Account, action: Action, weight: number): string | undefined {
  const cap = requestCap(engine, account, action.isCancel)
  if (account.requests + weight > cap) {
    const now = engine.clock.now()
    if (now - account.lastSlowRequest < slowMs) {
      return (
        `Too many cumulative requests sent (${account.requests + weight} > ${cap}) for cumulative volume traded $${fromUsd(account.volumeUsd)}. ` +
        'Place taker orders to free up 1 request per USDC traded.'
      )
    }
    account.lastSlowRequest = now
  }
  account.requests += weight
  return undefined
}
