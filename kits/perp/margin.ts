import type { PerpOrder } from '../../core/contracts/index.ts'
import { readNumber, combineAll, mapRead, combine, type BatchRead } from './batch-read.ts'
import { wad, wholeRatio, type Curie, type CurieMarket, type Terms } from './curie.ts'
import { type AccountState, valueOf, type PositionState } from './state.ts'

/** An account's debts in its markets, as in AccountBalance.getTotalDebtValue. Below 0 where something is owed. */
interface Debts {
  readonly baseRaw: bigint
  /** Of the order's market, and of all markets. */
  readonly quoteRaw: bigint
  readonly allQuoteRaw: bigint
}

export function readDebts({ contracts: { balances }, markets }: Curie, { id }: CurieMarket, owner: string): BatchRead<Debts> {
  const reads = combine({
    base: readNumber(balances, 'getBase', owner, id),
    quotes: combineAll(markets.map((market) => readNumber(balances, 'getQuote', owner, market.id))),
  })
  const at = markets.findIndex((market) => market.id === id)
  return mapRead(reads, ({ base, quotes }) => ({
    baseRaw: base,
    quoteRaw: quotes[at] ?? 0n,
    allQuoteRaw: quotes.reduce((a, b) => a + b, 0n),
  }))
}

/** A change of a position's base and quote, the fee included, with the position's signs. */
interface PositionChange {
  readonly baseRaw: bigint
  readonly quoteRaw: bigint
}

export const changeOf = ({ side, sizeRaw }: Pick<PerpOrder, 'side' | 'sizeRaw'>, quoteRaw: bigint): PositionChange =>
  side === 'LONG' ? { baseRaw: sizeRaw, quoteRaw: -quoteRaw } : { baseRaw: -sizeRaw, quoteRaw }

interface Before {
  readonly account: AccountState
  readonly position: PositionState
  readonly debts: Debts
  readonly markRaw: bigint
}

/**
 * The free collateral that would be missing after a change of a position; 0 where none is: ClearingHouse._openPosition and
 * Vault._getFreeCollateralByRatio of @perp/curie-contract@2.8.4. Exact for accounts that provide no liquidity.
 */
export function missingCollateral({ account, position, debts, markRaw }: Before, change: PositionChange, terms: Terms): bigint {
  const { size, openNotional } = position
  const reduces = isReducing(size, change)
  const realized = reduces ? realizedBy(change, size, openNotional) : 0n
  const sizeAfter = size + change.baseRaw
  const collateral = account.collateralRaw + realized
  const unrealized = account.unrealizedRaw + valueOf(sizeAfter, markRaw) - valueOf(size, markRaw) + change.quoteRaw - realized
  const debt =
    account.debtRaw -
    owed(debts.allQuoteRaw) -
    valueOf(owed(debts.baseRaw), markRaw) +
    owed(debts.allQuoteRaw + change.quoteRaw - realized) +
    valueOf(owed(debts.baseRaw + change.baseRaw), markRaw)
  const ratio = reduces && !isTurned(size, sizeAfter) ? terms.mmRatio : terms.imRatio
  const value = unrealized < 0n ? collateral + unrealized : collateral
  const free = value - (debt * ratio) / wholeRatio
  return free < 0n ? -free : 0n
}

/** A size below this counts as none, and with as little open notional the account leaves the market: AccountBalance._DUST, _deregisterBaseToken. */
const dustRaw = 10n
const isDust = (raw: bigint) => -dustRaw < raw && raw < dustRaw

/** The position after a change: AccountBalance.settleBalanceAndDeregister, to the unit. */
export function positionAfter({ size, openNotional }: PositionState, change: PositionChange) {
  const realized = isReducing(size, change) ? realizedBy(change, size, openNotional) : 0n
  const [sizeRaw, openNotionalRaw] = [size + change.baseRaw, openNotional + change.quoteRaw - realized]
  if (!isDust(sizeRaw)) return { sizeRaw, openNotionalRaw }
  return { sizeRaw: 0n, openNotionalRaw: isDust(openNotionalRaw) ? 0n : openNotionalRaw }
}

const isReducing = (size: bigint, { baseRaw }: PositionChange) => size !== 0n && size > 0n !== baseRaw > 0n
const owed = (raw: bigint) => (raw < 0n ? -raw : 0n)
const isTurned = (before: bigint, after: bigint) => after !== 0n && before > 0n !== after > 0n

/** Exchange._getPnlToBeRealized */
function realizedBy({ baseRaw, quoteRaw }: PositionChange, size: bigint, openNotional: bigint): bigint {
  const closedRatio = ((baseRaw < 0n ? -baseRaw : baseRaw) * wad) / (size < 0n ? -size : size)
  return closedRatio <= wad ? quoteRaw + (openNotional * closedRatio) / wad : openNotional + (quoteRaw * wad) / closedRatio
}
