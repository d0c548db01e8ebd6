import type { SluiceError } from '../base/errors.ts'
import type { At, Head, Json, Types } from './family.ts'
import type { Basis, MissingState } from './followed.ts'
import type { Permit } from './permit2.ts'

/**
 * Unsigned bytes, in a form that the signer can read and check. For `typed-data` (EIP-712) they are UTF-8 JSON of
 * `{ domain, types, primaryType, message }`, with whole numbers as decimal strings.
 */
export interface Signable {
  scheme: 'evm-transaction' | 'solana-message' | 'typed-data'
  bytes: Uint8Array
  /** What else `seal` needs to build the bytes that are sent, where only a hash of it is signed. The signer does not get it. */
  body?: Json
  /** New accounts that have to sign too, in the order of their signatures. The server's signer makes their keys, and no plugin has one. */
  signers?: readonly string[]
}

export interface Sealed {
  /**
   * The transaction's hash, known before anything is sent. On an exchange's own rail an id that is as unique on the network (it contains the
   * signer), in the form of the chain's hashes.
   */
  id: string
  raw: Uint8Array
}

/** Bytes to be sent. */
export interface Sent extends Sealed {
  /** Only to relays that keep them to themselves: never to a public node, also where no relay is there. */
  privateOnly?: true
}

/**
 * Why nodes refused signed bytes, where their message is known. `sequence-used`: perhaps by these bytes. `sequence-ahead`: too far ahead.
 * `underpriced`; `outbid`: not enough more than the transaction that the node has in its place. `unfunded`: the wallet cannot pay the maximum
 * cost. `not-now`: the node takes none at the moment. `invalid`: it will never be taken.
 */
export type RefusalMeaning = 'sequence-used' | 'sequence-ahead' | 'underpriced' | 'outbid' | 'unfunded' | 'not-now' | 'invalid'

/**
 * The network's answer to signed bytes. `unclear`: it is unknown whether they were accepted. `landed`: the final result from an exchange that
 * executes at once; the bytes have no other effect, however often they are sent. `node`: the first that has accepted them, without its secrets.
 */
export type BroadcastResult =
  | { is: 'accepted'; node?: string; landed?: { ok: boolean; receipt: Json; reason?: string } }
  | { is: 'refused' | 'unclear'; reason: string; meaning?: RefusalMeaning }

/** The `reason` where the contract gave none. */
export const revertedSilently = 'reverted without a reason'

/** An observation of an open attempt. Without blocks, `blockNumber` is -1, and `depth` is 1 once the result is final. */
export type AttemptStatus = { id: string } &
  /** `underpriced`: it pays too little for the next block, so nodes may refuse it. `next`: nothing before it is to be mined. */
  (
    | { is: 'unseen'; underpriced?: boolean; next?: boolean }
    /** `kept: false`: nodes keep no pending transactions, so the bytes must be sent repeatedly. */
    | { is: 'pending'; underpriced: boolean; next?: boolean; kept?: false }
    /** `blockHash` distinguishes blocks of the same number; `reason`: why it failed, in the chain's words, where known. */
    | { is: 'landed'; ok: boolean; blockNumber: number; blockHash?: string; depth: number; receipt: Json; reason?: string }
    /** Another transaction with its sequence is final: it will never be mined. `by`: the other's id, where known. */
    | { is: 'dead'; by?: string }
    /** It has expired by the final state and was not mined: it will never be mined. */
    | { is: 'expired' }
  )

/** Fees that a caller requested, in the smallest unit of the native coin per gas. */
export interface FeeOverrides {
  maxFeePerGasRaw?: bigint
  maxPriorityFeePerGasRaw?: bigint
}

/** The maximum cost of a transaction, and its cost at the checked block's price. */
export interface GasTerms {
  gasLimit: bigint
  /** Base fee plus tip at the checked block, smallest units per gas. */
  gasPriceRaw: bigint
  /** How many of its digits are a fraction of the smallest unit: 6 where gas is priced in millionths of it. Absent: none. */
  gasPriceDecimals?: number
  /** gasLimit × gasPrice plus what a rollup charges on top. */
  gasCostRaw: bigint
  /** The part of it that a private relay gets, where that wants a transfer of the transaction itself. */
  tipRaw?: bigint
  /** What new accounts keep of the native coin, beside `gasCostRaw`. Absent on chains whose accounts keep nothing. */
  rentRaw?: bigint
}

/** What a mined transaction cost its wallet, smallest units of the native coin. */
export interface PaidFees {
  /** All of it, with what a rollup charges for layer 1, and what a private relay got. */
  feeRaw: bigint
  /** Units of gas; absent where the chain has no gas. */
  gasUsed?: bigint
  /** The part of a rollup's layer 1; absent where there is none. */
  layer1FeeRaw?: bigint
}

/** A checked and priced step: everything that a draft needs but its sequence. */
export interface Prepared<I extends Json = Json, Fees extends Json = Json> {
  step: I
  fees: Fees
  gas: GasTerms
}

/** The status of a sequence: the chain is past it, the node has a pending transaction with it, or it is free. */
export type SequenceStatus = 'past' | 'taken' | 'free'

/** An attempt that is polled. */
export interface OpenAttempt<A = string, Sequence extends Json = Json, Fees extends Json = Json> {
  id: string
  from: A
  step: Json
  sequence: Sequence
  fees: Fees
  /** Its block by the polls before, with the receipt, and why it failed if that is known. */
  landed?: {
    readonly ok: boolean
    readonly blockNumber: number
    readonly blockHash?: string
    readonly receipt: Json
    readonly reason?: string
  }
}

/** The result of one poll. An attempt that the node did not answer about has no observation. */
export interface PollResult<A = string, Synced extends Json = Json> {
  statuses: readonly AttemptStatus[]
  synced: ReadonlyMap<A, Synced>
}

/** What a step calls and sends: the plan is checked by it before anything is asked or signed. */
export interface Outline<A = string> {
  contracts: readonly A[]
  /** Smallest units of the native coin. */
  valueRaw: bigint
  /** What accounts that it makes keep of the coin: limits count it with the fees. Absent: it makes none that keep any. */
  rentRaw?: bigint
}

/** The result of a check. */
export interface Checked<I extends Json = Json, Synced extends Json = Json, Fees extends Json = Json> {
  prepared: readonly Prepared<I, Fees>[]
  synced: Synced
  /**
   * The caller's error where the wallet cannot pay for the steps on top of `committedRaw`: what its transactions that were pending at the check
   * may still take of the native coin, in smallest units.
   */
  checkFunds(committedRaw: bigint): SluiceError | undefined
  /**
   * What the wallet lacks and has to give by a signature: the steps are checked with it. Only where the check was told how steps take it.
   */
  permits?: readonly Permit[]
  /** The block that it was checked at. Where it is known, what is not mined in time is cancelled by the time of blocks, else by the time that passes here. */
  head?: Pick<Head, 'number' | 'timestamp'>
}

/** How a step takes a permit. */
export interface TakesPermit<I extends Json = Json> {
  /**
   * The step with a signed permit in it. Pure.
   * @param signature in hexadecimal: r, s and v, 65 bytes
   */
  withPermit?(step: I, permit: Permit, signature: string): I
}

/** Checks from memory, which the server updates with each block, for steps like those that were simulated before. Pure. */
export interface CachedChecks<I extends Json = Json, A = string, Synced extends Json = Json, Fees extends Json = Json> {
  /** The states that such a check depends on; undefined where only the network can check the steps. */
  basis(steps: readonly I[], needs: readonly Need<A>[], from: A): readonly Basis[] | undefined
  /**
   * The result of `check` by the states of the basis in its order, after a block. Undefined where they are not sufficient, or show an error:
   * callers get errors from the network only. What is missing is read for the next time.
   */
  check(
    steps: readonly I[],
    needs: readonly Need<A>[],
    from: A,
    feeOverrides: FeeOverrides,
    states: readonly unknown[],
    head: Head,
  ): Checked<I, Synced, Fees> | { readonly missing: readonly MissingState[] } | undefined
}

/**
 * What differs between chain families in the life of a transaction. Core passes `Sequence`, `Synced` and `Fees` on and journals them without
 * reading them. `check`, `sync`, `send` and `poll` ask the network, in one round trip where possible; all other methods are pure.
 */
export interface Rail<
  I extends Json = Json,
  A = string,
  Sequence extends Json = Json,
  Synced extends Json = Json,
  Fees extends Json = Json,
> {
  /**
   * What orders or excludes transactions: a nonce, or a blockhash. `ordered`: a final transaction ends all with lower sequences, and one that is
   * not used blocks those above it. `independent`: they do not affect one another. `increasing`: likewise, but none is used twice: for `claim`, the
   * highest that was ever signed counts as held.
   */
  sequences: 'ordered' | 'independent' | 'increasing'
  outline(step: I): Outline<A>
  /**
   * Checks needs, simulates and prices the steps in one batch. Throws the caller's error. With `over`, fees that the caller did not set are at
   * least the network's minimum for a replacement of those. With `withPermit`, an allowance by Permit2 that the wallet lacks is no error: the
   * step is checked as if the wallet had given it, and `permits` of the result says what is to be signed. With `privateOnly`, the fees have what
   * private relays want beside.
   */
  check(
    steps: readonly I[],
    needs: readonly Need<A>[],
    from: A,
    price: { feeOverrides: FeeOverrides; over?: Fees; privateOnly?: true } & TakesPermit<I>,
    at: At,
  ): Promise<Checked<I, Synced, Fees>>
  /** Absent where every check must ask the network. */
  readonly cachedChecks?: CachedChecks<I, A, Synced, Fees>
  /** The maximum that a step can take of the native coin, in smallest units: its value and its fees. */
  cost(step: I, fees: Fees): bigint
  /** The part of it that is fees. Absent where there are none, or no maximum of them. */
  maxFee?(fees: Fees): bigint
  /**
   * What a mined transaction cost, by its receipt. Undefined where the receipt does not say all of it: then limits count the most that it could cost,
   * and callers are told nothing. Absent: no receipt says it.
   */
  paidFees?(receipt: Json): PaidFees | undefined
  sync(from: A, at: At): Promise<Synced>
  /**
   * The same of every node, for what one alone must not decide. Throws where nodes that are up to date cannot be asked: two of them, where there are
   * several. Absent: `sync` stands for all.
   */
  syncAll?(from: A, at: At): Promise<readonly Synced[]>
  /**
   * Merges an update into what is known. A value that goes back, or beyond what `held` explains, counts after two observations: nodes lag
   * and err.
   */
  merge(known: Synced, update: Synced, held?: readonly Sequence[]): Synced
  /** Whether the network must be asked again before sequences are claimed, because its last answer is not confirmed yet. */
  needsSync(synced: Synced, held: readonly Sequence[]): boolean
  /** The next free consecutive sequences, given the chain's state and those of open attempts. */
  claim(synced: Synced, held: readonly Sequence[], count: number): readonly Sequence[]
  /** `count` consecutive sequences from a caller's nonce. Throws the caller's error where the nonce is not usable. */
  sequencesFrom(synced: Synced, nonce: number, count: number): readonly Sequence[]
  /** The number of a sequence; unique among those that are held. */
  nonceOf(sequence: Sequence): number
  sequenceStatus(synced: Synced, sequence: Sequence): SequenceStatus
  /** Unused sequences that block the `waiting` ones: not held by this server, and not used by the last observation. */
  gaps(known: Synced, update: Synced, held: readonly Sequence[], waiting: readonly Sequence[]): readonly Sequence[]
  draft(what: Pick<Prepared<I, Fees>, 'step' | 'fees'>, sequence: Sequence): Signable
  /** @param further the signatures of `signers` of the draft, in their order */
  seal(draft: Signable, signature: Uint8Array, further?: readonly Uint8Array[]): Sealed
  /** Whether `send` heeds `privateOnly`, and has relays to send to. */
  readonly sendsPrivately?: boolean
  /**
   * The maximum gas of a transaction that moves or approves one token, wraps the coin or moves nothing: what such a contract may burn. Absent: no
   * limit of its own.
   */
  readonly transferGas?: bigint
  /** Sends the bytes; may be repeated. Never rejects: every answer of the network is a result. */
  send(sealed: Sent, at: At): Promise<BroadcastResult>
  /** Polls all open attempts in one batch. */
  poll(open: readonly OpenAttempt<A, Sequence, Fees>[], head: Head, at: At): Promise<PollResult<A, Synced>>
  /** Present where `check` knows `withPermit`. */
  readonly permits?: {
    /** The signature as the contract takes it, in hexadecimal. @throws Error unless it is the owner's, of this permit */
    seal(permit: Permit, signature: Uint8Array, owner: A): string
    /** The nonces that the contract has now, one for each permit: one that is above the permit's says that it can no longer be used. */
    nonces(owner: A, permits: readonly Pick<Permit, 'permit2' | 'token' | 'spender'>[], at: At): Promise<readonly number[]>
  }
  /** Present where attempts with one sequence exclude each other. Equal sequences are equal as JSON. */
  replace?: {
    /** Whether the network accepts a replacement with these fees for a transaction with those. */
    outbids(fees: Fees, over: Fees): boolean
    /** The minimum fees of a replacement, as words for an error: "maxFeePerGas 2.2 and …". */
    minimumReplacement(over: Fees): string
    /** The cheapest step without effect. */
    cancel(from: A): I
    /**
     * Likewise without effect, for what relays left out: some take the form of `cancel` for the request to withdraw what they have in its place, and
     * have neither mined. Absent where none does.
     */
    cancelAgain?(from: A): I
    /**
     * Fees for another attempt with the same sequence: enough to replace these, and at least what the network asks now. Undefined where the network's
     * fee cap does not allow it. With `overrides`: the requested fees, and the others as above; throws the caller's error where they are not
     * payable, and does not check whether they outbid.
     */
    bump(fees: Fees, head: Head, overrides?: FeeOverrides): Fees | undefined
    /**
     * Of an exchange's own rail: whether a step without effect ends this one, whose deadline is past. Absent: no. On a chain such a step is always sent.
     * @deprecated of chains, which need not have it
     */
    cancelIsCheaper?(step: I, fees: Fees, head: Head): boolean
  }
}

/** A condition on a wallet before a plan is signed. `token` is an address; the zero address is the native coin. */
export type Need<A = string> =
  | { is: 'balance'; token: A; amountRaw: bigint }
  /** With `permit2`: by that contract, which needs an allowance of the token itself, and one for the spender that is valid `until` then, seconds. */
  | { is: 'allowance'; token: A; spender: A; amountRaw: bigint; permit2?: A; until?: number }
  /** At most this allowance, where the spender could otherwise take more than the plan gives it. */
  | { is: 'allowance-at-most'; token: A; spender: A; amountRaw: bigint }

/** What every acting method returns: steps to be done, never a transaction. Everything but the needs is journaled. */
export interface Plan<F extends Types = Types> {
  /** Several steps take consecutive sequences, claimed at once. */
  steps: readonly [F['intent'], ...F['intent'][]]
  needs: readonly Need<F['address']>[]
  /** Seconds since the Unix epoch, after which the chain refuses the steps; absent where they do not expire. */
  deadline?: number
  /** What `fill` needs to read the result from a receipt, also after a restart. */
  memo: Json
}

/** A plan for the exchange's own rail (`Connector.actions`) instead of the chain's: signed actions, which cost no gas. */
export interface VenuePlan<A = string> {
  via: 'venue'
  /** The signer: an agent that the wallet allowed to act for it. By default the wallet itself. */
  signer?: A
  steps: readonly [Json, ...Json[]]
  /** Seconds since the Unix epoch, after which the exchange refuses the steps. */
  deadline?: number
  /** Of a plan that moves funds: what the exchange keeps of them, a decimal in the moved token. It counts as a loss. Absent: nothing. */
  fee?: string
  memo: Json
}

/** A deposit over the venue's bridge from another chain: only the requested amount is transferred there. */
export interface BridgePlan {
  readonly via: 'bridge'
}
