import { one } from './units.ts'

/**
 * Five significant figures and so many decimals at most; a whole number always is a price.
 * https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size
 */
export function isOnPriceGrid(price: bigint, maxDecimals: number): boolean {
  if (price % 10n ** BigInt(8 - maxDecimals) !== 0n) return false
  return price % one === 0n || price.toString().replace(/0+$/, '').length <= 5
}

export const isOnSizeGrid = (size: bigint, szDecimals: number) => size % 10n ** BigInt(8 - szDecimals) === 0n
