import { balanceOf, loansOf, type Account, type Mode } from '../account.ts'
import { toUsd } from '../amounts.ts'
import type { Engine } from '../engine.ts'
import type { Token } from '../listing.ts'
import { crossSummary } from './perp-account.ts'
import { portfolioOf } from './portfolio.ts'
import type { Reserve } from './reserves.ts'

/** All that is moved between a wallet and a reserve, in the token's smallest unit. None of it checks anything. */
export function supply(account: Account, reserve: Reserve, wei: bigint) {
  const loans = loansOf(account, reserve.token.index)
  balanceOf(account, reserve.token.index).total -= wei
  reserve.balance += wei
  reserve.supplied += wei
  loans.supplied += wei
  loans.suppliedBasis += wei
}

export function takeBack(account: Account, reserve: Reserve, wei: bigint) {
  const loans = loansOf(account, reserve.token.index)
  loans.suppliedBasis -= wei === loans.supplied ? loans.suppliedBasis : (loans.suppliedBasis * wei) / loans.supplied
  loans.supplied -= wei
  reserve.supplied -= wei
  reserve.balance -= wei
  balanceOf(account, reserve.token.index).total += wei
}

export function borrow(account: Account, reserve: Reserve, wei: bigint) {
  const loans = loansOf(account, reserve.token.index)
  loans.borrowed += wei
  loans.borrowedBasis += wei
  reserve.borrowed += wei
  reserve.balance -= wei
  balanceOf(account, reserve.token.index).total += wei
}

export function repay(account: Account, reserve: Reserve, wei: bigint) {
  const loans = loansOf(account, reserve.token.index)
  loans.borrowedBasis -= wei === loans.borrowed ? loans.borrowedBasis : (loans.borrowedBasis * wei) / loans.borrowed
  loans.borrowed -= wei
  reserve.borrowed -= wei
  reserve.balance += wei
  balanceOf(account, reserve.token.index).total -= wei
}

/** With portfolio margin, what is not there is taken back from what was lent, and then borrowed. */
export function coverSpot(engine: Engine, account: Account, token: Token, wei: bigint) {
  if (account.mode !== 'portfolioMargin') return
  const { total } = balanceOf(account, token.index)
  let missing = wei - total
  const reserve = engine.reserves.get(token.index)
  if (missing <= 0n || !reserve) return
  const { supplied } = loansOf(account, token.index)
  const back = supplied < missing ? supplied : missing
  if (back > 0n) takeBack(account, reserve, back)
  missing -= back
  if (missing > 0n) borrow(account, reserve, missing)
}

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

/** Another mode for an account, or why it cannot have it. */
export function setMode(engine: Engine, account: Account, mode: Mode): string | undefined {
  if (mode === account.mode) return undefined
  if (mode === 'portfolioMargin') {
    if (account.volumeUsd < toUsd(engine.rules.volumeForPortfolioMargin)) return 'Insufficient volume traded to enable portfolio margin.'
  } else if (portfolioOf(engine, account).borrowedUsd > 0n) return 'Cannot disable portfolio margin with borrowed balances.'
  // They may hold back what only could be borrowed.
  else if (account.open.size > 0) return 'Cannot disable portfolio margin with open orders.'
  account.mode = mode
  // There is one balance then: what perpetuals do not use is with the rest.
  fundPerpetuals(engine, account)
  engine.outbox.users.add(account.address)
  return undefined
}
