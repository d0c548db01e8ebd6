import type { SlippageReasons } from './amm.ts'
import type { At, Head, Json, Token, Types } from './family.ts'
import type { UnlistedMarket } from './order-books.ts'
import type { Plan } from './rail.ts'

/** A number as a fraction; the denominator is more than 0. Prices are quote per one base in human units, and more than 0. */
export interface Ratio {
  numerator: bigint
  denominator: bigint
}

/** The constant properties of a perpetual market. */
export interface PerpMarketName {
  /** The exchange's id of it: an address or a name. */
  id: string
  /** Symbols: ETH, USD. */
  base: string
  quote: string
  /** Of every size in base: 18 means that a raw size of 10^18 is one base. */
  baseDecimals: number
  /** Of every amount in quote. */
  quoteDecimals: number
}

/** A market at one block. */
export interface PerpMarket extends PerpMarketName {
  /** Only an `open` market takes new positions. `closed` is final, at a settled price. */
  status: 'open' | 'paused' | 'closed'
  /** The maximum value of a new position, as a multiple of the account's value. */
  maxLeverage: Ratio
  /** The minimum value of the account, as a fraction of the position's value, below which it is liquidated. */
  maintenanceRatio: Ratio
}

export interface PerpPrices {
  /** The price at which positions are valued. */
  mark: Ratio
  /** The external price, and its mean over the exchange's interval. */
  index: Ratio
  indexTwap: Ratio
}

/** A wallet's position in a market at one block. Amounts are in quote unless stated; negative values are against the wallet. */
export interface PerpPosition {
  market: PerpMarket
  /** Of base; above 0 is LONG, below 0 SHORT, 0 none. */
  sizeRaw: bigint
  /** Paid (negative) or received for it, fees included: the entry price times the size. */
  openNotionalRaw: bigint
  unrealizedProfitRaw: bigint
  /** Above 0 where the wallet will receive it. */
  pendingFundingRaw: bigint
  mark: Ratio
}

/** A wallet's account at one block, in `decimals`; negative values are against the wallet. */
export interface PerpAccount {
  decimals: number
  /** Collateral, profit and loss, and pending funding. */
  valueRaw: bigint
  /** Collateral that is free for a new position; below 0 by what is missing. */
  freeCollateralRaw: bigint
  /** The wallet's collateral in the exchange: deposits and realized profit, without unrealized profit and pending funding. */
  collateralRaw: bigint
  /** The margins to open its positions, and to keep them from liquidation. */
  initialMarginRaw: bigint
  maintenanceMarginRaw: bigint
  /** The sum of the absolute values of its positions. */
  notionalRaw: bigint
}

/** What can be read of an account. Figures are absent where they need a market that does not answer. */
export type KnownPerpAccount = Pick<PerpAccount, 'decimals'> & Partial<PerpAccount>

/** An account at one block. Where a figure is absent, `unread` has the markets that it needs, with the reason. */
export interface PerpAccountAnswer {
  head: Head
  account: KnownPerpAccount
  unread?: readonly UnlistedMarket[]
}

export interface PerpFunding {
  market: PerpMarket
  /** Per `periodSeconds`; above 0 where longs pay shorts. */
  rate: Ratio
  periodSeconds: number
  index: Ratio
  mark: Ratio
  /** In quote; above 0 where the wallet will receive it. */
  pendingRaw: bigint
  /** Seconds since the Unix epoch; absent where funding flows all the time. */
  nextAt?: number
}

/** A change of a position. */
export interface PerpOrder {
  market: PerpMarketName
  side: 'LONG' | 'SHORT'
  /** Of base, more than 0. */
  sizeRaw: bigint
}

/** The effect of an order at one block, as the exchange computes it. */
export interface PerpQuote {
  order: PerpOrder
  market: PerpMarket
  /** What the order costs (LONG) or returns (SHORT) in quote, fees included. The bound on chain is compared with it. */
  quoteRaw: bigint
  /** The part of it that is the exchange's fee. */
  feeRaw: bigint
  prices: PerpPrices
  gasUnits: bigint
  head: Head
  /** Where a wallet was named: as it stands before the order, at the same block. */
  account?: PerpAccount
  position?: PerpPosition
  /** The position after the order, with the exchange's rounding; in proportion to the size where absent. */
  after?: Pick<PerpPosition, 'sizeRaw' | 'openNotionalRaw'>
  /**
   * The missing free collateral after the order by the exchange's rule, in the account's decimals. With it the exchange refuses the order.
   */
  missingRaw?: bigint
}

/** The close of a wallet's whole position in a market at one block. */
export interface PerpClosing extends Omit<PerpQuote, 'order'> {
  /** The closing side and size. The size is below the position's where the exchange closes only a part at a time. */
  order: PerpOrder
  account: PerpAccount
  position: PerpPosition
}

export interface PerpTerms<A = string> {
  owner: A
  /** The maximum to pay (LONG) or the minimum to receive (SHORT) in quote for the whole order, enforced on chain. */
  boundRaw: bigint
  /** Seconds since the Unix epoch: enforced on chain. */
  deadline: number
}

/** The actual effect of a transaction on a position. */
export interface PerpFill {
  market: PerpMarketName
  /** Of base, without sign. */
  sizeRaw: bigint
  /** Paid or received for it, fees included, without sign. */
  quoteRaw: bigint
  feeRaw: bigint
  /** In quote: received for the closed part minus paid for it, fees included. */
  realizedProfitRaw: bigint
  /** In quote: funding that it settled, above 0 where the wallet received it. Absent where the receipt does not tell it. */
  fundingRaw?: bigint
  /** The closed fraction of the position, above 0 and at most 1. */
  closedRatio?: Ratio
}

/** A liquidation of a wallet's position. */
export interface PerpLiquidation {
  txHash: string
  blockNumber: number
  /** Of base, without sign. */
  sizeRaw: bigint
  /** Absent where the exchange's events do not tell all of it. */
  effect?: PerpLiquidationEffect
}

/** What a liquidation did to the wallet's position and account, in quote. */
export interface PerpLiquidationEffect {
  /** What the exchange traded for the wallet: SHORT brings a long position nearer to 0. */
  side: 'LONG' | 'SHORT'
  /** The penalty, and what the exchange takes of every trade. */
  feeRaw: bigint
  /** Received for the closed part minus paid for it, fees included. */
  realizedProfitRaw: bigint
  /** Funding that it settled, above 0 where the wallet received it. */
  fundingRaw: bigint
}

/** A wallet's deposit of a collateral token at one block. */
export interface PerpCollateral {
  token: Token
  depositedRaw: bigint
  /** What may be withdrawn now; absent where that needs a market that does not answer. */
  withdrawableRaw?: bigint
  head: Head
}

/** Every read asks in one round trip at one block, except `listMarkets`, which is cached. */
export interface PerpAMM<F extends Types = Types> extends SlippageReasons {
  /** The gas that opening a position usually uses. */
  readonly typicalGasUnits: bigint
  /** All markets, paused and closed ones too, and the token in which accounts are kept. From memory. */
  listMarkets(at: At): Promise<{
    markets: readonly PerpMarketName[]
    settlement: Token
    /** Markets that are not among them, with the reason. */
    unlisted?: readonly UnlistedMarket[]
  }>
  prices(market: PerpMarketName, at: At): Promise<{ head: Head; market: PerpMarket; prices: PerpPrices }>
  /** A size of 0 where the wallet has none. */
  position(owner: F['address'], market: PerpMarketName, at: At): Promise<PerpAccountAnswer & { position: PerpPosition }>
  account(owner: F['address'], at: At): Promise<PerpAccountAnswer>
  /** For the markets in which the wallet has a position. */
  funding(
    owner: F['address'],
    at: At,
  ): Promise<{
    head: Head
    funding: readonly PerpFunding[]
    /** Those of them that cannot be read now, with the reason. */
    unread?: readonly UnlistedMarket[]
  }>
  /** @throws SluiceError PRICE_FAILED where the market cannot take it */
  quote(order: PerpOrder, owner: F['address'] | undefined, at: At): Promise<PerpQuote>
  /** Undefined where the wallet has no position there. */
  quoteClose(owner: F['address'], market: PerpMarketName, at: At): Promise<PerpClosing | undefined>
  /** Buys or sells as quoted; reduces a position on the other side. */
  open(quote: PerpQuote, terms: PerpTerms<F['address']>): Plan<F>
  close(closing: PerpClosing, terms: PerpTerms<F['address']>): Plan<F>
  /** @throws SluiceError TOKEN_NOT_SUPPORTED where the exchange does not take the token */
  collateral(owner: F['address'], token: Token, at: At): Promise<PerpCollateral>
  /** Moves collateral into the exchange, or back to the same wallet. */
  transferCollateral(token: Token, amountRaw: bigint, how: 'deposit' | 'withdraw', owner: F['address']): Plan<F>
  /** Needs only the memo, so that it works after a restart. Undefined where the receipt shows no such change. */
  perpFill(receipt: F['receipt'], memo: Json): PerpFill | undefined
  /** Liquidations of the wallet's position in a market after a block, oldest first. */
  liquidations(owner: F['address'], market: PerpMarketName, sinceBlock: number, at: At): Promise<readonly PerpLiquidation[]>
  /** The first block whose liquidations are found now, where those of older blocks are not. */
  liquidationsFrom?(at: At): Promise<number>
}
