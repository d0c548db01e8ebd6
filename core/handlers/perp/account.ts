import type { PerpPosition, Token } from '../../contracts/index.ts'
import { abs, formatFraction, fromRaw, rescale } from '../../decimal.ts'
import { SluiceError } from '../../errors.ts'
import { atMostLeaves, nothingLeaves } from '../outcome.ts'
import { tradingOf } from '../registry.ts'
import { submitAndShow, readAddress, readWallet } from '../wallets.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { liquidationPrice, notionalAt, pricePerBase, showLeverage, showMarginRatio, type AccountMargin } from './figures.ts'
import { findMarket, tickerOf, type PerpHandler } from './markets.ts'

const perpBalance: PerpHandler<'Balance'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = tradingOf('PERP_AMM', venue)
  const owner = readAddress(network, request.address)
  const [{ settlement }, { account, head }] = await Promise.all([perp.listed(at), perp.account(owner, at)])
  return {
    balance: fromRaw(account.collateralRaw, account.decimals),
    token: settlement.symbol,
    blockNumber: Number(head.number),
  }
}

const perpMargin: PerpHandler<'Margin'> = async (request, { network, venue, signal }) => {
  const perp = tradingOf('PERP_AMM', venue)
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const { account, head } = await perp.account(owner, { signal })
  const { decimals, valueRaw, notionalRaw } = account
  const shown = {
    accountValue: fromRaw(valueRaw, decimals),
    freeCollateral: fromRaw(account.freeCollateralRaw, decimals),
    collateral: fromRaw(account.collateralRaw, decimals),
    initialMargin: fromRaw(account.initialMarginRaw, decimals),
    maintenanceMargin: fromRaw(account.maintenanceMarginRaw, decimals),
    marginRatio: showMarginRatio(valueRaw, notionalRaw),
    leverage: showLeverage(notionalRaw, valueRaw),
  }
  return { margin: shown, blockNumber: Number(head.number) }
}

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
  const { position, account, head } = await tradingOf('PERP_AMM', venue).position(owner, await findMarket(request, venue, at), at)
  return { position: showPosition(position, account), blockNumber: Number(head.number) }
}

/**
 * A position and its wallet's account at the same block. Rounded against the trader: a higher cost, a lower proceed, an earlier
 * liquidation.
 */
export function showPosition(position: PerpPosition, account: AccountMargin) {
  const { market, sizeRaw, openNotionalRaw, mark } = position
  const { quoteDecimals, baseDecimals } = market
  const isShort = sizeRaw < 0n
  const rounding = isShort ? 'down' : 'up'
  const notionalRaw = rescale(abs(notionalAt(market, sizeRaw, mark)), quoteDecimals, account.decimals)
  const liquidatedAt = liquidationPrice(position, account)
  return {
    positionAmt: sizeRaw === 0n ? '0' : fromRaw(abs(sizeRaw), baseDecimals),
    positionSide: isShort ? ('SHORT' as const) : ('LONG' as const),
    unrealizedProfit: fromRaw(position.unrealizedProfitRaw, quoteDecimals),
    leverage: showLeverage(notionalRaw, account.valueRaw),
    entryPrice: sizeRaw === 0n ? '0' : formatFraction(pricePerBase(market, openNotionalRaw, sizeRaw), rounding),
    markPrice: formatFraction(mark, 'down'),
    liquidationPrice: liquidatedAt ? formatFraction(liquidatedAt, rounding) : '0',
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
    if (how === 'withdraw' && amountRaw > withdrawableRaw) throw insufficientCollateral(withdrawableRaw, amountRaw, token)
    const plan = await perp.move(token, amountRaw, how, wallet.address)
    const scope = { contracts: venue.contracts, valueRaw: how === 'deposit' && token.native ? amountRaw : 0n }
    const shown = { token: token.address, amount: fromRaw(amountRaw, token.decimals) }
    const bounds = how === 'deposit' ? atMostLeaves([{ token: token.address, amountRaw }]) : nothingLeaves
    return submitAndShow({ plan, scope, bounds, kind: 'collateral', about: null }, shown, wallet, context)
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
