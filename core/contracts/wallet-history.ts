import type { At } from './family.ts'

/**
 * What wallets held at blocks of the past, and what moved in between. Every block that is named is final: a node that has not got it is in trouble. Blocks
 * are numbers of blocks.
 */
export interface WalletHistory<A = string> {
  /** The block's hash and time. One round trip for any number of them. @throws SluiceError NETWORK for a block that no node has */
  blocks(numbers: readonly number[], at: At): Promise<readonly PastBlock[]>
  /**
   * What a wallet held at each of these blocks, in one round trip. Undefined where no node has the state of that block any more.
   * @param tokens by their contracts; the native coin is always read
   */
  holdings(wallet: A, tokens: readonly A[], blocks: readonly number[], at: At): Promise<readonly (PastHoldings | undefined)[]>
  /**
   * What the events of tokens say that moved into and out of wallets in these blocks, oldest first: by wallet, transaction and token, but for sums of
   * 0 and tokens that are not counted in units. Of the native coin only what its wrapper paid out to the wallet has an event. It asks in ranges that the
   * node takes.
   */
  transfers(wallets: readonly A[], range: BlockRange, at: At): Promise<PastTransfers<A>>
  /**
   * The transactions of these blocks that the wallet sent, and what else brought it the native coin by a field of a transaction or block: not what moved
   * inside a call. Two round trips.
   */
  coinMoves(wallet: A, blocks: readonly number[], at: At): Promise<readonly CoinMove[]>
}

export interface BlockRange {
  readonly from: number
  /** Included. */
  readonly to: number
}

export interface PastBlock {
  readonly number: number
  readonly hash: string
  /** Seconds since the Unix epoch. */
  readonly timestamp: number
}

/** Smallest units. */
export interface PastHoldings {
  /** How many transactions the wallet had sent. */
  readonly nonce: number
  readonly coinRaw: bigint
  /** In the order of the tokens. Undefined where the contract does not answer as a token. */
  readonly balances: readonly (bigint | undefined)[]
}

export interface PastTransfers<A = string> {
  readonly transfers: readonly PastTransfer<A>[]
  /** The nodes have no events of blocks before this one; absent: they have those of the whole range. */
  readonly since?: number
}

/** What one transaction moved of one token. */
export interface PastTransfer<A = string> {
  readonly wallet: A
  readonly token: A
  /** Below 0 it left the wallet. */
  readonly amountRaw: bigint
  readonly txHash: string
  readonly blockNumber: number
  readonly blockHash: string
  /** Of its first event in the block. */
  readonly logIndex: number
}

export interface CoinMove {
  readonly blockNumber: number
  /** Absent where it is of no transaction, as a withdrawal from staking. */
  readonly txHash?: string
  /** Of a transaction that the wallet sent. */
  readonly nonce?: number
  /** What the wallet paid for it; absent where the wallet did not send it, or the receipt does not tell. */
  readonly feeRaw?: bigint
  /** By its value, without the fee: above 0 it came, below it went. 0 where it failed. */
  readonly amountRaw: bigint
}
