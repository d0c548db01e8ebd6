import { isAmount, object, wrong } from './check.ts'

/** @returns what the market is called */
export function checkName(value: unknown): string {
  const market = object('market', value)
  for (const key of ['id', 'base', 'quote']) if (typeof market[key] !== 'string' || market[key] === '') throw wrong('market', key, 'text')
  for (const key of ['baseDecimals', 'quoteDecimals']) checkDecimals('market', key, market[key])
  return `${String(market.base)}${String(market.quote)}`.toUpperCase()
}

export function checkMarket(value: unknown): void {
  checkName(value)
  const { status, maxLeverage, maintenanceRatio } = object('market', value)
  if (status !== 'open' && status !== 'paused' && status !== 'closed') throw wrong('market', 'status', "'open', 'paused' or 'closed'")
  checkPrice('market.maxLeverage', maxLeverage)
  checkRatio('market.maintenanceRatio', maintenanceRatio)
}

export function checkSame(of: string, market: unknown, asked: unknown): void {
  if (object('market', market).id !== object('market', asked).id) throw wrong(of, 'market', 'that which was asked for')
}

export function checkPrices(of: string, value: unknown): void {
  const prices = object(`${of}.prices`, value)
  for (const key of ['mark', 'index', 'indexTwap']) checkPrice(`${of}.prices.${key}`, prices[key])
}

/** Of the market that was asked for. */
export function checkPosition(value: unknown, asked: unknown): void {
  const position = object('position', value)
  checkMarket(position.market)
  checkSame('position', position.market, asked)
  checkPrice('position.mark', position.mark)
  for (const key of ['sizeRaw', 'openNotionalRaw', 'unrealizedProfitRaw', 'pendingFundingRaw'])
    if (typeof position[key] !== 'bigint') throw wrong('position', key, 'a bigint')
}

export function checkAccount(value: unknown): void {
  const account = object('account', value)
  checkDecimals('account', 'decimals', account.decimals)
  for (const key of ['valueRaw', 'freeCollateralRaw', 'collateralRaw'])
    if (typeof account[key] !== 'bigint') throw wrong('account', key, 'a bigint')
  for (const key of ['initialMarginRaw', 'maintenanceMarginRaw', 'notionalRaw'])
    if (!isAmount(account[key])) throw wrong('account', key, 'a bigint of 0 or more')
}

export function checkToken(what: string, value: unknown): void {
  const { symbol, address, decimals } = object(what, value)
  for (const [key, text] of Object.entries({ symbol, address })) if (typeof text !== 'string') throw wrong(what, key, 'text')
  checkDecimals(what, 'decimals', decimals)
}

function checkDecimals(of: string, key: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > 77) throw wrong(of, key, 'a whole number of decimals')
}

/** It is divided by. */
export function checkRatio(what: string, value: unknown): { numerator: bigint; denominator: bigint } {
  const { numerator, denominator } = object(what, value)
  if (typeof numerator !== 'bigint' || !isAmount(denominator) || denominator === 0n)
    throw new Error(`${what} must be { numerator, denominator }: bigints, the denominator above 0`)
  return { numerator, denominator }
}

export function checkPrice(what: string, value: unknown): { numerator: bigint; denominator: bigint } {
  const price = checkRatio(what, value)
  if (price.numerator <= 0n) throw new Error(`${what} must be above 0`)
  return price
}
