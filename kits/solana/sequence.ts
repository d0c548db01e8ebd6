import { NonceState, SYSTEM_PROGRAM_ADDRESS, getNonceDecoder, getNonceSize } from '@solana-program/system'
import { badFields, SluiceError, type Standing, type At } from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { accountsCalls, readAccounts, tryDecode } from './accounts.ts'
import { confirmed, finalized, contextSlotOf, numberOf, valueOf } from './rpc.ts'
import type { SolanaAccount } from './types.ts'
import { isObject } from '../../core/json.ts'

/** For one transaction, until a height is passed. */
export type BlockhashSequence = {
  /** Milliseconds since the Unix epoch at its claim, or one more than another's. */
  readonly number: number
  readonly blockhash: string
  readonly lastValidBlockHeight: number
  /** The slot at which the blockhash was told: what lands on it lands later. */
  readonly since: number
}
/** For one transaction, for as long as the account says the same. */
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
  /** What is to be signed upon; null where the account is none that the wallet may advance. */
  readonly nonce: string | null
  /** The slot at which that was read: no older one has to have it yet. */
  readonly slot: number
}

export type SolanaSyncState = {
  readonly nowMs: number
  /** The slot that the rest holds for. */
  readonly slot: number
  readonly blockhash: string
  readonly lastValidBlockHeight: number
  readonly durable: readonly DurableNonce[]
  /** Numbers of open transactions that are in a block: what they cost is paid. Absent: not looked at. */
  readonly landed?: readonly number[]
  /** The last word was older than this, and is believed when it is said again. */
  readonly doubted?: true
}

export const isDurableNonce = (slot: SolanaSequence): slot is DurableNonceSequence => 'nonceAccount' in slot

/** A blockhash that is older serves as well, but an older durable nonce may be used up: a node that lags is believed at its second word. */
export function mergeSyncState(known: SolanaSyncState, news: SolanaSyncState, held: readonly SolanaSequence[] = []): SolanaSyncState {
  const open = new Set(held.map(({ number }) => number))
  const landed = news.landed ?? (known.landed ?? []).filter((number) => open.has(number))
  if (news.slot < known.slot && !known.doubted) return { ...known, nowMs: news.nowMs, landed, doubted: true }
  return { ...news, landed }
}

/** Every transaction has a number of its own, above those of all durable nonces; they share the newest blockhash. */
export function claimSequences(synced: SolanaSyncState, held: readonly SolanaSequence[], count: number): readonly SolanaSequence[] {
  const { nowMs, blockhash, lastValidBlockHeight, slot: since } = synced
  const first = Math.max(nowMs, ...held.map(({ number }) => number + 1))
  return Array.from({ length: count }, (_, index) => ({ number: first + index, blockhash, lastValidBlockHeight, since }))
}

/** Those of the wallet's durable nonce accounts. @throws SluiceError INCOMPLETE_PARAMS, INVALID_NONCE */
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

/** A transaction on a durable nonce that has another value by now is over; the others stand for themselves. */
export function sequenceStatus({ durable, landed = [] }: SolanaSyncState, slot: SolanaSequence): Standing {
  if (!isDurableNonce(slot)) return landed.includes(slot.number) ? 'past' : 'free'
  const now = durable.find(({ account }) => account === slot.nonceAccount)
  return now === undefined || now.nonce === slot.nonce ? 'free' : 'past'
}

function noSuchIndex(index: number, count: number): SluiceError {
  const have = count === 0 ? 'the wallet has none' : `the wallet has ${count}, from 0`
  const cure = 'leave nonce out to use a recent blockhash, or add the account to durableNonces in conf/chains'
  return badFields([{ field: 'nonce', problem: `is the index of one of the wallet's durable nonce accounts, and ${have}: ${cure}` }])
}

function unusable(index: number, account: string): SluiceError {
  return new SluiceError(
    'INVALID_NONCE',
    `Durable nonce account ${index}, ${account}, is not initialized with the wallet as its authority: create it so, or leave nonce out to use a recent blockhash.`,
    { details: { nonce: index, nonceAccount: account } },
  )
}

/** Blocks for which a blockhash serves: agave `clock`, MAX_PROCESSING_AGE. */
export const blockhashBlocks = 150

/** Asked by whatever is to sign or judges what was signed. */
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

/** What those gave. Heights are believed as far as they can be: none is above its slot, and no new blockhash is over. */
export function readLifetime(rpc: Rpc, answers: readonly (RpcAnswer | undefined)[]): Lifetime {
  const [latest, epoch] = lifetimeCalls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  const [slot, value, final] = [contextSlotOf(latest), valueOf(latest), readFinal(epoch)]
  const blockhash = isObject(value) ? value['blockhash'] : undefined
  const lastValidBlockHeight = isObject(value) ? numberOf(value['lastValidBlockHeight']) : undefined
  if (slot === undefined || typeof blockhash !== 'string' || lastValidBlockHeight === undefined || !final)
    throw invalidAnswer(rpc, 'gave no blockhash')
  if (final.height > final.slot || lastValidBlockHeight > slot + blockhashBlocks || lastValidBlockHeight < final.height)
    throw invalidAnswer(rpc, 'gave slots and block heights that contradict each other')
  return { slot, blockhash, lastValidBlockHeight, final }
}

/** Of `getEpochInfo`. */
export function readFinal(result: unknown): Lifetime['final'] | undefined {
  const [slot, height] = isObject(result) ? [numberOf(result['absoluteSlot']), numberOf(result['blockHeight'])] : []
  return slot === undefined || height === undefined ? undefined : { slot, height }
}

/** A wallet's durable nonces by what was read of their accounts, at that slot. */
export function readDurable(
  wallet: string,
  accounts: readonly string[],
  read: readonly (SolanaAccount | undefined)[],
  slot: number,
): readonly DurableNonce[] {
  return accounts.map((account, index) => ({ account, nonce: nonceIn(read[index], wallet) ?? null, slot }))
}

/** What is to be signed upon; undefined where the account is no durable nonce, or another's. */
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
  return { nowMs: Date.now(), slot, blockhash, lastValidBlockHeight, durable }
}
