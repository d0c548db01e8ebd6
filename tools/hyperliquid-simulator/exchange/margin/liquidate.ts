import { balanceOf, loansOf, type Account, type Position } from '../account.ts'
import { abs, fromSize, fromUsd, ceilDiv, least, one } from '../amounts.ts'
import { accountOf, noteUpdate, stateOf, type Engine } from '../engine.ts'
import { repay, takeBack } from './loans.ts'
import { liquidatableFrom, portfolioOf } from './portfolio.ts'
import { endOrder, closeOut } from '../matching/match.ts'
import { crossSummary, marginUsedBy, worthOf, maintenanceUsd } from './perp-account.ts'

/** Takes over what the book does not; it is never liquidated itself. */
const liquidator = '0x2e3d94f0562703b25c83308a05046ddaf9a8dd14'

/** Whoever has less than the maintenance margin: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations */
export function liquidate(engine: Engine) {
  for (const account of engine.accounts.values()) {
    if (account.address === liquidator) continue
    if (account.mode === 'portfolioMargin') liquidatePortfolio(engine, account)
    else liquidateCross(engine, account)
    for (const position of account.positions.values()) if (position.isolatedUsd !== undefined) liquidateIsolated(engine, account, position)
  }
}

function liquidateCross(engine: Engine, account: Account) {
  const { value, maintenance, ntl } = crossSummary(engine, account)
  if (value >= maintenance) return
  const positions = [...account.positions.values()].filter(({ isolatedUsd }) => isolatedUsd === undefined)
  tell(engine, account, 'Cross', value, ntl, positions)
  for (const order of account.open.values()) if (order.market.kind === 'perp') endOrder(engine, order, 'liquidatedCanceled')
  for (const position of positions) closeOut(engine, account, position.market, position.szi < 0n, abs(position.szi))
  const after = crossSummary(engine, account)
  if (after.maintenance === 0n || after.value * 3n >= after.maintenance * 2n) return
  for (const position of positions) if (position.szi !== 0n) takeOver(engine, account, position)
  accountOf(engine, liquidator).crossUsd += account.crossUsd
  account.crossUsd = 0n
}

function liquidateIsolated(engine: Engine, account: Account, position: Position) {
  const value = marginUsedBy(engine, account, position)
  if (value >= maintenanceUsd(position.market, worthOf(engine, position))) return
  tell(engine, account, 'Isolated', value, worthOf(engine, position), [position])
  closeOut(engine, account, position.market, position.szi < 0n, abs(position.szi))
  if (position.szi === 0n) return
  const left = marginUsedBy(engine, account, position)
  if (left * 3n >= maintenanceUsd(position.market, worthOf(engine, position)) * 2n) return
  takeOver(engine, account, position)
}

/** The position as it is goes to the liquidator, with what stands behind it. */
function takeOver(engine: Engine, account: Account, position: Position) {
  const [to, { market, szi, isolatedUsd }] = [accountOf(engine, liquidator), position]
  const known = to.positions.get(market.coin)
  const entryNtl = worthOf(engine, position)
  if (!known) to.positions.set(market.coin, { market, szi, entryNtl, funding: { allTime: 0n, sinceOpen: 0n, sinceChange: 0n } })
  else {
    known.szi += szi
    known.entryNtl = worthOf(engine, known)
    if (known.szi === 0n) to.positions.delete(market.coin)
  }
  if (isolatedUsd !== undefined) to.crossUsd += isolatedUsd
  position.szi = 0n
  account.positions.delete(market.coin)
  engine.outbox.users.add(account.address)
}

function tell(engine: Engine, account: Account, type: 'Cross' | 'Isolated', value: bigint, ntl: bigint, positions: readonly Position[]) {
  const delta = {
    type: 'liquidation',
    liquidatedNtlPos: fromUsd(ntl),
    accountValue: fromUsd(value > 0n ? value : 0n),
    leverageType: type,
    liquidatedPositions: positions.map(({ market, szi }) => ({ coin: market.coin, szi: fromSize(szi) })),
  }
  noteUpdate(engine, account, delta)
}

/** Perpetuals are closed, then collateral is sold for what is owed, as far as the book takes it. */
function liquidatePortfolio(engine: Engine, account: Account) {
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
