import { balanceOf, loansOf, type Account } from '../ledger/account.ts'
import type { Engine } from '../engine.ts'
import type { Token } from '../listing/tokens.ts'
import { borrowable } from './borrowable.ts'

/** What orders may pay with: with portfolio margin what was lent, and what can be borrowed, too. */
export function spendable(engine: Engine, account: Account, token: Token): bigint {
  const { total } = balanceOf(account, token.index)
  const reserve = engine.reserves.get(token.index)
  if (account.mode !== 'portfolioMargin' || !reserve) return total
  const { supplied } = loansOf(account, token.index)
  const back = supplied < reserve.balance ? supplied : reserve.balance
  return total + back + borrowable(engine, account, reserve)
}

/** With portfolio margin, the US dollars that perpetuals may have of it. */
export function lendableUsd(engine: Engine, account: Account): bigint {
  if (account.mode !== 'portfolioMargin') return 0n
  const usdc = engine.listing.token(0)!
  return (spendable(engine, account, usdc) - balanceOf(account, usdc.index).hold) / 100n
}
