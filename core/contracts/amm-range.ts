import type { SlippageReasons } from './amm.ts'
import type { At, Head, Json, Token, Types } from './family.ts'
import type { Plan } from './rail.ts'

/** Smallest units of the pool's token1 per smallest unit of its token0, exact. Both are more than 0. */
export interface RangePrice {
  numerator: bigint
  denominator: bigint
}

/** A pool of concentrated liquidity at one block, its tokens in its own order. */
export interface RangePool {
  /** Or what identifies it, where one contract keeps all pools. */
  address: string
  version: string
  /** Addresses; the wrapped coin where the native one is traded, or the native coin's own where the pool has the coin itself. */
  token0: string
  token1: string
  /** Hundredths of a basis point of the input: 3000 is 0.3 %. */
  fee: number
  /** Where bounds of ranges are ticks. */
  tickSpacing?: number
  tick?: number
  /** Where the exchange has its price as one. `price` says the same. */
  sqrtPriceX96?: bigint
  /** In range at this price. */
  liquidity: bigint
  price: RangePrice
}

/** Bounds that a position in a pool may have, lower below upper. */
export interface PriceRange {
  /** Where bounds of ranges are ticks: multiples of the pool's tick spacing. */
  tickLower?: number
  tickUpper?: number
  lowerPrice: RangePrice
  upperPrice: RangePrice
}

export interface RangeAmounts {
  amount0Raw: bigint
  amount1Raw: bigint
}

/** A deposit at the pool's price: at most the offered amounts, rounded as by the contracts. */
export interface Deposit extends RangeAmounts {
  liquidity: bigint
  /**
   * The most that it takes while the price stays within the slippage, never more than was offered. Offered in their place, these make the same deposit.
   * Absent: no more than at the pool's price.
   */
  most?: RangeAmounts
  /**
   * At either end of the prices within the slippage: what it takes where it is mined at that price, and what the liquidity that this makes holds at the pool's
   * price of now. Who moves the price for one block takes the difference. Absent: as at the pool's price.
   */
  ends?: readonly { readonly takes: RangeAmounts; readonly holds: RangeAmounts }[]
}

/** A position at one block. */
export interface RangePosition extends PriceRange {
  /**
   * As the exchange spells it, always the same way: the number of a token (EIP-721) in decimal digits, or an address where each position has an
   * account of its own.
   */
  tokenId: string
  owner: string
  pool: RangePool
  liquidity: bigint
  inRange: boolean
  /** The amounts from removing all of it at the pool's price, rounded down. */
  amounts: RangeAmounts
  /** Earned fees that are not collected at this block: what a static call of `collect` returns. */
  unclaimed: RangeAmounts
}

export interface PositionAtBlock {
  head: Head
  /** Absent: at this block there is none. */
  position?: RangePosition
}

export interface PositionId {
  tokenId: string
  version?: string
}

/** What one node says of a position at one block. */
export interface PositionWitness {
  number: bigint
  exists: boolean
}

/** Positions that are read together. */
export interface PositionIds {
  tokenIds: readonly string[]
  version?: string
}

/** Those of them that exist. */
export interface PositionsAtBlock {
  head: Head
  positions: readonly RangePosition[]
  /** Those that cannot be read as such: `reason` continues "it is not shown: ". */
  unread?: readonly { tokenId?: string; version: string; reason: string }[]
}

/** How far the price may move against the caller between quote and block, as a fraction. */
export interface SlippageFraction {
  numerator: bigint
  denominator: bigint
}

export interface RangeTerms<A = string> {
  /** The position's owner, who pays and receives. */
  owner: A
  /** Determines the minimum amounts, which are enforced on chain. */
  slippage: SlippageFraction
  /** Seconds since the Unix epoch: enforced on chain. */
  deadline: number
  /** Whether the native coin is used instead of its wrapped form, in or out. */
  native: boolean
  /** The pool's tokens that are on the network's list now: some may be on it since the connector was made. */
  listed?: readonly A[]
  /** For a new position, as many as `AMMRange.newAccounts` says: the server's signer has their keys, and signs a step that names them. */
  newAccounts?: readonly A[]
}

/** The actual effect of a transaction on a position, in the pool's order of tokens. */
export interface RangeFill extends RangeAmounts {
  tokenId: string
  /** Added or removed; 0 where fees were collected only. */
  liquidity: bigint
  /** Of what was removed or collected, the part that is fees. Absent where the receipt does not tell it. */
  fees?: RangeAmounts
}

/** Prices of a pool in the past, from its own oracle. */
export type RangeHistory =
  /** Mean price of each span between two given times: one less than there were times, in the same order. */
  | { is: 'prices'; head: Head; prices: readonly RangePrice[] }
  /** The oracle's history is shorter than requested. */
  | { is: 'beyond'; head: Head; holdsSeconds: number }

/** Which of a wallet's positions are listed. */
export interface PositionsQuery<A = string> {
  owner: A
  /** Of this version; absent: of all. */
  version?: string
  /** Ids that may be the wallet's, by the journal of this server: a protocol may have no list of them. */
  known?: readonly string[]
}

export interface RangePositions {
  head: Head
  positions: readonly RangePosition[]
  /** Positions that cannot be read as such: `reason` continues "it is not shown: ". Without `tokenId`: all of that version. */
  unread?: readonly { tokenId?: string; version: string; reason: string }[]
  /** Where a protocol has no list of a wallet's positions: the first block that was searched for them. */
  searchedFromBlock?: number
  /** Why nothing could be searched, in the words of an error. */
  notSearched?: string
  /** How many positions the wallet has beside these: older than the search, and not known. */
  missing?: number
}

export interface AMMRange<F extends Types = Types> extends SlippageReasons {
  /** Labels of the protocol versions that have positions. Requests without a version mean the first one. */
  readonly rangeVersions: readonly string[]
  /** The exchange's names of fee tiers, if any: `LOWEST` → 100. */
  readonly feeTiers: Readonly<Record<string, number>>
  /** The contract that takes the tokens of a deposit: the spender of allowances. */
  readonly positionManager: F['address']
  /** The same by version, where versions have contracts of their own. */
  readonly positionManagers?: Readonly<Record<string, F['address']>>
  /** How many new accounts have to sign what makes a position, as where it is an account of its own. Absent: none. */
  readonly newAccounts?: number
  /** The pools of two tokens, deepest first, of one fee where it is given; initialised ones only. All at one block. */
  rangePools(
    pair: readonly [Token, Token],
    choice: { fee?: number; version?: string },
    at: At,
  ): Promise<{ head: Head; pools: readonly RangePool[] }>
  /** The tokens of a pool, in its order; undefined where what identifies it does not say. Absent: it is an address, which `AMM.poolTokens` asks. */
  poolTokens?(pool: string, at: At): Promise<readonly string[] | undefined>
  /** The narrowest range around two prices, lower below upper; undefined where the pool can have none. Pure. */
  rangeAround(pool: RangePool, lower: RangePrice, upper: RangePrice): PriceRange | undefined
  /** The largest deposit of at most these amounts, which `add` makes with this slippage. Pure. */
  deposit(pool: RangePool, range: PriceRange, most: RangeAmounts, slippage?: SlippageFraction): Deposit
  /** Adds to the given position, or creates a new one. `position` is that of `tokenId`. */
  add(
    what: { pool: RangePool; range: PriceRange; most: RangeAmounts; tokenId?: string; position?: RangePosition },
    terms: RangeTerms<F['address']>,
  ): Plan<F>
  /**
   * Without `position` where it does not exist, or no longer exists: once that has been so for as many blocks as make a transaction final, and
   * `positionWitnesses` proves it, callers are told that it is gone. `tokenId` may be any text: one that is no id of the exchange is undefined, as is what is not known at a block.
   */
  position(tokenId: string, at: At): Promise<PositionAtBlock | undefined>
  /** In the place of `position` where there are several versions, whose ids overlap. */
  positionOf?(of: { tokenId: string; version?: string }, at: At): Promise<PositionAtBlock | undefined>
  /**
   * What each node that answers says by itself of whether a position is there: at this block, or at its own newest one. Callers are told that a
   * position is gone only once two nodes say so, or one of a final block; never where this is absent.
   */
  positionWitnesses?(of: PositionId, block: bigint | undefined, at: At): Promise<readonly PositionWitness[]>
  /**
   * Several positions at one block, in one round trip where that holds them: one that does not exist is in neither list. Where it is there, positions that
   * are asked for again and again are read together once for each block.
   */
  positionsById?(of: PositionIds, at: At): Promise<PositionsAtBlock>
  /** In the place of `positions`, likewise, or where a protocol has no list of them. */
  positionsOf?(query: PositionsQuery<F['address']>, at: At): Promise<RangePositions>
  /** All of a wallet's. */
  positions(owner: F['address'], at: At): Promise<{ head: Head; positions: readonly RangePosition[] }>
  /** Removes this liquidity and collects all fees in one transaction. `burn`: also burns the position once it is empty. */
  remove(position: RangePosition, what: { liquidity: bigint; burn: boolean }, terms: RangeTerms<F['address']>): Plan<F>
  /** Collects the fees that it earned. */
  collect(position: RangePosition, terms: RangeTerms<F['address']>): Plan<F>
  /** One round trip. `secondsAgo` falls, and ends at 0. */
  history(pool: RangePool, secondsAgo: readonly number[], at: At): Promise<RangeHistory>
  /** Needs only the memo, so that it works after a restart. Undefined where the receipt shows no such change. */
  rangeFill(receipt: F['receipt'], memo: Json): RangeFill | undefined
  /**
   * What was owed to the position before that transaction, and was liquidity: others may have removed it and left it with the exchange, and a collect pays it
   * out with the fees. `fees` of `rangeFill` are without it. Undefined where the chain does not tell it. Absent: what is removed is always paid at once.
   */
  owedLiquidity?(receipt: F['receipt'], memo: Json, at: At): Promise<RangeAmounts | undefined>
}
