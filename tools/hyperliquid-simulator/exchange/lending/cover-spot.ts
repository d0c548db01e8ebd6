import type { Engine } from '../engine.ts'
import { balanceOf, loansOf, type Account } from '../ledger/account.ts'
import type { Token } from '../listing/tokens.ts'
import { borrow, takeBack } from './loans.ts'

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
