import { checkHead, checkPlan, isAmount, object, wrong, type Check } from './check.ts'

/** By verb of PERP_AMM. */
export const perpAMMChecks: Readonly<Record<string, Check>> = {
  listed: (answer) => {
    const { markets, settlement } = object('listed', answer)
    checkEach('listed', 'markets', markets, checkName)
    checkToken('listed.settlement', settlement)
  },
  prices: (answer) => {
    const { head, market, prices } = object('prices', answer)
    checkHead('prices', head)
    checkMarket(market)
    checkPrices('prices', prices)
  },
  position: (answer) => {
    const { head, position, account } = object('position', answer)
    checkHead('position', head)
    checkPosition(position)
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
    checkEach('funding', 'funding', funding, (each) => {
      const { market, rate, periodSeconds, index, mark, pendingRaw, nextAt } = object('funding', each)
      checkMarket(market)
      checkRatio('funding.rate', rate)
      for (const [key, price] of Object.entries({ index, mark })) checkPrice(`funding.${key}`, price)
      if (typeof pendingRaw !== 'bigint') throw wrong('funding', 'pendingRaw', 'a bigint')
      for (const [key, seconds] of Object.entries({ periodSeconds, nextAt: nextAt ?? 0 }))
        if (!Number.isSafeInteger(seconds)) throw wrong('funding', key, 'whole seconds')
    })
  },
  quote: (answer, [order, owner]) => {
    checkQuote('quote', answer)
    const quote = object('quote', answer)
    const [quoted, asked] = [object('quote.order', quote.order), object('order', order)]
    if (quoted.side !== asked.side || quoted.sizeRaw !== asked.sizeRaw) throw wrong('quote', 'order', 'the order that was asked for')
    if (owner === undefined) return
    checkPosition(quote.position)
    checkAccount(quote.account)
  },
  closing: (answer) => {
    if (answer === undefined) return
    checkQuote('closing', answer)
    const { position, account, order } = object('closing', answer)
    checkPosition(position)
    checkAccount(account)
    const { sizeRaw } = object('closing.position', position)
    const closed = object('closing.order', order)
    const held = typeof sizeRaw === 'bigint' && sizeRaw < 0n ? -sizeRaw : sizeRaw
    if (!isAmount(closed.sizeRaw) || !isAmount(held) || closed.sizeRaw > held)
      throw wrong('closing', 'order', 'of no more than the position has')
  },
  open: checkPlan,
  close: checkPlan,
  collateral: (answer) => {
    const collateral = object('collateral', answer)
    checkHead('collateral', collateral.head)
    checkToken('collateral.token', collateral.token)
    for (const key of ['depositedRaw', 'withdrawableRaw'])
      if (!isAmount(collateral[key])) throw wrong('collateral', key, 'a bigint of 0 or more')
  },
  move: checkPlan,
  perpFill: (answer) => {
    if (answer === undefined) return
    const fill = object('perpFill', answer)
    checkName(fill.market)
    for (const key of ['sizeRaw', 'quoteRaw', 'feeRaw']) if (!isAmount(fill[key])) throw wrong('perpFill', key, 'a bigint of 0 or more')
    if (fill.sizeRaw === 0n) throw wrong('perpFill', 'sizeRaw', 'more than 0')
    if (typeof fill.realizedProfitRaw !== 'bigint') throw wrong('perpFill', 'realizedProfitRaw', 'a bigint')
    if (fill.closedRatio !== undefined) checkPrice('perpFill.closedRatio', fill.closedRatio)
  },
  liquidations: (answer) => {
    checkEach('liquidations', 'answer', answer, (each) => {
      const { txHash, blockNumber, sizeRaw } = object('liquidation', each)
      if (typeof txHash !== 'string') throw wrong('liquidation', 'txHash', 'text')
      if (!Number.isSafeInteger(blockNumber)) throw wrong('liquidation', 'blockNumber', 'a whole number')
      if (!isAmount(sizeRaw)) throw wrong('liquidation', 'sizeRaw', 'a bigint of 0 or more')
    })
  },
}

function checkEach(of: string, key: string, values: unknown, check: (value: unknown) => void): void {
  if (!Array.isArray(values)) throw wrong(of, key, 'an array')
  for (const each of values) check(each)
}

function checkQuote(of: string, answer: unknown): void {
  const quote = object(of, answer)
  checkHead(of, quote.head)
  checkMarket(quote.market)
  checkPrices(of, quote.prices)
  // Of nothing a bound would be no bound.
  for (const key of ['quoteRaw', 'gasUnits']) if (!isAmount(quote[key]) || quote[key] === 0n) throw wrong(of, key, 'a bigint above 0')
  if (!isAmount(quote.feeRaw)) throw wrong(of, 'feeRaw', 'a bigint of 0 or more')
  const { market, side, sizeRaw } = object(`${of}.order`, quote.order)
  checkName(market)
  if (side !== 'LONG' && side !== 'SHORT') throw wrong(`${of}.order`, 'side', 'LONG or SHORT')
  if (!isAmount(sizeRaw) || sizeRaw === 0n) throw wrong(`${of}.order`, 'sizeRaw', 'a bigint above 0')
}

function checkName(value: unknown): void {
  const market = object('market', value)
  for (const key of ['id', 'base', 'quote']) if (typeof market[key] !== 'string' || market[key] === '') throw wrong('market', key, 'text')
  for (const key of ['baseDecimals', 'quoteDecimals']) checkDecimals('market', key, market[key])
}

function checkMarket(value: unknown): void {
  checkName(value)
  const { status, maxLeverage, maintenanceRatio } = object('market', value)
  if (status !== 'open' && status !== 'paused' && status !== 'closed') throw wrong('market', 'status', "'open', 'paused' or 'closed'")
  checkPrice('market.maxLeverage', maxLeverage)
  checkRatio('market.maintenanceRatio', maintenanceRatio)
}

function checkPrices(of: string, value: unknown): void {
  const prices = object(`${of}.prices`, value)
  for (const key of ['mark', 'index', 'indexTwap']) checkPrice(`${of}.prices.${key}`, prices[key])
}

function checkPosition(value: unknown): void {
  const position = object('position', value)
  checkMarket(position.market)
  checkPrice('position.mark', position.mark)
  for (const key of ['sizeRaw', 'openNotionalRaw', 'unrealizedProfitRaw', 'pendingFundingRaw'])
    if (typeof position[key] !== 'bigint') throw wrong('position', key, 'a bigint')
}

function checkAccount(value: unknown): void {
  const account = object('account', value)
  checkDecimals('account', 'decimals', account.decimals)
  for (const key of ['valueRaw', 'freeCollateralRaw', 'collateralRaw'])
    if (typeof account[key] !== 'bigint') throw wrong('account', key, 'a bigint')
  for (const key of ['initialMarginRaw', 'maintenanceMarginRaw', 'notionalRaw'])
    if (!isAmount(account[key])) throw wrong('account', key, 'a bigint of 0 or more')
}

function checkToken(what: string, value: unknown): void {
  const { symbol, address, decimals } = object(what, value)
  for (const [key, text] of Object.entries({ symbol, address })) if (typeof text !== 'string') throw wrong(what, key, 'text')
  checkDecimals(what, 'decimals', decimals)
}

function checkDecimals(of: string, key: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > 77) throw wrong(of, key, 'a whole number of decimals')
}

/** It is divided by. */
function checkRatio(what: string, value: unknown): void {
  const { numerator, denominator } = object(what, value)
  if (typeof numerator !== 'bigint' || !isAmount(denominator) || denominator === 0n)
    throw new Error(`${what} must be { numerator, denominator }: bigints, the denominator above 0`)
}

function checkPrice(what: string, value: unknown): void {
  checkRatio(what, value)
  const { numerator } = object(what, value)
  if (!isAmount(numerator) || numerator === 0n) throw new Error(`${what} must be above 0`)
}
