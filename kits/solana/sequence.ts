import { NonceState, SYSTEM_PROGRAM_ADDRESS, getNonceDecoder, getNonceSize } from '@solana-program/system'
import { badFields, SluiceError, type SequenceStatus, type At } from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { accountsCalls, readAccounts, tryDecode } from './accounts.ts'
import { confirmed, finalized, contextSlotOf, numberOf, valueOf } from './rpc.ts'
import type { SolanaAccount } from './types.ts'
import { isObject } from '../../core/base/json.ts'

/** For one transaction, until a block height. */
export type BlockhashSequence = {
  /** Milliseconds since the Unix epoch at its claim, or one more than another's. */
  readonly number: number
  readonly blockhash: string
  readonly lastValidBlockHeight: number
  /** The slot at which the blockhash was read. A transaction on it lands later. */
  readonly since: number
}
/** For one transaction, as long as the account keeps its value. */
export type DurableNonceSequence = {
  /** Index of the account among the wallet's. */
  readonly number: number
  readonly nonceAccount: string
  readonly nonce: string
  readonly since: number
}
export type SolanaSequence = BlockhashSequence | DurableNonceSequence

/** One of a wallet's durable nonce accounts. */
type DurableNonce = {
  readonly account: string
  /** Its current value. Null where the wallet cannot advance the account. */
  readonly nonce: string | null
  /** The slot at which that was read. */
  readonly slot: number
}

export type SolanaSyncState = {
  readonly nowMs: number
  /** The slot at which the rest was read. */
  readonly slot: number
  readonly blockhash: string
  readonly lastValidBlockHeight: number
  readonly durable: readonly DurableNonce[]
  /** Numbers of open transactions that are in a block, so their cost is paid. Absent: not read. */
  readonly landed?: readonly number[]
  /** The last report was older than this. It is accepted when it comes again. */
  readonly doubted?: true
}

export const isDurableNonce = (slot: SolanaSequence): slot is DurableNonceSequence => 'nonceAccount' in slot

/** An older blockhash is as good, but an older durable nonce may be used already. So an older state is accepted only when it comes twice. */
export function mergeSyncState(known: SolanaSyncState, update: SolanaSyncState, held: readonly SolanaSequence[] = []): SolanaSyncState {
  const open = new Set(held.map(({ number }) => number))
  const landed = update.landed ?? (known.landed ?? []).filter((number) => open.has(number))
  if (update.slot < known.slot && !known.doubted) return { ...known, nowMs: update.nowMs, landed, doubted: true }
  return { ...update, landed }
}

/** Each transaction gets its own number, above those of all durable nonces. They share the newest blockhash. */
export function claimSequences(synced: SolanaSyncState, held: readonly SolanaSequence[], count: number): readonly SolanaSequence[] {
  const { nowMs, blockhash, lastValidBlockHeight, slot: since } = synced
  const first = Math.max(nowMs, ...held.map(({ number }) => number + 1))
  return Array.from({ length: count }, (_, index) => ({ number: first + index, blockhash, lastValidBlockHeight, since }))
}

/** The wallet's durable nonce accounts from an index on. @throws SluiceError INCOMPLETE_PARAMS, INVALID_NONCE */
export function durableNonceSequences({ durable }: SolanaSyncState, nonce: number, count: number): readonly SolanaSequence[] {
  return Array.from({ length: count }, (_, index) => {
    const number = nonce + index
    const found = durable[number]
    if (!found) throw noSuchIndex(number, durable.length)
    const { account, nonce: value, slot: since } = found
    if (value === null) throw unusable(number, account)
    return { number, nonceAccount: account, nonce: value, since }
  })
}

/** A transaction on a durable nonce is past once the nonce has another value. Others do not depend on each other. */
export function sequenceStatus({ durable, landed = [] }: SolanaSyncState, slot: SolanaSequence): SequenceStatus {
  if (!isDurableNonce(slot)) return landed.includes(slot.number) ? 'past' : 'free'
  const now = durable.find(({ account }) => account === slot.nonceAccount)
  return now === undefined || now.nonce === slot.nonce ? 'free' : 'past'
}

function noSuchIndex(index: number, count: number): SluiceError {
  const have = count === 0 ? 'the wallet has none' : `the wallet has ${count}, from 0`
  const remedy = 'leave nonce out to use a recent blockhash, or add the account to durableNonces in conf/chains'
  return badFields([{ field: 'nonce', problem: `is the index of one of the wallet's durable nonce accounts, and ${have}: ${remedy}` }])
}

function unusable(index: number, account: string): SluiceError {
  return new SluiceError(
    'INVALID_NONCE',
    `Durable nonce account ${index}, ${account}, is not initialized with the wallet as its authority: create it so, or leave nonce out to use a recent blockhash.`,
    { details: { nonce: index, nonceAccount: account } },
  )
}

/** The number of blocks that accept a blockhash: agave `clock`, MAX_PROCESSING_AGE. */
export const blockhashBlocks = 150

/** Needed both to sign and to judge signed transactions. */
export const lifetimeCalls: readonly RpcCall[] = [
  { method: 'getLatestBlockhash', params: [confirmed] },
  { method: 'getEpochInfo', params: [finalized] },
]

interface Lifetime {
  slot: number
  blockhash: string
  lastValidBlockHeight: number
  final: { slot: number; height: number }
}

/** Reads those answers. Heights must be possible: none is above its slot, and no new blockhash is expired. */
export function readLifetime(rpc: Rpc, answers: readonly (RpcAnswer | undefined)[]): Lifetime {
  const [latest, epoch] = lifetimeCalls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  const [slot, value, final] = [contextSlotOf(latest), valueOf(latest), readFinal(epoch)]
  const blockhash = isObject(value) ? value['blockhash'] : undefined
  const lastValidBlockHeight = isObject(value) ? numberOf(value['lastValidBlockHeight']) : undefined
  if (slot === undefined || typeof blockhash !== 'string' || lastValidBlockHeight === undefined || !final)
    throw invalidAnswer(rpc, 'did not give a blockhash')
  if (final.height > final.slot || lastValidBlockHeight > slot + blockhashBlocks || lastValidBlockHeight < final.height)
    throw invalidAnswer(rpc, 'gave contradictory slots and block heights')
  return { slot, blockhash, lastValidBlockHeight, final }
}

/** Reads the finalized slot and height from `getEpochInfo`. */
export function readFinal(result: unknown): Lifetime['final'] | undefined {
  const [slot, height] = isObject(result) ? [numberOf(result['absoluteSlot']), numberOf(result['blockHeight'])] : []
  return slot === undefined || height === undefined ? undefined : { slot, height }
}

/** A wallet's durable nonces, from their accounts at that slot. */
export function readDurable(
  wallet: string,
  accounts: readonly string[],
  read: readonly (SolanaAccount | undefined)[],
  slot: number,
): readonly DurableNonce[] {
  return accounts.map((account, index) => ({ account, nonce: nonceIn(read[index], wallet) ?? null, slot }))
}

/** The value of a durable nonce account. Undefined where it is none, or belongs to another wallet. */
export function nonceIn(account: SolanaAccount | undefined, authority?: string): string | undefined {
  if (account?.owner !== SYSTEM_PROGRAM_ADDRESS || account.data.length !== getNonceSize()) return undefined
  const nonce = tryDecode(getNonceDecoder(), account.data)
  return nonce?.state === NonceState.Initialized && (authority ?? nonce.authority) === nonce.authority ? nonce.blockhash : undefined
}

/** @param durable the wallet's durable nonce accounts */
export async function sync(rpc: Rpc, wallet: string, durable: readonly string[], at: At): Promise<SolanaSyncState> {
  const [latest, epoch, ...accounts] = await rpc.batch([...lifetimeCalls, ...accountsCalls(durable, confirmed)], at)
  const read = readAccounts(rpc, accounts)
  return syncStateOf(readLifetime(rpc, [latest, epoch]), readDurable(wallet, durable, read.accounts, read.newestSlot))
}

export function syncStateOf({ slot, blockhash, lastValidBlockHeight }: Lifetime, durable: readonly DurableNonce[]): SolanaSyncState {
  return { nowMs: Math.floor(performance.timeOrigin + performance.now()), slot, blockhash, lastValidBlockHeight, durable }
}
