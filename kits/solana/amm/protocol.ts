// What a kit makes of one kind of pool on Solana: the accounts that a pool is made of, the arithmetic of its program, and the swap.
import type { Fill, Json, Plan, Quote, SwapTerms } from '../../../core/contracts/index.ts'
import type { Pair, Pool, PoolMath, RouteTaker } from '../../pools/protocol.ts'
import type { Solana, SolanaImageData, SolanaReceipt } from '../types.ts'

/** Some accounts as they are after a slot, by address. Null where there is none. */
export type Accounts = ReadonlyMap<string, SolanaImageData | null>

/** One kind of pool. Pure. */
export interface AccountPools<State = unknown> extends PoolMath<State> {
  /** The accounts of pools that may exist between these pairs; each once. */
  places(pairs: readonly Pair[]): readonly string[]
  /**
   * The accounts beside its own that a pool is made of, by what its own holds; at most 98. Undefined where that is no pool of this kind: owner,
   * discriminator or length are others.
   */
  parts(address: string, own: SolanaImageData): readonly string[] | undefined
  /** The pool of these accounts, its own and its parts. Null where one is missing or is not what it has to be, and where it is empty. */
  decode(address: string, accounts: Accounts): Pool<State> | null
  /**
   * The plan of a swap through this pool alone, which pays at most what the terms allow.
   * @param pool as it was quoted last: by this quote, or by a later one
   */
  swap(pool: Pool<State>, quote: Quote, terms: SwapTerms): Plan<Solana>
}

/** A program that swaps in pools of some versions: one pool for each swap, as nothing carries what comes out of one to another exactly. */
export interface PoolProgram extends RouteTaker {
  /** The amounts that its swap really moved. Undefined where the receipt shows none, or where the memo is another program's. */
  fill(receipt: SolanaReceipt, memo: Json): Fill | undefined
}

export interface AccountExchange {
  readonly protocols: readonly AccountPools[]
  readonly programs: readonly PoolProgram[]
}
