import { abs } from '../amounts/decimals.ts'
import { fromSize, fromUsd } from '../amounts/units.ts'
import { accountOf, type Engine } from '../engine.ts'
import type { Account, Position } from '../ledger/account.ts'
import { liquidatePortfolio } from '../lending/liquidate-portfolio.ts'
import { noteUpdate } from '../ledger/note-update.ts'
import { endOrder } from '../matching/cancel.ts'
import { closeOut } from '../matching/close-out.ts'
import { crossSummary, marginUsedBy, worthOf } from './perp-account.ts'
import { maintenanceUsd } from './maintenance.ts'

/** Takes over what the book does not; it is never liquidated itself. */
export const liquidator = '0x2e3d94f0562703b25c83308a05046ddaf9a8dd14'

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
