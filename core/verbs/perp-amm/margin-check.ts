import { badFields, SluiceError } from '../../api/index.ts'
import type { PerpAccount, PerpPosition, PerpQuote, Ratio, Token } from '../../contracts/index.ts'
import { fractionOf, fromRaw, mostRaw } from '../amounts.ts'
import { readRaw } from '../token-book.ts'
import { absolute, fromSigned, rescale, showRatio } from './figures.ts'
import { tickerOf } from './market.ts'

/** What a caller means to put behind an order. */
export interface Stake {
  /** In the settlement token's smallest units. */
  marginRaw: bigint
  leverage: Ratio
  settlement: Token
}

export function readStake({ margin, leverage }: { margin: string; leverage: string }, settlement: Token): Stake {
  const marginRaw = readRaw(margin, settlement, 'margin')
  if (marginRaw === 0n) throw badFields([{ field: 'margin', problem: 'must be more than 0' }])
  if (marginRaw >= mostRaw) throw badFields([{ field: 'margin', problem: 'is more than any token can hold' }])
  const times = fractionOf(leverage)
  if (times.numerator === 0n) throw badFields([{ field: 'leverage', problem: 'must be more than 0' }])
  return { marginRaw, leverage: times, settlement }
}

/**
 * Whether what an order opens has the margin that its caller names, at the leverage that the caller names: what reduces needs none.
 * @throws SluiceError INSUFFICIENT_MARGIN, or INCOMPLETE_PARAMS for more leverage than the market allows
 */
export function requireMargin({ quoteRaw, order, market }: PerpQuote, position: PerpPosition, account: PerpAccount, stake: Stake): void {
  const { marginRaw, leverage, settlement } = stake
  const { maxLeverage } = market
  if (leverage.numerator * maxLeverage.denominator > maxLeverage.numerator * leverage.denominator) {
    const most = showRatio(maxLeverage, 'down')
    throw badFields([{ field: 'leverage', problem: `is above ${most}, the most that ${tickerOf(market)} allows` }])
  }
  const openedRaw = openedBy(order.side === 'LONG' ? order.sizeRaw : -order.sizeRaw, position.sizeRaw)
  if (openedRaw === 0n) return

  // All but the bigint divisions are exact, and those round against the caller.
  const costRaw = rescaleUp(roundedUp(quoteRaw * openedRaw, order.sizeRaw), market.quoteDecimals, settlement.decimals)
  const neededRaw = roundedUp(costRaw * leverage.denominator, leverage.numerator)
  const show = (raw: bigint) => fromRaw(raw, settlement.decimals)
  if (neededRaw > marginRaw)
    throw new SluiceError(
      'INSUFFICIENT_MARGIN',
      `A size worth ${show(costRaw)} at leverage ${showRatio(leverage, 'down')} needs a margin of ${show(neededRaw)} ${settlement.symbol}, and margin is ${show(marginRaw)}: nothing was sent.`,
      { details: { free: show(marginRaw), needed: show(neededRaw) } },
    )
  if (rescale(account.freeCollateralRaw, account.decimals, settlement.decimals) < marginRaw)
    throw new SluiceError(
      'INSUFFICIENT_MARGIN',
      `The account has ${fromSigned(account.freeCollateralRaw, account.decimals)} ${settlement.symbol} of free collateral, less than the margin of ${show(marginRaw)}: deposit more with /perpAMM/deposit, or open less.`,
      { details: { free: fromSigned(account.freeCollateralRaw, account.decimals), needed: show(marginRaw) } },
    )
}

/** The part of a change that opens or adds, without sign. */
function openedBy(changeRaw: bigint, heldRaw: bigint): bigint {
  if (heldRaw === 0n || heldRaw > 0n === changeRaw > 0n) return absolute(changeRaw)
  const beyond = absolute(changeRaw) - absolute(heldRaw)
  return beyond > 0n ? beyond : 0n
}

const roundedUp = (numerator: bigint, denominator: bigint) => (numerator + denominator - 1n) / denominator

const rescaleUp = (raw: bigint, from: number, to: number) =>
  to >= from ? raw * 10n ** BigInt(to - from) : roundedUp(raw, 10n ** BigInt(from - to))
