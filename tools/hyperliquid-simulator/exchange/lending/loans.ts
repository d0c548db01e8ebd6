import { balanceOf, loansOf, type Account } from '../ledger/account.ts'
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
