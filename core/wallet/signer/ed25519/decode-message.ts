import {
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
} from '@solana/kit'
import { Refusal } from '../refusal.ts'
import { sameBytes } from './same-bytes.ts'

/** What a transaction's message says, with addresses in the place of indices. */
export interface Message {
  readonly signerCount: number
  readonly feePayer: string
  readonly instructions: readonly Instruction[]
}

export interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

type Compiled = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime

/**
 * Reads the bytes of a message, legacy or version 0, all of whose accounts are in the bytes themselves.
 * @throws Refusal
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const compiled = decode(bytes)
  const { version, header } = compiled
  if (version !== 'legacy' && version !== 0)
    throw new Refusal(`messages of version ${version} are not signed, only legacy ones and version 0`)
  if ('addressTableLookups' in compiled && (compiled.addressTableLookups?.length ?? 0) > 0)
    throw new Refusal('the message takes accounts from a lookup table, so that its bytes do not say which')
  checkCanonical(compiled, bytes)

  const { staticAccounts } = compiled
  if (new Set(staticAccounts).size !== staticAccounts.length) throw new Refusal('the message names an account twice')
  const account = (index: number): string => {
    const found = staticAccounts[index]
    if (found === undefined) throw new Refusal('an instruction names an account that the message does not have')
    return found
  }
  if (header.numReadonlySignerAccounts >= header.numSignerAccounts) throw new Refusal('the message has nobody who signs and may be charged')
  return {
    signerCount: header.numSignerAccounts,
    feePayer: account(0),
    instructions: compiled.instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
      program: account(programAddressIndex),
      accounts: accountIndices.map(account),
      data: Uint8Array.from(data),
    })),
  }
}

function decode(bytes: Uint8Array): Compiled {
  try {
    return getCompiledTransactionMessageDecoder().decode(bytes)
  } catch {
    throw new Refusal('the bytes are not the message of a transaction')
  }
}

/** One meaning per byte string: what is signed must be exactly what was looked at. */
function checkCanonical(compiled: Compiled, bytes: Uint8Array): void {
  let canonical: ArrayLike<number>
  try {
    canonical = getCompiledTransactionMessageEncoder().encode(compiled)
  } catch {
    throw new Refusal('the message contradicts itself')
  }
  if (!sameBytes(canonical, bytes)) throw new Refusal('the bytes are not in the canonical encoding')
}
