import type { KnownPerpAccount, PerpPosition, Token, UnlistedMarket } from '../../contracts/index.ts'
import { abs, formatFraction, fromRaw, rescale } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import { atMostLeaves, nothingLeaves } from '../outcome.ts'
import type { Footprint } from '../../transactions/budgets.ts'
import { touchedTokens, touchedVenue } from '../touches.ts'
import { tradingOf } from '../../plugins/index.ts'
import { submitAndShow, readAddress, readWallet } from '../wallets.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { collateralWithdrawal, inTurn } from './exposure.ts'
import { liquidationPrice, notionalAt, pricePerBase, showLeverage, showMarginRatio, type AccountMargin } from './figures.ts'
import { findMarket, tickerOf, type PerpHandler } from './markets.ts'

const perpBalance: PerpHandler<'Balance'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = tradingOf('PERP_AMM', venue)
  const owner = readAddress(network, request.address)
  const [{ settlement }, { account, head, unread }] = await Promise.all([perp.listMarkets(at), perp.account(owner, at)])
  if (account.collateralRaw === undefined) throw notKnown('balance', unread)
  return {
    balance: fromRaw(account.collateralRaw, account.decimals),
    token: settlement.symbol,
    blockNumber: Number(head.number),
  }
}

const perpMargin: PerpHandler<'Margin'> = async (request, { network, venue, signal }) => {
  const perp = tradingOf('PERP_AMM', venue)
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const { account, head, unread } = await perp.account(owner, { signal })
  const { decimals, valueRaw, notionalRaw } = account
  const show = (raw: bigint | undefined) => (raw === undefined ? undefined : fromRaw(raw, decimals))
  const sumsKnown = valueRaw !== undefined && notionalRaw !== undefined
  const margin = {
    accountValue: show(valueRaw),
    freeCollateral: show(account.freeCollateralRaw),
    collateral: show(account.collateralRaw),
    initialMargin: show(account.initialMarginRaw),
    maintenanceMargin: show(account.maintenanceMarginRaw),
    marginRatio: sumsKnown ? showMarginRatio(valueRaw, notionalRaw) : undefined,
    leverage: sumsKnown ? showLeverage(notionalRaw, valueRaw) : undefined,
  }
  return { margin: known(margin), ...missingSums(margin, unread), blockNumber: Number(head.number) }
}

/** Without what is undefined. */
const known = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }

/** Which figures are unknown, and the markets that they need. No sum is computed without them: it would be another account's. */
export function missingSums(figures: object, unread: readonly UnlistedMarket[] = []): { unavailable?: { pair: string; reason: string }[] } {
  const names = Object.entries(figures).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (names.length === 0) return {}
  return {
    unavailable: unread.map(({ market, reason }) => ({
      pair: market,
      reason: `${names.join(', ')} cannot be known without it: ${reason}`,
    })),
  }
}

const notKnown = (what: string, unread: readonly UnlistedMarket[] = []) =>
  new SluiceError(
    'PRICE_FAILED',
    `The exchange cannot tell ${what} now: ${unread.map(({ market, reason }) => `${market}: ${reason}`).join(' ') || 'a market did not answer a moment ago. Try again.'} Nothing was sent.`,
  )

const perpFunding: PerpHandler<'Funding'> = async (request, { network, venue, signal }) => {
  const perp = tradingOf('PERP_AMM', venue)
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const { funding: markets, head, unread = [] } = await perp.funding(owner, { signal })
  const shown = markets.map(({ market, rate, periodSeconds, index, mark, pendingRaw, nextAt }) => ({
    tickerSymbol: tickerOf(market),
    fundingRate: formatFraction(rate, 'down'),
    fundingPeriodSeconds: periodSeconds,
    indexPrice: formatFraction(index, 'down'),
    markPrice: formatFraction(mark, 'down'),
    pendingFundingPayment: fromRaw(pendingRaw, market.quoteDecimals),
    ...(nextAt !== undefined && { nextFundingTimestamp: nextAt * 1000 }),
  }))
  const unavailable = unread.map(({ market, reason }) => ({ pair: market, reason }))
  return { funding: shown, ...(unavailable.length > 0 && { unavailable }), blockNumber: Number(head.number) }
}

const perpPosition: PerpHandler<'Position'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const answer = await tradingOf('PERP_AMM', venue).position(owner, await findMarket(request, venue, at), at)
  const position = showKnownPosition(answer.position, answer.account)
  const { leverage, liquidationPrice } = position
  return { position, ...missingSums({ leverage, liquidationPrice }, answer.unread), blockNumber: Number(answer.head.number) }
}

/**
 * A position and its wallet's account at the same block. Rounded against the trader: a higher cost, a lower proceed, an earlier
 * liquidation.
 */
export function showPosition(position: PerpPosition, account: AccountMargin) {
  const { market, sizeRaw, mark } = position
  const notionalRaw = rescale(abs(notionalAt(market, sizeRaw, mark)), market.quoteDecimals, account.decimals)
  const liquidatedAt = liquidationPrice(position, account)
  return {
    ...showOwnFigures(position),
    leverage: showLeverage(notionalRaw, account.valueRaw),
    liquidationPrice: liquidatedAt ? formatFraction(liquidatedAt, roundingOf(position)) : '0',
  }
}

/** The same, without what needs figures of the account that are not known. */
export function showKnownPosition(position: PerpPosition, { decimals, valueRaw, maintenanceMarginRaw }: KnownPerpAccount) {
  if (valueRaw !== undefined && maintenanceMarginRaw !== undefined)
    return showPosition(position, { decimals, valueRaw, maintenanceMarginRaw })
  return { ...showOwnFigures(position), leverage: undefined, liquidationPrice: undefined }
}

const roundingOf = ({ sizeRaw }: PerpPosition) => (sizeRaw < 0n ? 'down' : 'up')

function showOwnFigures(position: PerpPosition) {
  const { market, sizeRaw, openNotionalRaw, mark } = position
  const { quoteDecimals, baseDecimals } = market
  const isShort = sizeRaw < 0n
  return {
    positionAmt: sizeRaw === 0n ? '0' : fromRaw(abs(sizeRaw), baseDecimals),
    positionSide: isShort ? ('SHORT' as const) : ('LONG' as const),
    unrealizedProfit: fromRaw(position.unrealizedProfitRaw, quoteDecimals),
    entryPrice: sizeRaw === 0n ? '0' : formatFraction(pricePerBase(market, openNotionalRaw, sizeRaw), roundingOf(position)),
    markPrice: formatFraction(mark, 'down'),
    tickerSymbol: tickerOf(market),
    pendingFundingPayment: fromRaw(position.pendingFundingRaw, quoteDecimals),
  }
}

/** Moves collateral into the exchange, or out of it to the same wallet. */
const perpMove =
  (how: 'deposit' | 'withdraw'): PerpHandler<'Deposit'> & PerpHandler<'Withdraw'> =>
  async (request, context) => {
    const { network, venue, signal } = context
    const at = { signal }
    const perp = tradingOf('PERP_AMM', venue)
    const wallet = readWallet(request, context)
    const token = await network.tokens.resolve(request.token, 'token', at)
    const amountRaw = readPositiveRaw(request.amount, token, 'amount')
    // Also for a deposit: it fails if the exchange does not take the token.
    const { withdrawableRaw } = await perp.collateral(wallet.address, token, at)
    if (how === 'withdraw') {
      if (withdrawableRaw === undefined) throw notKnown('what can be withdrawn', (await perp.account(wallet.address, at)).unread)
      if (amountRaw > withdrawableRaw) throw insufficientCollateral(withdrawableRaw, amountRaw, token)
    }
    const plan = await perp.transferCollateral(token, amountRaw, how, wallet.address)
    const scope = { contracts: venue.contracts, valueRaw: how === 'deposit' && token.native ? amountRaw : 0n }
    const shown = { token: token.address, amount: fromRaw(amountRaw, token.decimals) }
    const bounds = how === 'deposit' ? atMostLeaves([{ token: token.address, amountRaw }]) : nothingLeaves
    const touches = (): Footprint => ({
      action: how,
      connectors: touchedVenue(venue),
      tokens: touchedTokens([token.address], network),
    })
    const change = { plan, scope, bounds, kind: 'collateral', touches, about: null } as const
    if (how === 'deposit') return submitAndShow(change, shown, wallet, context)
    return inTurn(wallet.address, context, async (turn) => {
      const perpetual = turn && (await collateralWithdrawal(turn, { token, amountRaw }, wallet.address, { ...context, signal }))
      return submitAndShow({ ...change, ...(perpetual && { commitment: { gives: {}, perpetual } }) }, shown, wallet, context)
    })
  }

function insufficientCollateral(freeRaw: bigint, neededRaw: bigint, { symbol, decimals }: Token): SluiceError {
  const details = { free: fromRaw(freeRaw, decimals), needed: fromRaw(neededRaw, decimals) }
  return new SluiceError(
    'INSUFFICIENT_MARGIN',
    `${details.free} ${symbol} can be withdrawn now, less than ${details.needed}: close positions or withdraw less. Nothing was sent.`,
    { details },
  )
}

export const perpAccountHandlers = {
  Position: perpPosition,
  Margin: perpMargin,
  Funding: perpFunding,
  Balance: perpBalance,
  Deposit: perpMove('deposit'),
  Withdraw: perpMove('withdraw'),
}
