import { fromUnits, roundDiv, toUnits } from './decimals.ts'

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
