import { abs, ceilDiv, least } from '../amounts/decimals.ts'
import { one } from '../amounts/units.ts'
import { stateOf, type Engine } from '../engine.ts'
import { balanceOf, loansOf, type Account } from '../ledger/account.ts'
import { endOrder } from '../matching/cancel.ts'
import { closeOut } from '../matching/close-out.ts'
import { repay, takeBack } from './loans.ts'
import { liquidatableFrom, portfolioOf } from './portfolio.ts'

/** Perpetuals are closed, then collateral is sold for what is owed, as far as the book takes it. */
export function liquidatePortfolio(engine: Engine, account: Account) {
  if (portfolioOf(engine, account).ratio <= liquidatableFrom || portfolioOf(engine, account).requirementUsd === 0n) return
  const usdc = engine.reserves.get(0)!
  const loans = loansOf(account, usdc.token.index)
  if (loans.borrowed === 0n && account.positions.size === 0) return
  for (const order of account.open.values()) endOrder(engine, order, 'liquidatedCanceled')
  for (const position of account.positions.values()) {
    if (position.isolatedUsd === undefined) closeOut(engine, account, position.market, position.szi < 0n, abs(position.szi))
  }
  for (const reserve of engine.reserves.values()) {
    if (reserve.ltvPercent === 0n) continue
    const { supplied } = loansOf(account, reserve.token.index)
    if (supplied > 0n) takeBack(account, reserve, supplied)
    if (balanceOf(account, 0).total < loans.borrowed) sellAll(engine, account, reserve.token.index)
  }
  const back = least(balanceOf(account, 0).total, loans.borrowed)
  if (back > 0n) repay(account, usdc, back)
}

function sellAll(engine: Engine, account: Account, token: number) {
  const market = engine.listing.spot.find(({ base }) => base.index === token)
  if (!market) return
  const owed = loansOf(account, 0).borrowed - balanceOf(account, 0).total
  const lot = 10n ** BigInt(8 - market.szDecimals)
  const has = (balanceOf(account, token).total * one) / 10n ** BigInt(market.base.weiDecimals)
  // A little more than is owed, for the fee and for prices below the last one.
  const wanted = ceilDiv(owed * one * 11n, stateOf(engine, market).markPx * 10n)
  const sz = (least(has, wanted) / lot) * lot
  if (sz === 0n) return
  closeOut(engine, account, market, false, sz)
}
