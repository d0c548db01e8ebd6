// Reads the message of a transaction of Solana from its bytes.
// @solana/kit is large, so this module is imported with the first request for a key of ed25519.
import {
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  type Instruction as BuiltInstruction,
} from '@solana/kit'
import { Refusal } from './policy.ts'

/** The message of a transaction, with addresses in the place of indices. */
export interface Message {
  /** The fee payer first. */
  readonly signers: readonly string[]
  readonly feePayer: string
  readonly instructions: readonly Instruction[]
}

export interface Instruction {
  readonly program: string
  /** `fromTable` in the place of those that the bytes do not say. */
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

type CompiledMessage = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime

/** Stands for an account that the message takes from a lookup table: no address. */
export const fromTable = 'an account of a lookup table'

/** How many accounts come from lookup tables. Those that sign, and programs, cannot. */
function countLoaded(compiled: CompiledMessage): number {
  const lookups = 'addressTableLookups' in compiled ? (compiled.addressTableLookups ?? []) : []
  const tables = lookups.map((each) => each.lookupTableAddress)
  if (new Set(tables).size !== tables.length) throw new Refusal('the message names a lookup table twice')
  const counts = lookups.map(({ writableIndexes, readonlyIndexes }) => writableIndexes.length + readonlyIndexes.length)
  if (counts.includes(0)) throw new Refusal('the message names a lookup table from which it takes no account')
  return counts.reduce((sum, count) => sum + count, 0)
}

/** No transaction is longer (agave `packet`, PACKET_DATA_SIZE), and what is would take long to read. */
const maxBytes = 1_232

/**
 * Reads the bytes of a message, legacy or version 0.
 * @throws Refusal
 */
export function decodeMessage(bytes: Uint8Array): Message {
  if (bytes.length > maxBytes) throw new Refusal(`the message has ${bytes.length} bytes, and a transaction has ${maxBytes} at most`)
  const compiled = decode(bytes)
  const { version, header, staticAccounts } = compiled
  if (version !== 'legacy' && version !== 0)
    throw new Refusal(`messages of version ${version} are not signed, only legacy ones and version 0`)
  checkCanonical(compiled, bytes)
  const loadedCount = countLoaded(compiled)

  if (new Set(staticAccounts).size !== staticAccounts.length) throw new Refusal('the message names an account twice')
  const account = (index: number): string => {
    const found = staticAccounts[index]
    if (found === undefined) throw new Refusal('an instruction names an account that the message does not have')
    return found
  }
  if (header.numSignerAccounts > staticAccounts.length) throw new Refusal('the message wants more signatures than it has accounts')
  const isLoaded = (index: number) => index >= staticAccounts.length && index < staticAccounts.length + loadedCount
  if (header.numReadonlySignerAccounts >= header.numSignerAccounts)
    throw new Refusal('the message has no writable signer that could pay the fee')
  return {
    signers: Array.from({ length: header.numSignerAccounts }, (_, index) => account(index)),
    feePayer: account(0),
    instructions: compiled.instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
      program: account(programAddressIndex),
      accounts: accountIndices.map((index) => (isLoaded(index) ? fromTable : account(index))),
      data: Uint8Array.from(data),
    })),
  }
}

function decode(bytes: Uint8Array): CompiledMessage {
  try {
    return getCompiledTransactionMessageDecoder().decode(bytes)
  } catch {
    throw new Refusal('the bytes are not the message of a transaction')
  }
}

/** A second encoding of the same message is refused: the signer signs exactly the bytes that it has checked. */
function checkCanonical(compiled: CompiledMessage, bytes: Uint8Array): void {
  let canonical: ArrayLike<number>
  try {
    canonical = getCompiledTransactionMessageEncoder().encode(compiled)
  } catch {
    throw new Refusal('the message contradicts itself')
  }
  if (!sameBytes(canonical, bytes)) throw new Refusal('the bytes are not in the canonical encoding')
}

export const sameBytes = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => Buffer.from(Uint8Array.from(a)).equals(Uint8Array.from(b))

/** Whether an instruction equals, to the byte, the one that the program's own package builds. */
export const isSame = ({ program, accounts, data }: Instruction, built: BuiltInstruction): boolean =>
  program === built.programAddress &&
  sameBytes(data, built.data ?? []) &&
  accounts.length === built.accounts?.length &&
  built.accounts.every((each, index) => each.address === accounts[index])
