// A transaction in the journal: what it is, and how it changes. How it stands in the rows of the store: journal/entry-rows.ts.
import type { transactionKinds } from '../api/transactions.ts'
import { isObject } from '../base/json.ts'
import type { Json, RefusalMeaning, Transaction } from '../contracts/index.ts'
import type { Cost } from './costs.ts'
import type { RequestWords } from './entry-terms.ts'
import type { PlacedOrder } from './order-fills.ts'

/**
 * QUEUED → SIGNED → BROADCAST → MINED → CONFIRMED, or one of the other final states. A reorganisation moves MINED back to BROADCAST; a final
 * state never changes.
 */
export type TransactionState = 'QUEUED' | 'SIGNED' | 'BROADCAST' | 'MINED' | FinalState
type FinalState = 'CONFIRMED' | 'REVERTED' | 'REPLACED' | 'CANCELLED' | 'DROPPED' | 'OVERTAKEN' | 'EXPIRED'

export type Kind = (typeof transactionKinds)[number]

/** `about` of an approval that removing shares needs: it reduces, and gives a right all the same. */
export const aboutRemoval = { is: 'removal' } as const
export const isAboutRemoval = (about: Json): boolean => isObject(about) && about['is'] === aboutRemoval.is

/** One transaction in the journal: the request, and what became of it. Each step of a plan has its own entry. */
export interface Entry {
  /** Sorts by age. */
  readonly key: string
  /** Rises by one with every write. A write of an old version is refused. */
  readonly version: number

  readonly chain: string
  readonly network: string
  readonly address: string
  readonly kind: Kind
  /** It takes back what is at stake: a close, a removal and the approval that it needs, a repayment, a revocation. It goes through where only that may. */
  readonly reduces?: true
  readonly connector?: string
  /** The version of the connector's plugin that planned it, where it is of a third party: the beginning of its hash. */
  readonly plugin?: string
  /** Only on a connector's own rail: whose key signs. */
  readonly signer?: string
  /** The caller's id: the key of its entry in `conf/clients.yml`. */
  readonly client: string
  /** Of a fill or cancel that the server makes by itself: the client that caused it. Its fees count for that client, and are never refused. */
  readonly paidBy?: string
  readonly requestId: string
  readonly idempotencyKey?: string
  /** The request in its own words. Absent: the server does it by itself, or an earlier version made it. */
  readonly request?: RequestWords
  /** What its answer said that it does, without gas, nonces and hashes: see `plannedOf`. Of a plan with several steps the last one has it. */
  readonly planned?: Json
  /** Of a trade: what it was quoted by. */
  readonly quote?: Json
  /** What the whole plan would do to its wallet by its simulation before it was signed, as `movements`. Of a plan with several steps the last one has it. */
  readonly simulated?: Readonly<Record<string, string>>
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number

  /** The step's index in the plan, from 0, and the number of steps. */
  readonly part: { readonly index: number; readonly of: number }
  /** What was signed. On a chain's rail it is null once the entry is final and was not reverted, or is archived: the chain has it. */
  readonly step: Json
  /** The plan's memo: `fill` reads the outcome with it. */
  readonly memo: Json
  /** The handler's own data, to show the outcome in the caller's terms. */
  readonly about: Json
  /**
   * What the whole plan may do to the wallet, by token address: it gains so much at least, smallest units; below 0 it loses so much at most. It loses
   * nothing of other tokens. Absent where nobody has to hold it against the receipt: of built-in connectors, of core's own steps, and once
   * it is final.
   */
  readonly bounds?: Readonly<Record<string, string>>
  /** Seconds since the Unix epoch. */
  readonly deadline?: number
  /** The newest block when it was checked, before it was signed. Absent where the chain has none, and of entries of earlier versions. */
  readonly after?: number
  /** By the clock of the chain, in seconds since the Unix epoch: then it is cancelled where it is not mined. Absent where `deadline` ends it, or nothing does. */
  readonly ends?: number

  /** What orders or excludes attempts: a nonce, or a blockhash. Only the rail reads it. */
  readonly sequence: Json
  readonly nonce: number
  /** The caller chose the nonce: gaps below it are the caller's to fill. */
  readonly sequenceGiven: boolean
  /** The caller set the fees: the server does not raise them. */
  readonly feesGiven: boolean
  /** Its bytes go to relays, and to no public node: those of each attempt, and of what replaces it. */
  readonly privateOnly?: true
  /** The rights over tokens that the wallet gives by signatures within its calldata. */
  readonly permits?: readonly JournaledPermit[]
  /** New accounts that sign beside the wallet, by address: the id from which, with the wallet's key, the signer makes the key of each. */
  readonly newAccounts?: Readonly<Record<string, string>>
  /** How many of our transactions had the same sequence before. The later one replaces the earlier one. */
  readonly rank: number

  readonly state: TransactionState
  /** All with one sequence, so that at most one is ever mined. */
  readonly attempts: readonly Attempt[]
  /**
   * The last observation of the mempool: pending and pays enough, pending and pays too little, or no longer there. Absent: never seen
   * there.
   */
  readonly seen?: 'pays' | 'underpriced' | 'lost'
  readonly landed?: BlockOfAttempt
  /** What it brought, where only a plugin of a third party can read it from receipt and memo: read when it became final. */
  readonly outcome?: Json
  /**
   * What it moved into (above 0) and out of its wallet, by token address (or `address/id`), smallest units, without fees: read when it became final.
   * null: it may have moved the native coin, and nobody could tell how much. Absent: nothing tells it, or an earlier version made it final.
   */
  readonly movements?: Readonly<Record<string, string | null>>
  /** Hash of the transaction that is to replace it, or did. */
  readonly replacedBy?: string
  /** How many polls in a row found it dead. */
  readonly deadLooks: number
  /** The newest block at the first of those polls. */
  readonly deadSince?: number
  /** Why it failed, or the last error of a node. */
  readonly reason?: string
  /** The orders in books that it placed, where it is listed: they stand in rows of their own, and are filled after it is final. */
  readonly orders?: readonly PlacedOrder[]
  /** It left the journal: this is its outcome. Calls, memo, signed bytes and receipt are empty here; the archive's file has them. An outcome that was journaled stays. */
  readonly archived?: true
}

/**
 * `outstanding` from before it is signed: whoever sees the signature may use it, also where the transaction is never mined. `used`: the contract's
 * nonce is past it. `expired`: by the time of a block. Both once that is final; then it never changes again.
 */
export type PermitState = (typeof permitStates)[number]
export const permitStates = ['outstanding', 'used', 'expired'] as const

/** A right by a signature: see `Permit`. */
export interface JournaledPermit {
  readonly permit2: string
  readonly token: string
  /** Of the token, to show the amount. */
  readonly decimals: number
  readonly spender: string
  readonly amountRaw: string
  /** Seconds since the Unix epoch. */
  readonly expires: number
  readonly nonce: number
  readonly state: PermitState
  /** The block at which it was first seen used or expired. */
  readonly since?: number
}

/** Whether somebody may still use a right that it gave. */
export const hasOutstanding = ({ permits = [] }: Pick<Entry, 'permits'>): boolean => permits.some(({ state }) => state === 'outstanding')

/** Signed bytes. They are sent only after they are in the journal. */
export interface Attempt {
  /** The transaction's hash. */
  readonly id: string
  /** Empty once the entry is final: then nobody sends them again. */
  readonly raw: Uint8Array
  readonly fees: Json
  /** Milliseconds since the Unix epoch. */
  readonly signedAt: number
  /** The last broadcast; absent before the first. */
  readonly sentAt?: number
  /** The number of broadcasts. */
  readonly sends: number
  /** The node that was the first to accept it when it was sent last; absent where none did, or where that is not known. */
  readonly node?: string
  /** Those since it was lost; absent if it never was. */
  readonly sendsSinceLost?: number
  /** Why all nodes refused it the last time; absent if one accepted it, or if that is unknown. */
  readonly refused?: RefusalMeaning
}

/** The block of an attempt. */
interface BlockOfAttempt {
  /** The attempt's id. */
  readonly id: string
  readonly ok: boolean
  readonly blockNumber: number
  readonly blockHash?: string
  readonly receipt: Json
  /** Of a block that came later than two after its check: the time of the newest block when it was first seen there, seconds since the Unix epoch. */
  readonly seenAt?: number
  /** Absent where the receipt does not say all of it, as that of an exchange's own rail. */
  readonly cost?: Cost
}

/** An earlier version signed it above a free nonce, at its caller's wish: a fill of that would have it mined. */
export const mayBeHeldBack = ({ sequenceGiven, after }: Pick<Entry, 'sequenceGiven' | 'after'>): boolean =>
  sequenceGiven && after === undefined

/** The client whose limits and whose book have its fees. */
export const payerOf = ({ client, paidBy = client }: Pick<Entry, 'client' | 'paidBy'>): string => paidBy

/** Final without any effect on the chain. */
const withoutEffect: ReadonlySet<TransactionState> = new Set(['REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])
const finalStates: ReadonlySet<TransactionState> = new Set([...withoutEffect, 'CONFIRMED', 'REVERTED'])

export const isFinal = ({ state }: Pick<Entry, 'state'>): boolean => finalStates.has(state)

/** Whether both are steps of one plan. Callers give their requests what ids they like, and may give all of them the same. */
export const isOfSamePlan = (one: Entry, other: Entry): boolean =>
  one.requestId === other.requestId &&
  one.createdAt === other.createdAt &&
  one.chain === other.chain &&
  one.network === other.network &&
  one.address === other.address &&
  one.kind === other.kind &&
  one.part.of === other.part.of

/** The address whose key signs it, and whose queue it is in. */
export const signerOf = ({ address, signer = address }: Pick<Entry, 'address' | 'signer'>): string => signer

/** Names the block that its transaction is in: after a reorganisation it is another one. */
export const landedId = ({ landed }: Entry): string => `${landed?.id} ${landed?.blockHash ?? landed?.blockNumber}`

/** An entry that would be final and waits for something: as it was, where it is mined in the same block already. */
export const heldAsMined = (before: Entry, after: Entry): Entry =>
  before.state === 'MINED' && landedId(before) === landedId(after) ? before : { ...after, state: 'MINED' }

/** The hash of the attempt that landed, or of the newest; undefined before it is signed. */
export const txHashOf = ({ landed, attempts }: Pick<Entry, 'landed' | 'attempts'>): string | undefined => landed?.id ?? attempts.at(-1)?.id

/** Where transactions are sent: a network, or an exchange's own rail on it. */
export interface RailId {
  readonly chain: string
  readonly network: string
  /** The exchange whose own rail it is; absent: the chain's rail. */
  readonly connector?: string
}

export const railOf = ({ chain, network, connector, signer }: Pick<Entry, 'chain' | 'network' | 'connector' | 'signer'>): RailId =>
  signer === undefined ? { chain, network } : { chain, network, connector }

export const railName = ({ chain, network, connector }: RailId): string =>
  connector === undefined ? `${chain}/${network}` : `${chain}/${network}/${connector}`

/** @param address the wallet's, or the signer's on an exchange's own rail */
export const queueName = (rail: RailId, address: string): string => `${railName(rail)}/${address}`

/** -1 certain never to be mined, 0 accepted by the server, 1 mined, 2 pending and pays enough, 3 pending and pays too little. */
export type TxStatus = -1 | 0 | 1 | 2 | 3

/**
 * The number that `/network/poll` shows for a journaled transaction.
 * @param found the transaction on the chain now, if the chain was asked
 */
export function txStatus({ state, landed, replacedBy, seen }: Entry, found?: Pick<Transaction, 'blockNumber' | 'pays'>): TxStatus {
  if (landed || found?.blockNumber !== undefined) return 1
  if (withoutEffect.has(state)) return -1
  // The replacement is not final, so it may still be mined.
  if (replacedBy !== undefined || seen === 'lost') return 3
  if (found) return found.pays === false ? 3 : 2
  if (seen === undefined) return 0
  return seen === 'pays' ? 2 : 3
}
