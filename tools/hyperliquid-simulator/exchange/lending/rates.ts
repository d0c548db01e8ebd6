import { most } from '../amounts/decimals.ts'
import { rateOne } from '../amounts/units.ts'
import type { Reserve } from './reserves.ts'

/** All in 10^-12. */
export const utilizationOf = ({ supplied, borrowed }: Reserve) => (supplied === 0n ? 0n : (borrowed * rateOne) / supplied)

/** Per year: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/portfolio-margin, "LTV and borrowing" */
export const borrowRateOf = (reserve: Reserve) =>
  reserve.isBorrowable ? (5n * rateOne) / 100n + (475n * most(0n, utilizationOf(reserve) - (8n * rateOne) / 10n)) / 100n : 0n

/** What lenders get of it: a tenth stays with the exchange. */
export const supplyRateOf = (reserve: Reserve) => (borrowRateOf(reserve) * utilizationOf(reserve) * 9n) / (10n * rateOne)
