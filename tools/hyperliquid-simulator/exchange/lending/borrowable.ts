import { least, most, toUnits } from '../amounts/decimals.ts'
import type { Engine } from '../engine.ts'
import { loansOf, type Account } from '../ledger/account.ts'
import { borrowOraclePx } from './oracle.ts'
import { portfolioOf } from './portfolio.ts'
import type { Reserve } from './reserves.ts'

/** How much more of a token may be borrowed, in its smallest unit: by its cap, by what stands against it, and by what is there. */
export function borrowable(engine: Engine, account: Account, { token, isBorrowable, balance }: Reserve): bigint {
  if (!isBorrowable || account.mode !== 'portfolioMargin') return 0n
  const { borrowableUsd, borrowedUsd } = portfolioOf(engine, account)
  const free = most(0n, borrowableUsd - borrowedUsd)
  const byCollateral = (free * 10n ** BigInt(2 + token.weiDecimals)) / borrowOraclePx(engine, token)
  const cap = toUnits(engine.rules.borrowCap, token.weiDecimals) - loansOf(account, token.index).borrowed
  return most(0n, least(least(byCollateral, cap), balance))
}
