import type { RangePrice } from './amm-range.ts'
import type { SlippageReasons } from './amm.ts'
import type { At, Head, Json, Token, Types } from './family.ts'
import type { Plan } from './rail.ts'

/** A pool whose liquidity is owned in shares, at one block. Lists are in the pool's own order of its tokens, of which it has two or more. */
export interface SharesPool {
  address: string
  version: string
  /** Addresses; the wrapped coin where the native one is traded. */
  tokens: readonly string[]
  /** The token that the shares are: the pool itself, for many exchanges. */
  shareToken: string
  shareDecimals: number
  /** All shares, with those that the next change creates for the protocol. 0 in a pool that nobody has a share of. */
  totalSharesRaw: bigint
  /** What its prices are made of. */
  reservesRaw: readonly bigint[]
  /** What the shares are shares of: the reserves, and whatever else somebody sent to it. */
  heldRaw: readonly bigint[]
  /** Marginal price of each token, in smallest units of the last token per smallest unit. Empty where the pool has no price. */
  prices: readonly RangePrice[]
}

/** What a wallet has of a pool, at the pool's block. */
export interface SharesPosition {
  pool: SharesPool
  sharesRaw: bigint
  /** What removing all of it returns, rounded down. */
  amountsRaw: readonly bigint[]
}

/** What a pool takes of the offered amounts, and what it gives for them: never more than the contracts give at that block. */
export interface SharesDeposit {
  amountsRaw: readonly bigint[]
  /** 0 where the amounts are too small. */
  sharesRaw: bigint
}

export interface SharesAddition extends SharesDeposit {
  pool: SharesPool
  /** The least that the pool must take of each token. It bounds the price. With `boundsShares`: the amounts themselves. */
  minRaw: readonly bigint[]
  /** The least that the wallet must get. With `boundsShares` it bounds the price. */
  minSharesRaw: bigint
}

export interface SharesRemoval {
  pool: SharesPool
  sharesRaw: bigint
  /** The least that the wallet must get of each token. */
  minRaw: readonly bigint[]
}

export interface SharesAllowance<A = string> {
  spender: A
  /** That the wallet has. */
  sharesRaw: bigint
}

export interface SharesTerms<A = string> {
  /** Who pays, receives and owns the shares. */
  owner: A
  /** Seconds since the Unix epoch. */
  deadline: number
  /** Whether the native coin is used instead of its wrapped form, in or out. */
  native: boolean
}

/** The actual effect of a transaction, in the pool's order of tokens. */
export interface SharesFill {
  /** Added or removed. */
  sharesRaw: bigint
  amountsRaw: readonly bigint[]
}

/** Liquidity that is owned in shares of a pool, which are a token of the wallet. */
export interface AMMShares<F extends Types = Types> extends SlippageReasons {
  /** Labels of the protocol versions that have such pools. */
  readonly sharesVersions: readonly string[]
  /**
   * Pools take exactly the amounts that they are offered, in any ratio, and the chain enforces `minSharesRaw`. Otherwise they take amounts in
   * their ratio, and it enforces `minRaw`.
   */
  readonly boundsShares?: boolean
  /**
   * Label → a contract that takes tokens of deposits and does not trade, such as a pool itself. `/evm/approve` approves it as
   * `<connector>/<label>` or by its address, and not by the connector's name alone. One of the venue's contracts.
   */
  readonly depositSpenders?: Readonly<Record<string, F['address']>>
  /** The existing pools of exactly these tokens, empty ones too, and what a wallet has of each. All at one block, in one round trip. */
  sharePositions(tokens: readonly Token[], owner: F['address'], at: At): Promise<{ head: Head; positions: readonly SharesPosition[] }>
  /**
   * The deposit of at most these amounts. `undefined` stands for an amount that follows from the others by the pool's ratio.
   * @param offer `tokens` as the caller named them, in the pool's order
   * @throws SluiceError for a token or an amount that the pool cannot take
   */
  depositFor(
    offer: { pool: SharesPool; tokens: readonly Token[]; maxRaw: readonly (bigint | undefined)[] },
    at: At,
  ): SharesDeposit | Promise<SharesDeposit>
  /** What removing these shares returns, rounded down. Pure. */
  returnFor(pool: SharesPool, sharesRaw: bigint): readonly bigint[]
  /**
   * Adds these amounts. The chain has to enforce `minRaw` or, where its contracts cannot, `minSharesRaw`; and the deadline where they
   * take one: the plan says it then.
   */
  addShares(addition: SharesAddition, terms: SharesTerms<F['address']>): Plan<F>
  /** Removes these shares in the pool's ratio. The chain has to enforce `minRaw`. */
  removeShares(removal: SharesRemoval, terms: SharesTerms<F['address']>): Plan<F>
  /**
   * Where removing takes shares by an allowance: who takes them, and how many the wallet has. Undefined for a token that is not shares of this
   * exchange's pools; absent where removing needs no allowance. Clients whose limits allow no approvals may give this one, in connectors of Sluice.
   */
  removalAllowance?(shareToken: F['address'], owner: F['address'], at: At): Promise<SharesAllowance<F['address']> | undefined>
  /** Needs only the memo, so that it works after a restart. Undefined where the receipt shows no such change. */
  sharesFill(receipt: F['receipt'], memo: Json): SharesFill | undefined
}
