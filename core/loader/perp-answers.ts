import type { PerpAMM } from '../contracts/index.ts'
import {
  checkHead,
  checkPlan,
  checkPrice,
  checkRatio,
  invalid,
  list,
  object,
  present,
  requireAmounts,
  requireIntegers,
  requireOneOf,
  requireTexts,
  type Rules,
} from './answer-checks.ts'

/** An answer about another market or order than the requested one would go into bounds, and be shown as the requested one's. */
export const perpAMMRules: Rules<PerpAMM> = {
  listed: (answer) => {
    const { markets, settlement } = object('listed', answer)
    const names = list('listed.markets', markets).map(checkMarketName)
    if (new Set(names).size < names.length) throw invalid('listed', 'markets', 'of different names')
    checkToken('listed.settlement', settlement)
  },
  prices: (answer, [requested]) => {
    const { head, market, prices } = object('prices', answer)
    checkHead('prices', head)
    checkMarket(market)
    checkSameMarket('prices', market, requested)
    checkPrices('prices', prices)
  },
  position: (answer, [, requested]) => {
    const { head, position, account } = object('position', answer)
    checkHead('position', head)
    checkPosition(position, requested)
    checkAccount(account)
  },
  account: (answer) => {
    const { head, account } = object('account', answer)
    checkHead('account', head)
    checkAccount(account)
  },
  funding: (answer) => {
    const { head, funding } = object('funding', answer)
    checkHead('funding', head)
    for (const each of list('funding.funding', funding)) {
      const one = object('funding', each)
      checkMarket(one.market)
      checkRatio('funding.rate', one.rate)
      for (const key of ['index', 'mark']) checkPrice(`funding.${key}`, one[key])
      requireAmounts('funding', one, ['pendingRaw'], 'any')
      requireIntegers('funding', one, ['periodSeconds', ...present(one, ['nextAt'])])
    }
  },
  quote: (answer, [requested, owner]) => {
    const quote = checkQuote('quote', answer)
    const quoted = object('quote.order', quote.order)
    if (quoted.side !== requested.side || quoted.sizeRaw !== requested.sizeRaw) throw invalid('quote', 'order', 'the requested order')
    checkSameMarket('quote', quote.market, requested.market)
    if (owner === undefined) return
    checkPosition(quote.position, requested.market)
    checkAccount(quote.account)
    if (quote.after !== undefined) requireAmounts('quote.after', object('quote.after', quote.after), ['sizeRaw', 'openNotionalRaw'], 'any')
  },
  closing: (answer, [, requested]) => {
    if (answer === undefined) return
    const { market, position, account, order } = checkQuote('closing', answer)
    checkSameMarket('closing', market, requested)
    checkPosition(position, requested)
    checkAccount(account)
    const { sizeRaw: held } = object('closing.position', position)
    const { side, sizeRaw } = object('closing.order', order)
    if (typeof held !== 'bigint' || typeof sizeRaw !== 'bigint') throw invalid('closing', 'sizeRaw', 'a bigint')
    if (side !== (held > 0n ? 'SHORT' : 'LONG')) throw invalid('closing.order', 'side', 'opposite to that of the position')
    if (sizeRaw > (held < 0n ? -held : held)) throw invalid('closing.order', 'sizeRaw', 'at most the size of the position')
  },
  open: checkPlan,
  close: checkPlan,
  collateral: (answer, [, requested]) => {
    const collateral = object('collateral', answer)
    checkHead('collateral', collateral.head)
    checkToken('collateral.token', collateral.token)
    if (object('token', collateral.token).address !== requested.address) throw invalid('collateral', 'token', 'the requested one')
    requireAmounts('collateral', collateral, ['depositedRaw', 'withdrawableRaw'])
  },
  move: checkPlan,
  perpFill: (answer) => {
    if (answer === undefined) return
    const fill = object('perpFill', answer)
    checkMarketName(fill.market)
    requireAmounts('perpFill', fill, ['quoteRaw', 'feeRaw'])
    requireAmounts('perpFill', fill, ['sizeRaw'], 'above 0')
    requireAmounts('perpFill', fill, ['realizedProfitRaw'], 'any')
    if (fill.closedRatio === undefined) return
    const { numerator, denominator } = checkPrice('perpFill.closedRatio', fill.closedRatio)
    if (numerator > denominator) throw invalid('perpFill', 'closedRatio', 'at most 1')
  },
  liquidations: (answer) => {
    for (const each of list('liquidations', answer)) {
      const liquidation = object('liquidation', each)
      requireTexts('liquidation', liquidation, ['txHash'])
      requireIntegers('liquidation', liquidation, ['blockNumber'])
      requireAmounts('liquidation', liquidation, ['sizeRaw'])
    }
  },
}

function checkQuote(of: string, answer: unknown): Readonly<Record<string, unknown>> {
  const quote = object(of, answer)
  checkHead(of, quote.head)
  checkMarket(quote.market)
  checkPrices(of, quote.prices)
  // A bound computed from 0 would be no bound.
  requireAmounts(of, quote, ['quoteRaw', 'gasUnits'], 'above 0')
  requireAmounts(of, quote, ['feeRaw', ...present(quote, ['missingRaw'])])
  const order = object(`${of}.order`, quote.order)
  checkMarketName(order.market)
  checkSameMarket(`${of}.order`, order.market, object('market', quote.market))
  requireOneOf(`${of}.order`, 'side', order.side, ['LONG', 'SHORT'])
  requireAmounts(`${of}.order`, order, ['sizeRaw'], 'above 0')
  return quote
}

/** @returns the market's name, base and quote in capitals */
function checkMarketName(value: unknown): string {
  const market = object('market', value)
  requireTexts('market', market, ['id', 'base', 'quote'], { empty: false })
  for (const key of ['baseDecimals', 'quoteDecimals']) checkDecimals('market', key, market[key])
  return `${String(market.base)}${String(market.quote)}`.toUpperCase()
}

function checkMarket(value: unknown): void {
  checkMarketName(value)
  const { status, maxLeverage, maintenanceRatio } = object('market', value)
  requireOneOf('market', 'status', status, ['open', 'paused', 'closed'])
  checkPrice('market.maxLeverage', maxLeverage)
  checkRatio('market.maintenanceRatio', maintenanceRatio)
}

function checkSameMarket(of: string, market: unknown, requested: { readonly id?: unknown }): void {
  if (object('market', market).id !== requested.id) throw invalid(of, 'market', 'the requested one')
}

function checkPrices(of: string, value: unknown): void {
  const prices = object(`${of}.prices`, value)
  for (const key of ['mark', 'index', 'indexTwap']) checkPrice(`${of}.prices.${key}`, prices[key])
}

function checkPosition(value: unknown, requested: { readonly id: string }): void {
  const position = object('position', value)
  checkMarket(position.market)
  checkSameMarket('position', position.market, requested)
  checkPrice('position.mark', position.mark)
  requireAmounts('position', position, ['sizeRaw', 'openNotionalRaw', 'unrealizedProfitRaw', 'pendingFundingRaw'], 'any')
}

function checkAccount(value: unknown): void {
  const account = object('account', value)
  checkDecimals('account', 'decimals', account.decimals)
  requireAmounts('account', account, ['valueRaw', 'freeCollateralRaw', 'collateralRaw'], 'any')
  requireAmounts('account', account, ['initialMarginRaw', 'maintenanceMarginRaw', 'notionalRaw'])
}

function checkToken(what: string, value: unknown): void {
  const token = object(what, value)
  requireTexts(what, token, ['symbol', 'address'])
  checkDecimals(what, 'decimals', token.decimals)
}

function checkDecimals(of: string, key: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > 77) throw invalid(of, key, 'a whole number of decimals')
}
