import { toUnits, most, rateOne } from '../amounts.ts'
import type { Listing, Token } from '../listing.ts'

/** What is lent of one token, in its smallest unit. */
export interface Reserve {
  readonly token: Token
  /** Parts of its worth that may be borrowed against it, of 100. */
  readonly ltvPercent: bigint
  readonly isBorrowable: boolean
  /** The most that one wallet may lend of it, and have counted as collateral. */
  readonly supplyCap: bigint
  /** What is there to be borrowed, or taken back. */
  balance: bigint
  supplied: bigint
  borrowed: bigint
  /** What the exchange keeps of the interest. */
  buffer: bigint
}

/** As in the first phase: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/portfolio-margin */
const terms = [
  { name: 'USDC', ltvPercent: 0n, isBorrowable: true, cap: '5000000' },
  { name: 'HYPE', ltvPercent: 50n, isBorrowable: false, cap: '50000' },
  { name: 'UBTC', ltvPercent: 50n, isBorrowable: false, cap: '20' },
] as const

export const createReserves = ({ tokens }: Listing): ReadonlyMap<number, Reserve> =>
  new Map(
    terms.map(({ name, ltvPercent, isBorrowable, cap }) => {
      const token = tokens.find((each) => each.name === name)!
      return [
        token.index,
        {
          token,
          ltvPercent,
          isBorrowable,
          supplyCap: toUnits(cap, token.weiDecimals),
          balance: 0n,
          supplied: 0n,
          borrowed: 0n,
          buffer: 0n,
        },
      ]
    }),
  )

/** All in 10^-12. */
export const utilizationOf = ({ supplied, borrowed }: Reserve) => (supplied === 0n ? 0n : (borrowed * rateOne) / supplied)

/** Per year: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/portfolio-margin, "LTV and borrowing" */
export const borrowRateOf = (reserve: Reserve) =>
  reserve.isBorrowable ? (5n * rateOne) / 100n + (475n * most(0n, utilizationOf(reserve) - (8n * rateOne) / 10n)) / 100n : 0n

/** What lenders get of it: a tenth stays with the exchange. */
export const supplyRateOf = (reserve: Reserve) => (borrowRateOf(reserve) * utilizationOf(reserve) * 9n) / (10n * rateOne)
