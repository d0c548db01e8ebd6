import type { Engine } from '../engine.ts'
import { balanceOf, type Account } from '../ledger/account.ts'
import { crossSummary } from '../margin/perp-account.ts'
import { coverSpot } from './cover-spot.ts'

/** With portfolio margin there is one balance: perpetuals have as much of it as their initial margin takes. */
export function fundPerpetuals(engine: Engine, account: Account) {
  if (account.mode !== 'portfolioMargin') return
  const { value, used } = crossSummary(engine, account)
  const usdc = engine.listing.token(0)!
  const missing = used - value
  if (missing > 0n) coverSpot(engine, account, usdc, missing * 100n)
  balanceOf(account, usdc.index).total -= missing * 100n
  account.crossUsd += missing
}
