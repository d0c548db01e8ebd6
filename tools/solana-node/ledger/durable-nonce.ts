import { getBase58Decoder, getBase58Encoder, type Address, type EncodedAccount } from '@solana/kit'
import { getNonceDecoder, getNonceSize, identifySystemInstruction, SYSTEM_PROGRAM_ADDRESS, SystemInstruction } from '@solana-program/system'
import type { LiteSVM } from 'litesvm'
import { createHash } from 'node:crypto'
import { writableAccounts, type Message } from './read-wire.ts'

/** Why a transaction may be in the next block: its blockhash is recent, or its nonce stands and becomes the next one. */
export type Lifetime = { is: 'recent' } | { is: 'durable'; nonceAccount: Address; next: string }

/** Undefined where it may not be in a block on top of the one with this hash. */
export function lifetimeOf(svm: LiteSVM, message: Message, isRecent: boolean, blockhash: string): Lifetime | undefined {
  if (isRecent) return { is: 'recent' }
  const next = nextDurableNonce(blockhash)
  const nonceAccount = durableNonceOf(message, svm, next)
  return nonceAccount && { is: 'durable', nonceAccount, next }
}

/**
 * The nonce account whose value stands in for the blockhash: named by a first instruction that advances it, and there in the chain's
 * state with that value and an authority that signed. Source: agave, runtime/src/bank/check_transactions.rs.
 */
function durableNonceOf(message: Message, svm: LiteSVM, next: string): Address | undefined {
  if (message.lifetimeToken === next) return undefined
  const [first] = message.instructions
  if (!first?.data || message.staticAccounts[first.programAddressIndex] !== SYSTEM_PROGRAM_ADDRESS || !advances(first.data))
    return undefined
  const nonceAccount = message.staticAccounts[first.accountIndices?.[0] ?? -1]
  if (!nonceAccount || !writableAccounts(message).includes(nonceAccount)) return undefined
  const account = svm.getAccount(nonceAccount)
  if (!account.exists || account.programAddress !== SYSTEM_PROGRAM_ADDRESS || account.data.length !== getNonceSize()) return undefined
  const { blockhash, authority } = getNonceDecoder().decode(account.data)
  const signers = first.accountIndices?.filter((index) => index < message.header.numSignerAccounts) ?? []
  const isAuthorised = signers.some((index) => message.staticAccounts[index] === authority)
  return blockhash === message.lifetimeToken && isAuthorised ? nonceAccount : undefined
}

function advances(data: Readonly<Iterable<number>>): boolean {
  const bytes = Uint8Array.from(data)
  return bytes.length === 4 && identifySystemInstruction({ data: bytes }) === SystemInstruction.AdvanceNonceAccount
}

/** What nonces become that are advanced on top of a block. Source: solana-nonce, DurableNonce::from_blockhash. */
function nextDurableNonce(blockhash: string): string {
  return getBase58Decoder().decode(
    createHash('sha256')
      .update('DURABLE_NONCE')
      .update(Uint8Array.from(getBase58Encoder().encode(blockhash)))
      .digest(),
  )
}

/** A transaction that failed takes everything back but this: its nonce is used up. LiteSVM takes it back too. */
export function advanceAnyway(svm: LiteSVM, nonceAccount: Address, next: string): void {
  const account = svm.getAccount(nonceAccount)
  if (!account.exists) throw new Error(`There is no nonce account ${nonceAccount}.`)
  svm.setAccount(withNonce(account, next))
}

/** The value stands behind version, state and authority. */
const nonceAt = 4 + 4 + 32

function withNonce(account: EncodedAccount, next: string): EncodedAccount {
  const data = Uint8Array.from(account.data)
  data.set(getBase58Encoder().encode(next), nonceAt)
  return { ...account, data }
}
