import type { BookSet } from '../../api/index.ts'
import type { MarginToken, PerpBookPosition } from '../../contracts/index.ts'
import { normalize, toCommonScale } from '../../base/decimal.ts'
import type { Handler } from '../context.ts'
import { cutTimedPage, missingIn, queryLimit, readTimedPage } from '../pages.ts'
import { showLeverage, showMarginRatio } from '../perp/figures.ts'
import { tickerOf } from '../perp/markets.ts'
import { tradingOf } from '../../plugins/index.ts'
import { readAddress } from '../wallets.ts'
import { marketName, marketsOf, type BookHandler, type BookHandlerFor } from './markets.ts'

const clobBalances: BookHandlerFor<'Balances'> =
  (type) =>
  async (request, { network, venue, signal }) => {
    const balances = await tradingOf(type, venue).balances(readAddress(network, request.address), { signal })
    const shown = balances.map(({ symbol, total, available, locked }) => {
      return [symbol, { total: normalize(total), available: normalize(available), locked: normalize(locked) }] as const
    })
    return { balances: Object.fromEntries(shown), ...missingIn(balances, (token) => ({ token })) }
  }

const clobMarginAccount: Handler<'CLOBMarginAccount'> = async (request, { network, venue, signal }) => {
  const account = await tradingOf('MARGIN_CLOB', venue).account(readAddress(network, request.address), { signal })
  return {
    mode: account.mode,
    sharedWith: [...account.sharedWith],
    equity: normalize(account.equity),
    collateral: normalize(account.collateral),
    borrowed: normalize(account.borrowed),
    freeCollateral: normalize(account.freeCollateral),
    initialMargin: normalize(account.initialMargin),
    maintenanceMargin: normalize(account.maintenanceMargin),
    marginRatio: normalize(account.marginRatio ?? '0'),
    tokens: Object.fromEntries(account.tokens.map((token) => [token.symbol, showToken(token)])),
    ...missingIn(account.tokens, (token) => ({ token })),
  }
}

const showToken = ({ deposited, borrowed, available, borrowRate, borrowCap }: MarginToken) => ({
  deposited: normalize(deposited),
  borrowed: normalize(borrowed),
  available: normalize(available),
  borrowRate: normalize(borrowRate),
  ...(borrowCap !== undefined && { borrowCap: normalize(borrowCap) }),
})

const clobPerpAccount: BookHandler<'Account'> = async (request, { network, venue, signal }) => {
  const account = await tradingOf('PERP_CLOB', venue).account(readAddress(network, request.address), { signal })
  const { aRaw: valueRaw, bRaw: notionalRaw } = toCommonScale(account.accountValue, account.notional)
  return {
    accountValue: normalize(account.accountValue),
    freeCollateral: normalize(account.freeCollateral),
    collateral: normalize(account.collateral),
    initialMargin: normalize(account.initialMargin),
    maintenanceMargin: normalize(account.maintenanceMargin),
    marginRatio: showMarginRatio(valueRaw, notionalRaw),
    leverage: showLeverage(notionalRaw, valueRaw),
  }
}

const clobPositions: BookHandler<'Positions'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = tradingOf('PERP_CLOB', venue)
  const owner = readAddress(network, request.address)
  const only = request.market === undefined ? undefined : (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const all = await perp.positions(owner, at)
  const shown = all.filter(({ market }) => only === undefined || market.id === only.id).map(showBookPosition)
  return { positions: shown, ...missingIn(all, (market) => ({ market })) }
}

export const showBookPosition = ({ market, side, marginMode, liquidationPrice = '0', ...position }: PerpBookPosition) => ({
  market: marketName(market),
  tickerSymbol: tickerOf(market),
  positionAmt: normalize(position.amount),
  positionSide: side,
  unrealizedProfit: normalize(position.unrealizedProfit),
  leverage: normalize(position.leverage),
  entryPrice: normalize(position.entryPrice),
  markPrice: normalize(position.markPrice),
  liquidationPrice: normalize(liquidationPrice),
  pendingFundingPayment: normalize(position.pendingFunding),
  marginMode,
})

const clobFundingPayments: BookHandler<'FundingPayments'> = async (request, { network, venue, services, signal }) => {
  const at = { signal }
  const page = readTimedPage(request, services.settings)
  const owner = readAddress(network, request.address)
  const market = request.market === undefined ? undefined : (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const query = { market, limit: queryLimit(page), before: page.before }
  const found = await tradingOf('PERP_CLOB', venue).fundingPayments(owner, query, at)
  const { shown, nextCursor } = cutTimedPage(found, page)
  const payments = shown.map(({ market: of, amount, rate, timestamp }) => {
    return { market: marketName(of), amount: normalize(amount), rate: normalize(rate), timestamp }
  })
  return { payments, ...missingIn(found, (of) => ({ market: of })), ...(nextCursor !== undefined && { nextCursor }) }
}

export const accountHandlers = (type: BookSet) => ({
  Balances: clobBalances(type),
})

export const marginAccountHandlers = {
  Account: clobMarginAccount,
}

export const perpBookAccountHandlers = {
  Account: clobPerpAccount,
  Positions: clobPositions,
  FundingPayments: clobFundingPayments,
}
