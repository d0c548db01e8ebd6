import { createPublicKey, verify } from 'node:crypto'
import {
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getBase58Decoder,
  isSignature,
  getAddressEncoder,
  getCompiledTransactionMessageEncoder,
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  type Signature,
  type Transaction,
} from '@solana/kit'
import { noneLoaded, type LoadedAccounts } from './lookup-tables.ts'

type VersionedMessage = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime

/** Its programs and instructions stand in the message itself, its accounts there or in lookup tables. */
export type Message = Exclude<VersionedMessage, { version: 1 }>

/** A signed transaction as it was sent. */
export interface Wire {
  bytes: Uint8Array
  transaction: Transaction
  message: Message
  /** All of them in the order of the signers; the first one names the transaction. */
  signatures: readonly Signature[]
  signature: Signature
  payer: Address
}

export class UnreadableWire extends Error {}

/** A packet on the network carries so much: solana-packet, PACKET_DATA_SIZE. */
export const largestWireBytes = 1232

export function readWire(bytes: Uint8Array): Wire {
  const [transaction, message] = decoded(bytes)
  if (message.version === 1) throw new UnreadableWire('invalid value: transaction version 1 is not active on this cluster')
  if (!isSane(message)) throw insane()
  const signatures = Object.values(transaction.signatures).map((each) => base58(each ?? new Uint8Array(64)))
  const [signature] = signatures
  const [payer] = message.staticAccounts
  if (!signature || !payer) throw insane()
  return { bytes, transaction, message, signatures, signature, payer }
}

/** Programs stand in the message itself, and a table that is named gives something: solana-message, versions/v0, sanitize. */
const isSane = (message: Message): boolean =>
  message.instructions.every(({ programAddressIndex }) => programAddressIndex < message.staticAccounts.length) &&
  (message.version === 'legacy' ||
    (message.addressTableLookups ?? []).every(
      ({ writableIndexes, readonlyIndexes }) => writableIndexes.length + readonlyIndexes.length > 0,
    ))

const insane = () => new UnreadableWire('invalid transaction: Transaction failed to sanitize accounts offsets correctly')

function decoded(bytes: Uint8Array): [Transaction, VersionedMessage] {
  try {
    const transaction = getTransactionDecoder().decode(bytes)
    return [transaction, getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)]
  } catch (cause) {
    throw new UnreadableWire('failed to deserialize solana_transaction::versioned::VersionedTransaction: io error', { cause })
  }
}

function base58(bytes: Uint8Array | Readonly<Iterable<number>>): Signature {
  const text = getBase58Decoder().decode(Uint8Array.from(bytes))
  if (!isSignature(text)) throw new UnreadableWire('invalid transaction: a signature is not of 64 bytes')
  return text
}

/** All accounts, by the indices of instructions. */
export const accountKeys = ({ staticAccounts }: Message, { writable, readonly }: LoadedAccounts): readonly Address[] => [
  ...staticAccounts,
  ...writable,
  ...readonly,
]

/** The accounts that the transaction may write: those of its signers first, then the others, then those of tables. */
export function writableAccounts({ staticAccounts, header }: Message, loaded: LoadedAccounts = noneLoaded): readonly Address[] {
  const firstReadonlySigner = header.numSignerAccounts - header.numReadonlySignerAccounts
  const firstReadonlyOther = staticAccounts.length - header.numReadonlyNonSignerAccounts
  return [...staticAccounts.filter((_, index) => isWritable(index)), ...loaded.writable]

  function isWritable(index: number): boolean {
    return index < header.numSignerAccounts ? index < firstReadonlySigner : index < firstReadonlyOther
  }
}

/** What stands before the 32 bytes of an ed25519 key in its DER form: RFC 8410. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Every signer has signed these very bytes. */
export function isSigned({ transaction, message }: Wire): boolean {
  return message.staticAccounts.slice(0, message.header.numSignerAccounts).every((signer) => {
    const signature = transaction.signatures[signer]
    const key = Buffer.concat([derPrefix, Uint8Array.from(getAddressEncoder().encode(signer))])
    return (
      signature && verify(null, Uint8Array.from(transaction.messageBytes), createPublicKey({ key, format: 'der', type: 'spki' }), signature)
    )
  })
}

/**
 * The transaction as LiteSVM is to run it on top of a block. It advances nonces by the blockhash that a transaction carries, where
 * validators take the newest block's: so it carries that one. Its signatures are of the bytes that were sent, and checked by us.
 */
export function onBlockhash({ transaction, message }: Wire, blockhash: string): Transaction {
  const messageBytes = getCompiledTransactionMessageEncoder().encode({ ...message, lifetimeToken: blockhash })
  return { ...transaction, messageBytes: messageBytes as Transaction['messageBytes'] }
}
