import type { MarginToken, PerpBookPosition } from '../../contracts/index.ts'
import { plain, inOneScale } from '../../decimal.ts'
import type { Handler } from '../context.ts'
import { askedOf, cutTimedPage, readTimedPage } from '../pages.ts'
import { showLeverage, showMarginRatio } from '../perp/figures.ts'
import { tickerOf } from '../perp/markets.ts'
import { readAddress } from '../wallets.ts'
import { bookOf, type BookHandlerFor, type BookHandler, marketsOf, nameOf } from './markets.ts'

export const clobBalances: BookHandlerFor<'Balances'> =
  (type) =>
  async (request, { network, venue, signal }) => {
    const held = await bookOf(type, venue).balances(readAddress(network, request.address), { signal })
    const shown = held.map(({ symbol, total, available, locked }) => {
      return [symbol, { total: plain(total), available: plain(available), locked: plain(locked) }] as const
    })
    return { balances: Object.fromEntries(shown) }
  }

export const clobMarginAccount: Handler<'CLOBMarginAccount'> = async (request, { network, venue, signal }) => {
  const account = await bookOf('MARGIN_CLOB', venue).account(readAddress(network, request.address), { signal })
  return {
    mode: account.mode,
    sharedWith: [...account.sharedWith],
    equity: plain(account.equity),
    collateral: plain(account.collateral),
    borrowed: plain(account.borrowed),
    freeCollateral: plain(account.freeCollateral),
    initialMargin: plain(account.initialMargin),
    maintenanceMargin: plain(account.maintenanceMargin),
    marginRatio: plain(account.marginRatio ?? '0'),
    tokens: Object.fromEntries(account.tokens.map((token) => [token.symbol, showToken(token)])),
  }
}

const showToken = ({ deposited, borrowed, available, borrowRate, borrowCap }: MarginToken) => ({
  deposited: plain(deposited),
  borrowed: plain(borrowed),
  available: plain(available),
  borrowRate: plain(borrowRate),
  ...(borrowCap !== undefined && { borrowCap: plain(borrowCap) }),
})

export const clobPerpAccount: BookHandler<'Account'> = async (request, { network, venue, signal }) => {
  const account = await bookOf('PERP_CLOB', venue).account(readAddress(network, request.address), { signal })
  const { aRaw: valueRaw, bRaw: notionalRaw } = inOneScale(account.accountValue, account.notional)
  return {
    accountValue: plain(account.accountValue),
    freeCollateral: plain(account.freeCollateral),
    collateral: plain(account.collateral),
    initialMargin: plain(account.initialMargin),
    maintenanceMargin: plain(account.maintenanceMargin),
    marginRatio: showMarginRatio(valueRaw, notionalRaw),
    leverage: showLeverage(notionalRaw, valueRaw),
  }
}

export const clobPositions: BookHandler<'Positions'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = bookOf('PERP_CLOB', venue)
  const owner = readAddress(network, request.address)
  const only = request.market === undefined ? undefined : (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const held = await perp.positions(owner, at)
  return { positions: held.filter(({ market }) => only === undefined || market.id === only.id).map(showPosition) }
}

export const showPosition = ({ market, side, marginMode, liquidationPrice = '0', ...position }: PerpBookPosition) => ({
  market: nameOf(market),
  tickerSymbol: tickerOf(market),
  positionAmt: plain(position.amount),
  positionSide: side,
  unrealizedProfit: plain(position.unrealizedProfit),
  leverage: plain(position.leverage),
  entryPrice: plain(position.entryPrice),
  markPrice: plain(position.markPrice),
  liquidationPrice: plain(liquidationPrice),
  pendingFundingPayment: plain(position.pendingFunding),
  marginMode,
})

export const clobFundingPayments: BookHandler<'FundingPayments'> = async (request, { network, venue, services, signal }) => {
  const at = { signal }
  const page = readTimedPage(request, services.settings)
  const owner = readAddress(network, request.address)
  const market = request.market === undefined ? undefined : (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const query = { market, limit: askedOf(page), before: page.before }
  const { shown, nextCursor } = cutTimedPage(await bookOf('PERP_CLOB', venue).fundingPayments(owner, query, at), page)
  const payments = shown.map(({ market: of, amount, rate, timestamp }) => {
    return { market: nameOf(of), amount: plain(amount), rate: plain(rate), timestamp }
  })
  return { payments, ...(nextCursor !== undefined && { nextCursor }) }
}
