import { orderStates, orderTypes, timesInForce } from '../../contracts/index.ts'
import { checkPlan, object, wrong } from './check.ts'

/** Digits with at most one point: what stands in exponents, or is no number, would be shown and reckoned with as it is. */
const decimal = /^\d{1,100}(\.\d{1,100})?$/

export function checkDecimal(of: string, key: string, value: unknown, kind: 'signed' | 'above 0' | '0 or more'): void {
  const text = typeof value === 'string' ? (kind === 'signed' ? value.replace(/^-/, '') : value) : ''
  if (!decimal.test(text) || (kind === 'above 0' && !/[1-9]/.test(text)))
    throw wrong(of, key, `a decimal string${kind === 'signed' ? '' : ` ${kind === 'above 0' ? 'above 0' : 'of 0 or more'}`}`)
}

export function checkOptional(of: string, key: string, value: unknown, kind: Parameters<typeof checkDecimal>[3]): void {
  if (value !== undefined) checkDecimal(of, key, value, kind)
}

export function checkText(of: string, key: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw wrong(of, key, 'text')
  return value
}

export function checkOneOf(of: string, key: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'string' || !known.includes(value)) throw wrong(of, key, known.map((each) => `'${each}'`).join(' or '))
}

/** Milliseconds since the Unix epoch. */
export function checkTime(of: string, key: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw wrong(of, key, 'milliseconds since the Unix epoch')
  return value
}

export function list(of: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${of} is no array`)
  return value
}

const sides = ['BUY', 'SELL'] as const

export const checkSide = (of: string, value: unknown) => checkOneOf(of, 'side', value, sides)
export const checkState = (of: string, value: unknown) => checkOneOf(of, 'state', value, orderStates)
export const checkOrderType = (of: string, value: unknown) => checkOneOf(of, 'orderType', value, orderTypes)

/** @returns what the market is called, in capitals */
export function checkMarketName(of: string, value: unknown): string {
  const market = object(`${of}.market`, value)
  const [base, quote] = (['base', 'quote'] as const).map((key) => checkText(`${of}.market`, key, market[key]))
  checkText(`${of}.market`, 'id', market.id)
  return `${base}-${quote}`.toUpperCase()
}

/** @param asked where a market was asked for */
export function checkSameMarket(of: string, value: unknown, asked: unknown): void {
  checkMarketName(of, value)
  if (asked !== undefined && object('market', value).id !== object('market', asked).id)
    throw wrong(of, 'market', 'that which was asked for')
}

export function checkBookMarket(value: unknown): string {
  const market = object('market', value)
  const name = checkMarketName('markets', market)
  checkGrid(market.prices)
  checkDecimal('market', 'lotSize', market.lotSize, 'above 0')
  for (const key of ['minOrderSize', 'minNotional']) checkOptional('market', key, market[key], '0 or more')
  for (const key of ['makerFee', 'takerFee']) checkDecimal('market', key, market[key], 'signed')
  checkOptional('market', 'maxLeverage', market.maxLeverage, 'above 0')
  checkOneOf('market', 'status', market.status, ['open', 'paused', 'closed'])
  for (const [orderType, times] of Object.entries(object('market.takes', market.takes))) {
    checkOrderType('market.takes', orderType)
    if (list(`market.takes.${orderType}`, times).length === 0)
      throw wrong('market.takes', orderType, 'a list with the usual time in force first')
    for (const each of list('times', times)) checkOneOf('market.takes', orderType, each, timesInForce)
  }
  return name
}

function checkGrid(grid: unknown): void {
  if (grid === 'any') return
  const { step, significantFigures, maxDecimals } = object('market.prices', grid)
  if (step !== undefined) return checkDecimal('market.prices', 'step', step, 'above 0')
  const isCount = (value: unknown, least: number) => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= 77
  if (!isCount(significantFigures, 1) || !isCount(maxDecimals, 0))
    throw wrong('market', 'prices', "'any', { step }, or { significantFigures, maxDecimals }")
}

/** By the venue's own chain, or over a bridge. */
export function checkDepositPlan(value: unknown): void {
  const plan = object('plan', value)
  if (!('via' in plan)) return checkPlan(plan)
  if (plan.via !== 'bridge') throw wrong('plan', 'via', "'bridge', or left out")
}

/** By the chain, or by the exchange's own rail. */
export function checkBookPlan(value: unknown): void {
  const plan = object('plan', value)
  if (!('via' in plan)) return checkPlan(plan)
  if (plan.via !== 'venue') throw wrong('plan', 'via', "'venue', or left out")
  if (plan.signer !== undefined) checkText('plan', 'signer', plan.signer)
  checkPlan({ ...plan, needs: [] })
}
