import { NonceState, SYSTEM_PROGRAM_ADDRESS, getNonceDecoder, getNonceSize } from '@solana-program/system'
import type { At } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import { nodeLied, resultOf } from '../../nodes/ask.ts'
import type { Rpc, RpcAnswer, RpcCall } from '../../nodes/types.ts'
import { accountsCalls, readAccounts } from '../../../../kits/solana/accounts.ts'
import { decoded } from '../reading/decoded.ts'
import { confirmed, finalized } from '../rpc/commitment.ts'
import { contextSlotOf, numberOf, valueOf } from '../rpc/json.ts'
import type { SolanaAccount } from '../../../../kits/solana/types.ts'
import type { DurableNonce, SolanaSynced } from '../../../../kits/solana/sequence.ts'

/** Blocks for which a blockhash serves: agave `clock`, MAX_PROCESSING_AGE. */
export const blockhashBlocks = 150

/** Asked by whatever is to sign or judges what was signed. */
export const lifetimeCalls: readonly RpcCall[] = [
  { method: 'getLatestBlockhash', params: [confirmed] },
  { method: 'getEpochInfo', params: [finalized] },
]

export interface Lifetime {
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
    throw nodeLied(rpc, 'gave no blockhash')
  if (final.height > final.slot || lastValidBlockHeight > slot + blockhashBlocks || lastValidBlockHeight < final.height)
    throw nodeLied(rpc, 'gave slots and block heights that contradict each other')
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
  const nonce = decoded(getNonceDecoder(), account.data)
  return nonce?.state === NonceState.Initialized && (authority ?? nonce.authority) === nonce.authority ? nonce.blockhash : undefined
}

/** @param durable the wallet's durable nonce accounts */
export async function sync(rpc: Rpc, wallet: string, durable: readonly string[], at: At): Promise<SolanaSynced> {
  const [latest, epoch, ...accounts] = await rpc.batch([...lifetimeCalls, ...accountsCalls(durable, confirmed)], at)
  const read = readAccounts(rpc, accounts)
  return syncedOf(readLifetime(rpc, [latest, epoch]), readDurable(wallet, durable, read.accounts, read.newestSlot))
}

export function syncedOf({ slot, blockhash, lastValidBlockHeight }: Lifetime, durable: readonly DurableNonce[]): SolanaSynced {
  return { nowMs: Date.now(), slot, blockhash, lastValidBlockHeight, durable }
}
