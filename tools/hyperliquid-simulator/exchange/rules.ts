/** What a test may set otherwise. Decimals are strings, as the exchange says them. */
export interface Rules {
  /** https://hyperliquid.gitbook.io/hyperliquid-docs/trading/fees: the lowest tier. */
  fees: { cross: string; add: string; spotCross: string; spotAdd: string }
  /** Of the value of an order. */
  minNotional: string
  /** By address and minute, by https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits: 1200. */
  weightPerMinute: number
  /** By address since ever, besides one per dollar traded: 10000. */
  requestsPerAddress: number
  /** How long a withdrawal takes, and what it costs: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/bridge2 */
  withdrawalMs: number
  withdrawalFee: string
  /** https://hyperliquid.gitbook.io/hyperliquid-docs/trading/portfolio-margin */
  borrowCap: string
  minBorrowOffset: string
  /** What a wallet must have traded for that mode, and to schedule a cancel of everything. */
  volumeForPortfolioMargin: string
  volumeForScheduledCancel: string
  /** An order is found by its name only so long after it came: as has been seen of the real one. */
  orderStatusLagMs: number
  /** A websocket that was told nothing for so long is closed: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats */
  quietMs: number
  /** Listed besides the usual ones: COIN0 … of 10 dollars. */
  morePerpetuals: number
}

export const defaultRules: Rules = {
  fees: { cross: '0.00045', add: '0.00015', spotCross: '0.0007', spotAdd: '0.0004' },
  minNotional: '10',
  weightPerMinute: Infinity,
  requestsPerAddress: Infinity,
  withdrawalMs: 300_000,
  withdrawalFee: '1',
  borrowCap: '1000000',
  minBorrowOffset: '20',
  volumeForPortfolioMargin: '0',
  volumeForScheduledCancel: '0',
  orderStatusLagMs: 0,
  quietMs: 60_000,
  morePerpetuals: 0,
}
