import type { PerpAccount, PerpPosition, PerpQuote, Ratio, Token } from '../../contracts/index.ts'
import { abs, divideRaw, formatFraction, fromRaw, rescale, toFraction } from '../../base/decimal.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { notionalAt, type AccountMargin } from './figures.ts'
import { tickerOf } from './markets.ts'

/** The margin and leverage that a caller sets for an order. */
export interface MarginRequest {
  /** In the settlement token's smallest units. */
  marginRaw: bigint
  leverage: Ratio
  settlement: Token
}

/** @throws SluiceError INCOMPLETE_PARAMS */
export function readMarginRequest({ margin, leverage }: { margin: string; leverage: string }, settlement: Token): MarginRequest {
  const marginRaw = readPositiveRaw(margin, settlement, 'margin')
  const factor = toFraction(leverage)
  if (factor.numerator === 0n) throw badFields([{ field: 'leverage', problem: 'must be more than 0' }])
  return { marginRaw, leverage: factor, settlement }
}

/**
 * Checks that the caller's margin, at the caller's leverage, covers what the order opens. A reduction needs no margin.
 * @throws SluiceError INSUFFICIENT_MARGIN, or INCOMPLETE_PARAMS for more leverage than the market allows
 */
export function requireMargin(quote: PerpQuote, held: PerpPosition, account: PerpAccount, marginRequest: MarginRequest): void {
  requireLeverage(quote, marginRequest)
  const openedRaw = openedBy(quote.order, held.sizeRaw)
  if (openedRaw === 0n) return

  const { marginRaw, settlement, leverage } = marginRequest
  const needed = marginFor(quote, openedRaw, marginRequest)
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
 * Checks the exchange's own rule for free collateral after an order, with its fee and price impact. It applies to reductions too.
 * @throws SluiceError INSUFFICIENT_MARGIN
 */
export function requireFreeCollateral({ missingRaw = 0n }: Pick<PerpQuote, 'missingRaw'>, account: PerpAccount, { symbol }: Token): void {
  if (missingRaw === 0n) return
  const show = (raw: bigint) => fromRaw(raw, account.decimals)
  const details = { free: show(account.freeCollateralRaw), needed: show(account.freeCollateralRaw + missingRaw) }
  throw new SluiceError(
    'INSUFFICIENT_MARGIN',
    `The exchange would refuse the order: after it, with fee and price impact, ${show(missingRaw)} ${symbol} of free collateral would be missing. Deposit more with /perpAMM/deposit, or trade less. Nothing was sent.`,
    { details },
  )
}

function requireLeverage({ market }: PerpQuote, { leverage }: MarginRequest): void {
  const { maxLeverage } = market
  if (leverage.numerator * maxLeverage.denominator <= maxLeverage.numerator * leverage.denominator) return
  throw badFields([{ field: 'leverage', problem: `is above ${formatFraction(maxLeverage, 'down')}, the maximum of ${tickerOf(market)}` }])
}

/** The part of an order that opens or increases a position. */
function openedBy({ side, sizeRaw }: PerpQuote['order'], heldRaw: bigint): bigint {
  const isReduction = side === 'LONG' ? heldRaw < 0n : heldRaw > 0n
  if (!isReduction) return sizeRaw
  const beyond = sizeRaw - abs(heldRaw)
  return beyond > 0n ? beyond : 0n
}

/** The quote of that part divided by the leverage: exact, in the settlement token's smallest units. */
function marginFor({ order, quoteRaw, market }: PerpQuote, openedRaw: bigint, { leverage, settlement }: MarginRequest): Ratio {
  return {
    numerator: quoteRaw * openedRaw * leverage.denominator * 10n ** BigInt(settlement.decimals),
    denominator: order.sizeRaw * leverage.numerator * 10n ** BigInt(market.quoteDecimals),
  }
}

/** The position and account that are expected after an order is filled as quoted, valued at the mark price from before it. */
export function positionAfterFill(
  { order: { side, sizeRaw }, market, quoteRaw, prices: { mark }, after }: PerpQuote,
  before: PerpPosition,
  account: PerpAccount,
): { position: PerpPosition; account: AccountMargin } {
  const [changeRaw, paidRaw] = side === 'LONG' ? [sizeRaw, -quoteRaw] : [-sizeRaw, quoteRaw]
  const { sizeRaw: afterRaw, openNotionalRaw } = after ?? inProportion(before, changeRaw, paidRaw)
  const notional = (raw: bigint) => notionalAt(market, raw, mark)
  const inAccount = (raw: bigint) => rescale(raw, market.quoteDecimals, account.decimals)
  const addedNotionalRaw = inAccount(abs(notional(afterRaw)) - abs(notional(before.sizeRaw)))
  const { numerator, denominator } = market.maintenanceRatio
  return {
    position: {
      market,
      mark,
      sizeRaw: afterRaw,
      openNotionalRaw,
      unrealizedProfitRaw: notional(afterRaw) + openNotionalRaw,
      // Every trade settles pending funding.
      pendingFundingRaw: 0n,
    },
    account: {
      decimals: account.decimals,
      // Measured at the mark price, a trade costs the difference of its price to it.
      valueRaw: account.valueRaw + inAccount(notional(changeRaw) + paidRaw),
      maintenanceMarginRaw: account.maintenanceMarginRaw + (addedNotionalRaw * numerator) / denominator,
    },
  }
}

/** A reduction takes the same share of the open notional. The part of an order beyond zero opens at the new price. */
function inProportion({ sizeRaw, openNotionalRaw }: PerpPosition, changeRaw: bigint, paidRaw: bigint) {
  const afterRaw = sizeRaw + changeRaw
  const isReduction = sizeRaw !== 0n && sizeRaw > 0n !== changeRaw > 0n
  if (!isReduction) return { sizeRaw: afterRaw, openNotionalRaw: openNotionalRaw + paidRaw }
  const [before, change] = [abs(sizeRaw), abs(changeRaw)]
  const rest = change <= before ? part(openNotionalRaw, before - change, before) : part(paidRaw, change - before, change)
  return { sizeRaw: afterRaw, openNotionalRaw: rest }
}

/** `raw * of / whole`, rounded against the trader: more paid, less received. */
function part(raw: bigint, of: bigint, whole: bigint): bigint {
  const rounded = (raw * of) / whole
  return rounded * whole > raw * of ? rounded - 1n : rounded
}
