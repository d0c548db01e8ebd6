import { formatRaw, parseDecimal, rescale } from '../../../core/base/decimal.ts'

/** A market of `/clob/markets`. */
export interface Market {
  market: string
  base: string
  quote: string
  tickSize?: string
  priceSignificantFigures?: number
  priceDecimals?: number
  lotSize?: string
  minOrderSize?: string
  minNotional?: string
  maxLeverage?: string
  orderTypes: readonly string[]
  /** Times in force by order type. */
  takes: Readonly<Record<string, readonly string[]>>
  status: string
}

/** The market's valid price that is nearest to a number. */
export function onGrid({ tickSize, priceSignificantFigures, priceDecimals = 20 }: Market, price: number): string {
  if (tickSize !== undefined) return plain(BigInt(Math.round(price / Number(tickSize))) * exact(tickSize))
  const figures = Number(price.toPrecision(priceSignificantFigures ?? 5))
  return plain(exact(figures.toFixed(Math.min(priceDecimals, 20))))
}

/** An invalid price between two valid ones. Undefined where every price is valid. */
export function offGrid(market: Market, price: number): string | undefined {
  const { tickSize, priceSignificantFigures } = market
  if (tickSize !== undefined) return plain(exact(onGrid(market, price)) + exact(tickSize) / 2n)
  if (priceSignificantFigures === undefined) return undefined
  // One digit more than is valid. Whole numbers are always valid.
  const digit = Math.floor(Math.log10(price)) - priceSignificantFigures
  return plain(exact(onGrid(market, price)) + exact(digit >= 0 ? '0.5' : `1e${digit}`))
}

/** The smallest amount in whole lots that is not below a number. */
export function lotsOf({ lotSize = '0.00000001' }: Market, amount: number): string {
  const lot = exact(lotSize)
  const minimum = exact(amount.toFixed(18))
  return plain(((minimum + lot - 1n) / lot) * lot)
}

/** The amount of one trade: well above the market's minimum, with few digits, and worth at least 20 in quote. */
export function unitOf(market: Market, price: number): string {
  const amount = Math.max(Number(market.minOrderSize ?? 0) * 4, (Number(market.minNotional ?? 0) * 4) / price, 20 / price)
  return lotsOf(market, Number(amount.toPrecision(2)))
}

// Enough for a price of 18 digits times an amount of 18 decimals.
const decimals = 40
const one = 10n ** BigInt(decimals)

/** A decimal string as a multiple of 10^-40. */
export function exact(text: string): bigint {
  const { digits, scale } = parseDecimal(text)
  return rescale(digits, scale, decimals)
}

export const times = (a: bigint, b: bigint): bigint => (a * b) / one

export const sum = (all: readonly bigint[]): bigint => all.reduce((total, each) => total + each, 0n)

/** The decimal string, without trailing zeros. */
export const plain = (value: bigint): string => formatRaw(value, decimals)
