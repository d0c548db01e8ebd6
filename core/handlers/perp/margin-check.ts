import { badFields, SluiceError } from '../../api/index.ts'
import type { PerpAccount, PerpPosition, PerpQuote, Ratio, Token } from '../../contracts/index.ts'
import { abs, divideRaw, formatFraction, fromRaw, rescale, toFraction } from '../../decimal.ts'
import { readPositiveRaw } from '../tokens.ts'
import { notionalAt, type AccountMargin } from './figures.ts'
import { tickerOf } from './markets.ts'

/** What a caller means to put behind an order. */
export interface MarginRequest {
  /** In the settlement token's smallest units. */
  marginRaw: bigint
  leverage: Ratio
  settlement: Token
}

export function readMarginRequest({ margin, leverage }: { margin: string; leverage: string }, settlement: Token): MarginRequest {
  const marginRaw = readPositiveRaw(margin, settlement, 'margin')
  const times = toFraction(leverage)
  if (times.numerator === 0n) throw badFields([{ field: 'leverage', problem: 'must be more than 0' }])
  return { marginRaw, leverage: times, settlement }
}

/**
 * Whether what an order opens has the margin that its caller names, at the leverage that the caller names: what reduces needs none.
 * @throws SluiceError INSUFFICIENT_MARGIN, or INCOMPLETE_PARAMS for more leverage than the market allows
 */
export function requireMargin(quote: PerpQuote, held: PerpPosition, account: PerpAccount, stake: MarginRequest): void {
  requireLeverage(quote, stake)
  const openedRaw = openedBy(quote.order, held.sizeRaw)
  if (openedRaw === 0n) return

  const { marginRaw, settlement, leverage } = stake
  const needed = marginFor(quote, openedRaw, stake)
  const show = (raw: bigint) => fromRaw(raw, settlement.decimals)
  if (needed.numerator > marginRaw * needed.denominator) {
    const { market } = quote
    const opened = formatFraction({ numerator: openedRaw, denominator: 10n ** BigInt(market.baseDecimals) }, 'down')
    const details = { free: show(marginRaw), needed: show(divideRaw(needed.numerator, needed.denominator, 'up')) }
    throw new SluiceError(
      'INSUFFICIENT_MARGIN',
      `Opening ${opened} ${market.base} at leverage ${formatFraction(leverage, 'down')} needs a margin of ${details.needed} ${settlement.symbol}, and margin is ${details.free}: nothing was sent.`,
      { details },
    )
  }
  if (account.freeCollateralRaw * 10n ** BigInt(settlement.decimals) < marginRaw * 10n ** BigInt(account.decimals)) {
    const details = { free: fromRaw(account.freeCollateralRaw, account.decimals), needed: show(marginRaw) }
    throw new SluiceError(
      'INSUFFICIENT_MARGIN',
      `The account has ${details.free} ${settlement.symbol} of free collateral, less than the margin of ${details.needed}: deposit more with /perpAMM/deposit, or open less.`,
      { details },
    )
  }
}

/**
 * What the exchange itself wants to be free after an order, fees and price impact counted: of what reduces it wants that, too.
 * @throws SluiceError INSUFFICIENT_MARGIN
 */
export function requireFreeCollateral({ missingRaw = 0n }: Pick<PerpQuote, 'missingRaw'>, account: PerpAccount, { symbol }: Token): void {
  if (missingRaw === 0n) return
  const show = (raw: bigint) => fromRaw(raw, account.decimals)
  const details = { free: show(account.freeCollateralRaw), needed: show(account.freeCollateralRaw + missingRaw) }
  throw new SluiceError(
    'INSUFFICIENT_MARGIN',
    `The exchange would refuse it: with its fee and its price, ${show(missingRaw)} ${symbol} of free collateral would be missing after it. Deposit more with /perpAMM/deposit, or trade less. Nothing was sent.`,
    { details },
  )
}

function requireLeverage({ market }: PerpQuote, { leverage }: MarginRequest): void {
  const { maxLeverage } = market
  if (leverage.numerator * maxLeverage.denominator <= maxLeverage.numerator * leverage.denominator) return
  const problem = `is above ${formatFraction(maxLeverage, 'down')}, the most that ${tickerOf(market)} allows`
  throw badFields([{ field: 'leverage', problem }])
}

/** The part of an order that opens or adds. */
function openedBy({ side, sizeRaw }: PerpQuote['order'], heldRaw: bigint): bigint {
  const isReduction = side === 'LONG' ? heldRaw < 0n : heldRaw > 0n
  if (!isReduction) return sizeRaw
  const beyond = sizeRaw - abs(heldRaw)
  return beyond > 0n ? beyond : 0n
}

/** That part's price by the leverage, in the settlement token's smallest units: exactly. */
function marginFor({ order, quoteRaw, market }: PerpQuote, openedRaw: bigint, { leverage, settlement }: MarginRequest): Ratio {
  return {
    numerator: quoteRaw * openedRaw * leverage.denominator * 10n ** BigInt(settlement.decimals),
    denominator: order.sizeRaw * leverage.numerator * 10n ** BigInt(market.quoteDecimals),
  }
}

/** A position, and what backs it, as they are expected after an order is filled as quoted: at the mark price of before. */
export function positionAfterFill(
  { order: { side, sizeRaw }, market, quoteRaw, prices: { mark }, after }: PerpQuote,
  before: PerpPosition,
  account: PerpAccount,
): { position: PerpPosition; account: AccountMargin } {
  const [changeRaw, paidRaw] = side === 'LONG' ? [sizeRaw, -quoteRaw] : [-sizeRaw, quoteRaw]
  const { sizeRaw: afterRaw, openNotionalRaw } = after ?? inProportion(before, changeRaw, paidRaw)
  const worthAt = (raw: bigint) => notionalAt(market, raw, mark)
  const inAccount = (raw: bigint) => rescale(raw, market.quoteDecimals, account.decimals)
  const heavierRaw = inAccount(abs(worthAt(afterRaw)) - abs(worthAt(before.sizeRaw)))
  const { numerator, denominator } = market.maintenanceRatio
  return {
    position: {
      market,
      mark,
      sizeRaw: afterRaw,
      openNotionalRaw,
      unrealizedProfitRaw: worthAt(afterRaw) + openNotionalRaw,
      // Whatever funding is pending is settled with every trade.
      pendingFundingRaw: 0n,
    },
    account: {
      decimals: account.decimals,
      // At the mark price a trade costs what it pays above it.
      valueRaw: account.valueRaw + inAccount(worthAt(changeRaw) + paidRaw),
      maintenanceMarginRaw: account.maintenanceMarginRaw + (heavierRaw * numerator) / denominator,
    },
  }
}

/** A reduction takes the same part of what was paid, and what goes beyond zero is opened at the new price. */
function inProportion({ sizeRaw, openNotionalRaw }: PerpPosition, changeRaw: bigint, paidRaw: bigint) {
  const afterRaw = sizeRaw + changeRaw
  const isReduction = sizeRaw !== 0n && sizeRaw > 0n !== changeRaw > 0n
  if (!isReduction) return { sizeRaw: afterRaw, openNotionalRaw: openNotionalRaw + paidRaw }
  const [before, change] = [abs(sizeRaw), abs(changeRaw)]
  const rest = change <= before ? part(openNotionalRaw, before - change, before) : part(paidRaw, change - before, change)
  return { sizeRaw: afterRaw, openNotionalRaw: rest }
}

/** Rounded against the trader: paid more, received less. */
function part(raw: bigint, of: bigint, whole: bigint): bigint {
  const rounded = (raw * of) / whole
  return rounded * whole > raw * of ? rounded - 1n : rounded
}
