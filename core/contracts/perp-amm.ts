import type { At, Head, Json, Token, Types } from './family.ts'
import type { Plan } from './rail.ts'

/** A number as a fraction; the denominator is more than 0. Prices are quote per one base in human units, and more than 0. */
export interface Ratio {
  numerator: bigint
  denominator: bigint
}

/** A market of a perpetual exchange, by what never changes. */
export interface PerpMarketName {
  /** What the exchange knows it by: an address, or a name. */
  id: string
  /** As people write them: ETH, USD. */
  base: string
  quote: string
  /** Of every size in base: 18 means that a raw size of 10^18 is one base. */
  baseDecimals: number
  /** Of every amount in quote. */
  quoteDecimals: number
}

/** A market at one block. */
export interface PerpMarket extends PerpMarketName {
  /** Only an `open` one takes new positions. `closed`: for good, at a settled price. */
  status: 'open' | 'paused' | 'closed'
  /** What a position may be worth at most by the account's value when it is opened. */
  maxLeverage: Ratio
  /** What the account must be worth at least, by what the position is worth, not to be liquidated. */
  maintenanceRatio: Ratio
}

export interface PerpPrices {
  /** What positions are valued at. */
  mark: Ratio
  /** What the world outside says, and its mean over the exchange's interval. */
  index: Ratio
  indexTwap: Ratio
}

/** A wallet's position in a market at one block. Amounts in quote where nothing else is said; below 0 is against the wallet. */
export interface PerpPosition {
  market: PerpMarket
  /** Of base; above 0 is LONG, below 0 SHORT, 0 none. */
  sizeRaw: bigint
  /** What was paid (below 0) or received for it, fees included: the entry price times the size. */
  openNotionalRaw: bigint
  unrealizedProfitRaw: bigint
  /** Above 0 where the wallet will receive it. */
  pendingFundingRaw: bigint
  mark: Ratio
}

/** A wallet's account at one block, in `decimals`; below 0 is against the wallet. */
export interface PerpAccount {
  decimals: number
  /** Collateral, what was earned and lost, and what funding is pending. */
  valueRaw: bigint
  /** What could be put behind a new position. */
  freeCollateralRaw: bigint
  /** What the wallet has in the exchange, before profit that is not realized. */
  collateralRaw: bigint
  /** What its positions need to be opened, and not to be liquidated. */
  initialMarginRaw: bigint
  maintenanceMarginRaw: bigint
  /** What its positions are worth together, without signs. */
  notionalRaw: bigint
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

/** What an order would do at one block, by the exchange's own reckoning. */
export interface PerpQuote {
  order: PerpOrder
  market: PerpMarket
  /** What the order's size costs (LONG) or brings (SHORT) in quote, fees included: what the bound on chain is compared with. */
  quoteRaw: bigint
  /** The part of it that is the exchange's fee. */
  feeRaw: bigint
  prices: PerpPrices
  gasUnits: bigint
  head: Head
  /** Where a wallet was named: as it stands before the order, at the same block. */
  account?: PerpAccount
  position?: PerpPosition
  /** What of the position there would be after it, by the exchange's own rounding; in proportion where this is absent. */
  after?: Pick<PerpPosition, 'sizeRaw' | 'openNotionalRaw'>
  /** By how much too little would be free of its account after the order, by the exchange's rule, in the account's decimals: it refuses it. */
  missingRaw?: bigint
}

/** A close of all that a wallet has in a market, as it would be at one block. */
export interface PerpClosing extends Omit<PerpQuote, 'order'> {
  /** The side that closes it, and the size that would be closed: less than the position's where the exchange closes a part at a time. */
  order: PerpOrder
  account: PerpAccount
  position: PerpPosition
}

export interface PerpTerms<A = string> {
  owner: A
  /** The most to pay (LONG) or the least to get (SHORT) in quote for the whole of the order's size: enforced on chain. */
  boundRaw: bigint
  /** Seconds since the Unix epoch: enforced on chain. */
  deadline: number
}

/** What a transaction really did to a position. */
export interface PerpFill {
  market: PerpMarketName
  /** Of base, without sign. */
  sizeRaw: bigint
  /** Paid or received for it, fees included, without sign. */
  quoteRaw: bigint
  feeRaw: bigint
  /** In quote: what was got for what was closed, less what was paid for it, fees included. */
  realizedProfitRaw: bigint
  /** Of a close: which part of the position it closed, above 0 and at most 1. */
  closedRatio?: Ratio
}

/** A liquidation that a wallet suffered. */
export interface PerpLiquidation {
  txHash: string
  blockNumber: number
  /** Of base, without sign. */
  sizeRaw: bigint
}

/** A token that the exchange takes as collateral, as a wallet has it there at one block. */
export interface PerpCollateral {
  token: Token
  depositedRaw: bigint
  /** What may be taken out now. */
  withdrawableRaw: bigint
  head: Head
}

/** Every reading verb asks in one round trip, at one block, but for what is `listed`: that is asked for once. */
export interface PerpAMM<F extends Types = Types> {
  /** What opening a position usually uses. */
  readonly typicalGasUnits: bigint
  /** All markets, with those that are paused or closed, and the token in which accounts are kept and paid out. From memory. */
  listed(at: At): Promise<{ markets: readonly PerpMarketName[]; settlement: Token }>
  prices(market: PerpMarketName, at: At): Promise<{ head: Head; market: PerpMarket; prices: PerpPrices }>
  /** A size of 0 where the wallet has none. */
  position(owner: F['address'], market: PerpMarketName, at: At): Promise<{ head: Head; position: PerpPosition; account: PerpAccount }>
  account(owner: F['address'], at: At): Promise<{ head: Head; account: PerpAccount }>
  /** Of the markets that the wallet is in. */
  funding(owner: F['address'], at: At): Promise<{ head: Head; funding: readonly PerpFunding[] }>
  /** @throws SluiceError PRICE_FAILED where the market cannot take it */
  quote(order: PerpOrder, owner: F['address'] | undefined, at: At): Promise<PerpQuote>
  /** Undefined where the wallet has no position there. */
  closing(owner: F['address'], market: PerpMarketName, at: At): Promise<PerpClosing | undefined>
  /** Buys or sells as quoted; what is on the other side already is reduced by it. */
  open(quote: PerpQuote, terms: PerpTerms<F['address']>): Plan<F>
  close(closing: PerpClosing, terms: PerpTerms<F['address']>): Plan<F>
  /** @throws SluiceError TOKEN_NOT_SUPPORTED where the exchange does not take the token */
  collateral(owner: F['address'], token: Token, at: At): Promise<PerpCollateral>
  /** Into the exchange, or back to the same wallet. */
  move(token: Token, amountRaw: bigint, how: 'deposit' | 'withdraw', owner: F['address']): Plan<F>
  /** From the memo alone, so that it works after a restart; undefined where the receipt shows no such thing. */
  perpFill(receipt: F['receipt'], memo: Json): PerpFill | undefined
  /** What others did to the wallet's position in a market after a block, oldest first. */
  liquidations(owner: F['address'], market: PerpMarketName, sinceBlock: number, at: At): Promise<readonly PerpLiquidation[]>
}
