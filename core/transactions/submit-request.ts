import type { Chain, Checked, FeeWish, GasTerms, Json, Plan, Reception, Signable, VenuePlan } from '../contracts/index.ts'
import type { Kind } from './entry.ts'
import type { KeyClaim } from './journal/journal.ts'
import type { RailPlace } from './lanes/lane-name.ts'
import type { ClientOrder } from './book-orders.ts'

/** A network of a chain, as transactions are made on it; or an exchange's own rail beside it, where a connector is named. */
export interface Site extends RailPlace {
  impl: Pick<Chain, 'rail' | 'heads' | 'confirmations' | 'bumpAfterSeconds' | 'address' | 'nativeCurrency' | 'balances' | 'head'>
}

/** What every request says about itself. */
export interface Origin {
  network: Site
  /** The wallet that it is for. */
  address: string
  /** The certificate. */
  caller: { commonName: string }
  requestId: string
  /** The request came with an Idempotency-Key. */
  keyed?: Keyed
  wish: FeeWish
  /** Nobody raises its fees but a caller, as if they had been wished for. */
  feesGiven?: boolean
  /** Absent: the server assigns it. */
  nonce?: number
}

/** What is kept of a request under its key. */
export interface Keyed {
  claim: KeyClaim
  /** What the request is called: the same when it is repeated with its key, also by another server; another once the key was forgotten. */
  tag: string
  /** The whole answer, with its envelope, as it is sent: made of what the verb answers. */
  answerOf(answer: object): { status: number; body: string }
  /** Told once that answer is certain to be in the journal: until then it is a promise, and what it tells of may come to nothing. */
  kept(): void
}

/** Whether the caller said what it pays. */
export const namesFees = ({ maxFeePerGasRaw, maxPriorityFeePerGasRaw }: FeeWish): boolean =>
  maxFeePerGasRaw !== undefined || maxPriorityFeePerGasRaw !== undefined

/** What a request lets its plan do. */
export interface Scope {
  /** Addresses that its steps may call. */
  contracts: readonly string[]
  /** The most of the native coin that all steps together may send, in smallest units. */
  valueRaw: bigint
}

/** A plan to be carried out. */
export interface Order extends Origin {
  plan: Plan | VenuePlan
  scope: Scope
  kind: Kind
  /** `actions`: what plans go by that are `via` the venue. */
  venue?: { connector: string; actions?: Site }
  /** Kept in the journal for the verb that shows the outcome. */
  about?: Json
  /** What it places in a book: of the kind `order` only. */
  clientOrders?: readonly ClientOrder[]
  /** The caller has the permission `admin`: passed on to the signer. */
  admin?: boolean
  /** What the check would find, where memory tells that all is well; asks nothing. */
  recall?(): Checked | undefined
  /** What is asked beside the check and must hold too: a rejection means that nothing is signed. May be called again. */
  meanwhile?(): Promise<void>
  /** What the verb answers, once hashes and nonces are known: pure, for it is journaled with the signed bytes. */
  answer(submitted: Submitted): object
}

/** An order on the rail that carries it out: `network` is that one's site. */
export interface PlacedOrder extends Omit<Order, 'plan'> {
  plan: Pick<Plan, 'steps' | 'needs' | 'deadline' | 'memo'>
  /** Whose key signs, and whose slots it takes: the wallet's own on a chain. */
  signer: string
}

export interface Submitted {
  /** One for each step, in order. */
  transactions: readonly { txHash: string; nonce: number }[]
  /** The last step's. */
  txHash: string
  nonce: number
  /** All steps together; the price is that of the checked block. */
  gas: GasTerms
  /**
   * What an exchange that answers at once said of the last step. Absent where a key keeps the answer: that was made before anything left,
   * and is the same whenever it is asked for.
   */
  landed?: LandedAtOnce
}

export type LandedAtOnce = NonNullable<Extract<Reception, { is: 'accepted' }>['landed']>

/** @returns the signature's bytes; a rejection means that nothing was signed that may leave */
export type Sign = (request: {
  chain: string
  network: string
  address: string
  signable: Signable
  admin?: boolean
}) => Promise<Uint8Array>
