import { checkHead, checkPlan, isAmount, object, invalid, type Check } from './amm-answers.ts'

/** By verb of PERP_AMM. What it says of another market or order than was asked for would go into bounds, and be shown as this one's. */
export const perpAMMChecks: Readonly<Record<string, Check>> = {
  listed: (answer) => {
    const { markets, settlement } = object('listed', answer)
    const tickers = each('listed', 'markets', markets).map(checkName)
    if (new Set(tickers).size < tickers.length) throw invalid('listed', 'markets', 'of different names')
    checkToken('listed.settlement', settlement)
  },
  prices: (answer, [asked]) => {
    const { head, market, prices } = object('prices', answer)
    checkHead('prices', head)
    checkMarket(market)
    checkSame('prices', market, asked)
    checkPrices('prices', prices)
  },
  position: (answer, [, asked]) => {
    const { head, position, account } = object('position', answer)
    checkHead('position', head)
    checkPosition(position, asked)
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
    for (const one of each('funding', 'funding', funding)) {
      const { market, rate, periodSeconds, index, mark, pendingRaw, nextAt } = object('funding', one)
      checkMarket(market)
      checkRatio('funding.rate', rate)
      for (const [key, price] of Object.entries({ index, mark })) checkPrice(`funding.${key}`, price)
      if (typeof pendingRaw !== 'bigint') throw invalid('funding', 'pendingRaw', 'a bigint')
      for (const [key, seconds] of Object.entries({ periodSeconds, nextAt: nextAt ?? 0 }))
        if (!Number.isSafeInteger(seconds)) throw invalid('funding', key, 'whole seconds')
    }
  },
  quote: (answer, [asked, owner]) => {
    checkQuote('quote', answer)
    const quote = object('quote', answer)
    const [quoted, order] = [object('quote.order', quote.order), object('order', asked)]
    if (quoted.side !== order.side || quoted.sizeRaw !== order.sizeRaw) throw invalid('quote', 'order', 'the order that was asked for')
    checkSame('quote', quote.market, order.market)
    if (owner === undefined) return
    checkPosition(quote.position, order.market)
    checkAccount(quote.account)
    if (quote.after === undefined) return
    const after = object('quote.after', quote.after)
    for (const key of ['sizeRaw', 'openNotionalRaw']) if (typeof after[key] !== 'bigint') throw invalid('quote.after', key, 'a bigint')
  },
  closing: (answer, [, asked]) => {
    if (answer === undefined) return
    checkQuote('closing', answer)
    const { market, position, account, order } = object('closing', answer)
    checkSame('closing', market, asked)
    checkPosition(position, asked)
    checkAccount(account)
    const { sizeRaw: held } = object('closing.position', position)
    const { side, sizeRaw } = object('closing.order', order)
    if (typeof held !== 'bigint' || typeof sizeRaw !== 'bigint') throw invalid('closing', 'sizeRaw', 'a bigint')
    if (side !== (held > 0n ? 'SHORT' : 'LONG')) throw invalid('closing.order', 'side', "the other than the position's")
    if (sizeRaw > (held < 0n ? -held : held)) throw invalid('closing.order', 'sizeRaw', 'no more than the position has')
  },
  open: checkPlan,
  close: checkPlan,
  collateral: (answer, [, asked]) => {
    const { head, token, depositedRaw, withdrawableRaw } = object('collateral', answer)
    checkHead('collateral', head)
    checkToken('collateral.token', token)
    if (object('token', token).address !== object('token', asked).address) throw invalid('collateral', 'token', 'that which was asked for')
    for (const [key, raw] of Object.entries({ depositedRaw, withdrawableRaw }))
      if (!isAmount(raw)) throw invalid('collateral', key, 'a bigint of 0 or more')
  },
  move: checkPlan,
  perpFill: (answer) => {
    if (answer === undefined) return
    const { market, closedRatio, realizedProfitRaw, ...amounts } = object('perpFill', answer)
    checkName(market)
    for (const key of ['sizeRaw', 'quoteRaw', 'feeRaw'])
      if (!isAmount(amounts[key])) throw invalid('perpFill', key, 'a bigint of 0 or more')
    if (amounts.sizeRaw === 0n) throw invalid('perpFill', 'sizeRaw', 'more than 0')
    if (typeof realizedProfitRaw !== 'bigint') throw invalid('perpFill', 'realizedProfitRaw', 'a bigint')
    if (closedRatio === undefined) return
    const { numerator, denominator } = checkPrice('perpFill.closedRatio', closedRatio)
    if (numerator > denominator) throw invalid('perpFill', 'closedRatio', 'at most 1')
  },
  liquidations: (answer) => {
    for (const one of each('liquidations', 'answer', answer)) {
      const { txHash, blockNumber, sizeRaw } = object('liquidation', one)
      if (typeof txHash !== 'string') throw invalid('liquidation', 'txHash', 'text')
      if (!Number.isSafeInteger(blockNumber)) throw invalid('liquidation', 'blockNumber', 'a whole number')
      if (!isAmount(sizeRaw)) throw invalid('liquidation', 'sizeRaw', 'a bigint of 0 or more')
    }
  },
}

function each(of: string, key: string, values: unknown): readonly unknown[] {
  if (Array.isArray(values)) return values
  throw invalid(of, key, 'an array')
}

function checkQuote(of: string, answer: unknown): void {
  const quote = object(of, answer)
  checkHead(of, quote.head)
  checkMarket(quote.market)
  checkPrices(of, quote.prices)
  // Of nothing a bound would be no bound.
  for (const key of ['quoteRaw', 'gasUnits']) if (!isAmount(quote[key]) || quote[key] === 0n) throw invalid(of, key, 'a bigint above 0')
  for (const [key, raw] of Object.entries({ feeRaw: quote.feeRaw, missingRaw: quote.missingRaw ?? 0n }))
    if (!isAmount(raw)) throw invalid(of, key, 'a bigint of 0 or more')
  const { market, side, sizeRaw } = object(`${of}.order`, quote.order)
  checkName(market)
  checkSame(`${of}.order`, market, quote.market)
  if (side !== 'LONG' && side !== 'SHORT') throw invalid(`${of}.order`, 'side', 'LONG or SHORT')
  if (!isAmount(sizeRaw) || sizeRaw === 0n) throw invalid(`${of}.order`, 'sizeRaw', 'a bigint above 0')
}

/** @returns what the market is called */
function checkName(value: unknown): string {
  const market = object('market', value)
  for (const key of ['id', 'base', 'quote']) if (typeof market[key] !== 'string' || market[key] === '') throw invalid('market', key, 'text')
  for (const key of ['baseDecimals', 'quoteDecimals']) checkDecimals('market', key, market[key])
  return `${String(market.base)}${String(market.quote)}`.toUpperCase()
}

function checkMarket(value: unknown): void {
  checkName(value)
  const { status, maxLeverage, maintenanceRatio } = object('market', value)
  if (status !== 'open' && status !== 'paused' && status !== 'closed') throw invalid('market', 'status', "'open', 'paused' or 'closed'")
  checkPrice('market.maxLeverage', maxLeverage)
  checkRatio('market.maintenanceRatio', maintenanceRatio)
}

function checkSame(of: string, market: unknown, asked: unknown): void {
  if (object('market', market).id !== object('market', asked).id) throw invalid(of, 'market', 'that which was asked for')
}

function checkPrices(of: string, value: unknown): void {
  const prices = object(`${of}.prices`, value)
  for (const key of ['mark', 'index', 'indexTwap']) checkPrice(`${of}.prices.${key}`, prices[key])
}

/** Of the market that was asked for. */
function checkPosition(value: unknown, asked: unknown): void {
  const position = object('position', value)
  checkMarket(position.market)
  checkSame('position', position.market, asked)
  checkPrice('position.mark', position.mark)
  for (const key of ['sizeRaw', 'openNotionalRaw', 'unrealizedProfitRaw', 'pendingFundingRaw'])
    if (typeof position[key] !== 'bigint') throw invalid('position', key, 'a bigint')
}

function checkAccount(value: unknown): void {
  const account = object('account', value)
  checkDecimals('account', 'decimals', account.decimals)
  for (const key of ['valueRaw', 'freeCollateralRaw', 'collateralRaw'])
    if (typeof account[key] !== 'bigint') throw invalid('account', key, 'a bigint')
  for (const key of ['initialMarginRaw', 'maintenanceMarginRaw', 'notionalRaw'])
    if (!isAmount(account[key])) throw invalid('account', key, 'a bigint of 0 or more')
}

function checkToken(what: string, value: unknown): void {
  const { symbol, address, decimals } = object(what, value)
  for (const [key, text] of Object.entries({ symbol, address })) if (typeof text !== 'string') throw invalid(what, key, 'text')
  checkDecimals(what, 'decimals', decimals)
}

function checkDecimals(of: string, key: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > 77) throw invalid(of, key, 'a whole number of decimals')
}

/** It is divided by. */
function checkRatio(what: string, value: unknown): { numerator: bigint; denominator: bigint } {
  const { numerator, denominator } = object(what, value)
  if (typeof numerator !== 'bigint' || !isAmount(denominator) || denominator === 0n)
    throw new Error(`${what} must be { numerator, denominator }: bigints, the denominator above 0`)
  return { numerator, denominator }
}

function checkPrice(what: string, value: unknown): { numerator: bigint; denominator: bigint } {
  const price = checkRatio(what, value)
  if (price.numerator <= 0n) throw new Error(`${what} must be above 0`)
  return price
}
