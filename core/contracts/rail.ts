import type { SluiceError } from '../errors.ts'
import type { At, Head, Json, Types } from './family.ts'
import type { Basis, Wanting } from './followed.ts'

/**
 * Unsigned bytes, in a form that the signer can read and check by itself. Of `typed-data` (EIP-712) they are JSON in UTF-8 of
 * `{ domain, types, primaryType, message }`, with whole numbers as decimal strings.
 */
export interface Signable {
  scheme: 'evm-transaction' | 'solana-message' | 'typed-data'
  bytes: Uint8Array
  /** What else `seal` makes the bytes of that leave, where a hash of it is all that is signed. The signer does not get it. */
  body?: Json
}

export interface Sealed {
  /**
   * The transaction's hash, known before anything leaves; of an exchange's own rail what is as unique on the network (who signed is part of
   * it), and is written as the chain writes its hashes.
   */
  id: string
  raw: Uint8Array
}

/**
 * Why nodes did not take signed bytes, where their words are known: its slot is used (by these very bytes, it may be), or too far
 * ahead; it pays too little, or not enough more than what the node has on its slot; the wallet does not have what it may cost; the node
 * takes none for now; it is never taken as it is.
 */
export type RefusalMeaning = 'slot-used' | 'slot-ahead' | 'underpriced' | 'outbid' | 'unfunded' | 'not-now' | 'invalid'

/**
 * What the network said to signed bytes. `unclear`: nobody can know whether they were taken. `landed`: an exchange that carries out what it
 * takes at once said what came of it, for good: the bytes will have no other effect, whoever sends them again.
 */
export type Reception =
  | { is: 'accepted'; landed?: { ok: boolean; receipt: Json; reason?: string } }
  | { is: 'refused' | 'unclear'; reason: string; meaning?: RefusalMeaning }

/** What was seen of an open attempt. Where there are no blocks, `blockNumber` is -1 and `depth` 1 once it is for good. */
export type Sighting = { id: string } &
  /** `underpriced`: it pays too little for the next block, so that nodes may refuse it. */
  (
    | { is: 'unseen'; underpriced?: boolean }
    /** `next`: nothing before it is still to be mined. `kept: false`: no node keeps what waits, so the bytes are to be sent again and again. */
    | { is: 'pending'; underpriced: boolean; next?: boolean; kept?: false }
    /** `blockHash` tells a block from another of the same number; `reason`: why it failed, in its own words, where that can be told. */
    | { is: 'landed'; ok: boolean; blockNumber: number; blockHash?: string; depth: number; receipt: Json; reason?: string }
    /** Something else on its slot is final: it will never be mined. `by`: its id, where it was seen in its block. */
    | { is: 'dead'; by?: string }
    /** Its time is over, by what is final, and it is nowhere: it will never be mined. */
    | { is: 'expired' }
  )

/** Fees a caller asked for, in the smallest unit of the native coin per gas. */
export interface FeeWish {
  maxFeePerGasRaw?: bigint
  maxPriorityFeePerGasRaw?: bigint
}

/** What a transaction costs at most, and at the checked block's price. */
export interface GasTerms {
  gasLimit: bigint
  /** Base fee plus tip at the checked block, smallest units per gas. */
  gasPriceRaw: bigint
  /** How many of its digits are a fraction of the smallest unit: 6 where gas is priced in millionths of it. Absent: none. */
  gasPriceDecimals?: number
  /** gasLimit × gasPrice plus what a rollup charges on top. */
  gasCostRaw: bigint
}

/** A step that was checked and priced: all that a draft needs but the slot. */
export interface Prepared<I extends Json = Json, Fees extends Json = Json> {
  step: I
  fees: Fees
  gas: GasTerms
}

/** What an attempt on a slot would meet: the chain is past it, a transaction waits on it at the node, or nothing. */
export type Standing = 'past' | 'taken' | 'free'

/** An attempt that is looked for. */
export interface OpenAttempt<A = string, Slot extends Json = Json, Fees extends Json = Json> {
  id: string
  from: A
  step: Json
  slot: Slot
  fees: Fees
}

/** What one look saw. An attempt that the node gave no answer about has no sighting. */
export interface Look<A = string, Synced extends Json = Json> {
  sightings: readonly Sighting[]
  synced: ReadonlyMap<A, Synced>
}

/** What a step calls and sends: what a plan is judged by before anything is asked or signed. */
export interface Outline<A = string> {
  contracts: readonly A[]
  /** Smallest units of the native coin. */
  valueRaw: bigint
}

/** What a check found. */
export interface Checked<I extends Json = Json, Synced extends Json = Json, Fees extends Json = Json> {
  prepared: readonly Prepared<I, Fees>[]
  synced: Synced
  /**
   * The caller's error where the wallet cannot bear the steps beside what its transactions that were not mined at the check
   * may still take of the native coin, in smallest units.
   */
  beside(committedRaw: bigint): SluiceError | undefined
}

/** Checks by what the server keeps in memory of a wallet and moves from block to block, for steps like those that were simulated before. Pure. */
export interface Recall<I extends Json = Json, A = string, Synced extends Json = Json, Fees extends Json = Json> {
  /** The states that such steps are checked by; undefined where only the network tells. */
  basis(steps: readonly I[], needs: readonly Need<A>[], from: A): readonly Basis[] | undefined
  /**
   * What `check` would find, by the states of the basis in its order, after a block. Undefined where they do not tell, or tell that
   * something is wrong: that callers hear from the network alone. What is wanting is read for the next time.
   */
  check(
    steps: readonly I[],
    needs: readonly Need<A>[],
    from: A,
    wish: FeeWish,
    states: readonly unknown[],
    head: Head,
  ): Checked<I, Synced, Fees> | { readonly wanting: readonly Wanting[] } | undefined
}

/**
 * All that differs between families in the life of a transaction. Core carries `Slot`, `Synced` and `Fees` about, keeps them
 * in the journal and does not look inside.
 * `check`, `sync`, `send` and `look` ask the network, each in one round trip where it can be one; all else is pure.
 */
export interface Rail<I extends Json = Json, A = string, Slot extends Json = Json, Synced extends Json = Json, Fees extends Json = Json> {
  /**
   * `ordered`: slots come one after the other, so what is final on one ends all before it, and an empty one holds up those after it.
   * `independent`: each stands for itself. `increasing`: so too, but none is used twice, whatever became of it: to `claim`, the highest
   * that was ever signed on counts as held.
   */
  slots: 'ordered' | 'independent' | 'increasing'
  outline(step: I): Outline<A>
  /**
   * Checks needs, simulates and prices the steps: one batch. Throws the caller's error. With `over`, fees that were not
   * wished for are at least what the network takes as a replacement of those.
   */
  check(
    steps: readonly I[],
    needs: readonly Need<A>[],
    from: A,
    price: { wish: FeeWish; over?: Fees },
    at: At,
  ): Promise<Checked<I, Synced, Fees>>
  /** Absent where every check asks the network. */
  readonly recall?: Recall<I, A, Synced, Fees>
  /** The most that a step can take of the native coin, in smallest units: what it sends and what it may burn. */
  cost(step: I, fees: Fees): bigint
  sync(from: A, at: At): Promise<Synced>
  /** What is known after news. What goes back, or beyond what `held` explains, counts once it was said twice: nodes lag and lie. */
  merge(known: Synced, news: Synced, held?: readonly Slot[]): Synced
  /** Another word of the network is wanted before slots are claimed: the last one was not borne out yet. */
  doubtful(synced: Synced, held: readonly Slot[]): boolean
  /** The next free slots, consecutive ones, given what the chain said and what open attempts hold. */
  claim(synced: Synced, held: readonly Slot[], count: number): readonly Slot[]
  /** `count` consecutive slots from the one that a caller's nonce names. Throws the caller's error where there is no such slot. */
  slotsFrom(synced: Synced, nonce: number, count: number): readonly Slot[]
  /** The number by which a slot is known: no two that are held have the same. */
  nonceOf(slot: Slot): number
  standing(synced: Synced, slot: Slot): Standing
  /** Empty slots that keep the `waiting` ones from being mined: nothing is on them, neither held by us nor in the news. */
  gaps(known: Synced, news: Synced, held: readonly Slot[], waiting: readonly Slot[]): readonly Slot[]
  draft(what: Pick<Prepared<I, Fees>, 'step' | 'fees'>, slot: Slot): Signable
  seal(draft: Signable, signature: Uint8Array): Sealed
  /** The same bytes, any number of times. Settles with a reception whatever the network says. */
  send(sealed: Sealed, at: At): Promise<Reception>
  /** One batch for all open attempts. */
  look(open: readonly OpenAttempt<A, Slot, Fees>[], head: Head, at: At): Promise<Look<A, Synced>>
  /** Only where attempts on one slot exclude each other: such have equal slots, also as JSON. */
  replace?: {
    /** Whether the network takes these fees as a replacement of those. */
    outbids(fees: Fees, over: Fees): boolean
    /** The least a caller must offer to replace, as a sentence for an error: "maxFeePerGas 2.2 and …". */
    least(over: Fees): string
    /** The cheapest step that does nothing. */
    cancel(from: A): I
    /**
     * Fees for another attempt on the same slot: such as the network takes in place of these, and at least what it asks now.
     * Undefined where the network's fee cap leaves no room. With a wish: as wished, and what is not wished for as above; throws the
     * caller's error where they could not be paid, and does not judge whether they outbid.
     */
    bump(fees: Fees, head: Head, wish?: FeeWish): Fees | undefined
    /** Whether doing nothing in its place costs less than letting a step be mined that the chain will refuse. */
    cancelIsCheaper(step: I, fees: Fees, head: Head): boolean
  }
}

/** What must hold of a wallet before a plan is signed. `token` is an address; the native coin is its zero address. */
export type Need<A = string> =
  | { is: 'balance'; token: A; amountRaw: bigint }
  | { is: 'allowance'; token: A; spender: A; amountRaw: bigint }
  /** No more than that: where the spender could take the token besides what the plan gives it. */
  | { is: 'allowance-at-most'; token: A; spender: A; amountRaw: bigint }

/** What every acting verb returns: what is to be done, never a transaction. All of it but the needs goes into the journal. */
export interface Plan<F extends Types = Types> {
  /** Several steps take consecutive slots, claimed at once. */
  steps: readonly [F['intent'], ...F['intent'][]]
  needs: readonly Need<F['address']>[]
  /** Seconds since the Unix epoch, after which the chain refuses the steps; absent where they do not expire. */
  deadline?: number
  /** What `fill` needs to read the outcome from a receipt, also after a restart. */
  memo: Json
}

/** What is done by the exchange's own rail (`Connector.actions`) rather than by the chain's: actions that are signed, and cost no gas. */
export interface VenuePlan<A = string> {
  via: 'venue'
  /** Whose key signs: an agent's that the wallet allowed to act for it. Absent: the wallet's own. */
  signer?: A
  steps: readonly [Json, ...Json[]]
  /** Seconds since the Unix epoch, after which the exchange refuses the steps. */
  deadline?: number
  memo: Json
}

/** What is done on another chain by the venue's bridge from it: the amount that was asked for is transferred there, and nothing else. */
export interface BridgePlan {
  readonly via: 'bridge'
}
