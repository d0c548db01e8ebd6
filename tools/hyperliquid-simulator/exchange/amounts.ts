/** A decimal as a whole number of 10^-decimals. @throws RangeError where it is none, or has more decimals than that */
export function toUnits(text: string, decimals: number): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d*?)0*)?$/.exec(text)
  const [, sign, whole = '', fraction = ''] = parts ?? []
  if (!parts || fraction.length > decimals) throw new RangeError(`${text} is no number with at most ${decimals} decimals`)
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  return sign ? -units : units
}

/** As the exchange writes numbers: with one decimal at least, and no zeros at the end but that. */
export function fromUnits(units: bigint, decimals: number): string {
  const digits = abs(units)
    .toString()
    .padStart(decimals + 1, '0')
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals)
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}.${fraction || '0'}`
}

export const abs = (value: bigint) => (value < 0n ? -value : value)
export const least = (a: bigint, b: bigint) => (a < b ? a : b)
export const most = (a: bigint, b: bigint) => (a > b ? a : b)

export const floorDiv = (a: bigint, b: bigint): bigint => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n)
export const ceilDiv = (a: bigint, b: bigint): bigint => -floorDiv(-a, b)
/** To the nearest, halves away from 0. */
export const roundDiv = (a: bigint, b: bigint): bigint => {
  const [n, d] = b < 0n ? [-a, -b] : [a, b]
  return n < 0n ? -((-n * 2n + d) / (2n * d)) : (n * 2n + d) / (2n * d)
}

/** Prices, sizes and rates are whole numbers of 10^-8, US dollars of perpetuals of 10^-6, amounts of tokens of their smallest unit. */
export const one = 10n ** 8n
export const usdDecimals = 6

export const toPrice = (text: string) => toUnits(text, 8)
export const fromPrice = (price: bigint) => fromUnits(price, 8)
export const toSize = toPrice
export const fromSize = fromPrice
export const toRate = (text: string) => toUnits(text, 12)
export const fromRate = (rate: bigint) => fromUnits(rate, 12)
export const rateOne = 10n ** 12n
export const toUsd = (text: string) => toUnits(text, usdDecimals)
export const fromUsd = (usd: bigint) => fromUnits(usd, usdDecimals)

/** What a size is worth at a price, in 10^-6 US dollars: exact on the grid of a perpetual, else to the nearest. */
export const usdValue = (price: bigint, size: bigint) => roundDiv(price * size, 10n ** 10n)

/** A size as an amount of the token that it is a size of. */
export const weiOfSize = (size: bigint, weiDecimals: number): bigint =>
  weiDecimals >= 8 ? size * 10n ** BigInt(weiDecimals - 8) : size / 10n ** BigInt(8 - weiDecimals)

/** What a size is worth at a price in the quote token's smallest unit: exact on the grid of a spot market. */
export const quoteWei = (price: bigint, size: bigint, weiDecimals: number) => (price * size * 10n ** BigInt(weiDecimals)) / 10n ** 16n

/**
 * Five significant figures and so many decimals at most; a whole number always is a price.
 * https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size
 */
export function isOnPriceGrid(price: bigint, maxDecimals: number): boolean {
  if (price % 10n ** BigInt(8 - maxDecimals) !== 0n) return false
  return price % one === 0n || price.toString().replace(/0+$/, '').length <= 5
}

export const isOnSizeGrid = (size: bigint, szDecimals: number) => size % 10n ** BigInt(8 - szDecimals) === 0n
