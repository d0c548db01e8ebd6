import type { Json, RefusalMeaning, Transaction } from '../contracts/index.ts'

/**
 * QUEUED → SIGNED → BROADCAST → MINED → CONFIRMED, and the other ends. A reorganisation moves MINED back to BROADCAST;
 * an end is final.
 */
export type TransactionState = 'QUEUED' | 'SIGNED' | 'BROADCAST' | 'MINED' | FinalState
type FinalState = 'CONFIRMED' | 'REVERTED' | 'REPLACED' | 'CANCELLED' | 'DROPPED' | 'EXPIRED'

/**
 * What it is for. `order` and `order-cancel` are those of order books, `funds` what they hold and lend. A `cancel` does nothing in the place
 * of another; a `fill` takes an empty slot that later transactions wait behind, and does nothing.
 */
export const kinds = [
  'trade',
  'liquidity',
  'position',
  'collateral',
  'order',
  'order-cancel',
  'funds',
  'token-account',
  'approve',
  'cancel',
  'fill',
] as const
export type Kind = (typeof kinds)[number]

/** Signed bytes. They leave only after they are in the journal. */
export interface Attempt {
  /** The transaction's hash. */
  readonly id: string
  readonly raw: Uint8Array
  readonly fees: Json
  /** Milliseconds since the Unix epoch. */
  readonly signedAt: number
  /** Of the last sending; absent before the first. */
  readonly sentAt?: number
  /** How many times they were sent. */
  readonly sends: number
  /** How many of those since it was lost; absent where it never was. */
  readonly sendsSinceLost?: number
  /** Why no node took them the last time; absent where one did, or where nobody knows. */
  readonly refused?: RefusalMeaning
}

/** Where an attempt is in a block. */
interface Landed {
  /** The attempt's id. */
  readonly id: string
  readonly ok: boolean
  readonly blockNumber: number
  readonly blockHash?: string
  readonly receipt: Json
}

/** One transaction in the journal: what was asked, and what became of it. A plan of several steps has one for each. */
export interface Entry {
  /** Sorts by age. */
  readonly key: string
  /** Raised by one with every write: who writes on an old version is refused. */
  readonly version: number

  readonly chain: string
  readonly network: string
  readonly address: string
  readonly kind: Kind
  readonly connector?: string
  /** Only of what goes by its connector's own rail and not the chain's: whose key signs. */
  readonly signer?: string
  /** Common name of the caller's certificate. */
  readonly client: string
  readonly requestId: string
  readonly idempotencyKey?: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number

  /** The caller had the permission `admin`: the signer is told of it with every attempt. */
  readonly admin?: true

  /** Which step of the plan, from 0, and of how many. */
  readonly part: { readonly index: number; readonly of: number }
  readonly step: Json
  /** The plan's: what `fill` reads the outcome with. */
  readonly memo: Json
  /** The verb's: what shows the outcome in the caller's terms. */
  readonly about: Json
  /** Seconds since the Unix epoch. */
  readonly deadline?: number

  readonly slot: Json
  readonly nonce: number
  /** The caller chose the slot: what is empty before it is the caller's to fill. */
  readonly slotGiven: boolean
  /** The caller said what it pays: nothing raises that but the caller. */
  readonly feesGiven: boolean
  /** How many of our transactions were on the slot before; a later one replaces. */
  readonly rank: number

  readonly state: TransactionState
  /** On one slot, so that at most one is ever mined. */
  readonly attempts: readonly Attempt[]
  /** How a node last had it: waiting and paying enough, waiting and paying too little, or not any more. Absent: never had it. */
  readonly seen?: 'pays' | 'underpriced' | 'lost'
  readonly landed?: Landed
  /** Hash of what is to take, or took, its place. */
  readonly replacedBy?: string
  /** In how many looks in a row it was dead. */
  readonly deadLooks: number
  /** The newest block when it was dead first in that row. */
  readonly deadSince?: number
  /** Why it was given up, or what a node last said against it. */
  readonly reason?: string
}

const finalStates: ReadonlySet<TransactionState> = new Set(['CONFIRMED', 'REVERTED', 'REPLACED', 'CANCELLED', 'DROPPED', 'EXPIRED'])

/** Whose slot it is on. */
export const signerOf = ({ address, signer = address }: Pick<Entry, 'address' | 'signer'>): string => signer

/** By whose slots it goes: its connector's own, or the chain's. */
export const railOf = ({ chain, network, connector, signer }: Pick<Entry, 'chain' | 'network' | 'connector' | 'signer'>): RailId =>
  signer === undefined ? { chain, network } : { chain, network, connector }

export function isFinal({ state }: Pick<Entry, 'state'>): boolean {
  return finalStates.has(state)
}

/** The hash of the attempt that landed, or of the newest; undefined before it is signed. */
export function txHashOf({ landed, attempts }: Pick<Entry, 'landed' | 'attempts'>): string | undefined {
  return landed?.id ?? attempts.at(-1)?.id
}

/** Whose slots transactions take: those of a network, or of an exchange's own rail on it. */
export interface RailId {
  readonly chain: string
  readonly network: string
  /** Whose own rail; absent: the chain's. */
  readonly connector?: string
}

export const railName = ({ chain, network, connector }: RailId): string =>
  connector === undefined ? `${chain}/${network}` : `${chain}/${network}/${connector}`

/** @param address of the wallet, or of whose key signs on an exchange's own rail */
export const queueName = (place: RailId, address: string): string => `${railName(place)}/${address}`

/** Hexadecimal digits say the same in either case of letters; in base58 another case is another signature. */
export const canonicalHash = (txHash: string): string => (/^0x/i.test(txHash) ? txHash.toLowerCase() : txHash)

/** -1 certain never to be mined, 0 accepted by the server, 1 mined, 2 pending and pays enough, 3 pending and pays too little. */
export type TxStatus = -1 | 0 | 1 | 2 | 3

/**
 * The number that `/network/poll` shows of a journaled transaction.
 * @param found what the chain has of it now, where that was asked
 */
export function txStatus({ state, landed, replacedBy, seen }: Entry, found?: Pick<Transaction, 'blockNumber' | 'pays'>): TxStatus {
  if (landed || found?.blockNumber !== undefined) return 1
  if (state === 'REPLACED' || state === 'CANCELLED' || state === 'DROPPED' || state === 'EXPIRED') return -1
  // Whatever took its place is not final, so it may still be mined.
  if (replacedBy !== undefined || seen === 'lost') return 3
  if (found) return found.pays === false ? 3 : 2
  if (seen === undefined) return 0
  return seen === 'pays' ? 2 : 3
}
