import { getCompiledTransactionMessageEncoder, type Transaction } from '@solana/kit'
import type { Wire } from './read-wire.ts'

/**
 * The transaction as LiteSVM is to run it on top of a block. It advances nonces by the blockhash that a transaction carries, where
 * validators take the newest block's: so it carries that one. Its signatures are of the bytes that were sent, and checked by us.
 */
export function onBlockhash({ transaction, message }: Wire, blockhash: string): Transaction {
  const messageBytes = getCompiledTransactionMessageEncoder().encode({ ...message, lifetimeToken: blockhash })
  return { ...transaction, messageBytes: messageBytes as Transaction['messageBytes'] }
}
