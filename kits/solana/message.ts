import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getBase58Decoder,
  getCompiledTransactionMessageEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget'
import { getAdvanceNonceAccountInstruction } from '@solana-program/system'
import type { Prepared, Sealed, Signable } from '../../core/contracts/index.ts'
import { toKit } from '../../core/kits/solana/instruction.ts'
import type { SolanaIntent } from './types.ts'
import { budgetOf } from './fees.ts'
import type { ComputeBudget, SolanaFees } from './fees.ts'
import { isDurable } from './sequence.ts'
import type { SolanaSlot } from './sequence.ts'

const signatureLength = 64

/** The message of a transaction of version 0, in which a blockhash and the value of a durable nonce stand in the same place. */
export function draft({ step, fees }: Pick<Prepared<SolanaIntent, SolanaFees>, 'step' | 'fees'>, slot: SolanaSlot): Signable {
  const budget = budgetOf(fees, slot.number)
  const bytes = isDurable(slot) ? messageOf(step, budget, slot.nonce, slot.nonceAccount) : messageOf(step, budget, slot.blockhash)
  return { scheme: 'solana-message', bytes }
}

/** @param nonceAccount advanced first of all: https://solana.com/docs/core/transactions/durable-nonces */
export function messageOf(
  { payer, instructions }: SolanaIntent,
  { units, price }: ComputeBudget,
  lifetime: string,
  nonceAccount?: string,
): Uint8Array {
  const wallet = address(payer)
  const advance =
    nonceAccount === undefined
      ? []
      : [getAdvanceNonceAccountInstruction({ nonceAccount: address(nonceAccount), nonceAuthority: createNoopSigner(wallet) })]
  const all = [
    ...advance,
    getSetComputeUnitLimitInstruction({ units }),
    getSetComputeUnitPriceInstruction({ microLamports: price }),
    ...instructions.map(toKit),
  ]
  // The height is no part of the message.
  const constraint = { blockhash: blockhash(lifetime), lastValidBlockHeight: 0n }
  const empty = setTransactionMessageFeePayer(wallet, createTransactionMessage({ version: 0 }))
  const message = appendTransactionMessageInstructions(all, setTransactionMessageLifetimeUsingBlockhash(constraint, empty))
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(message)))
}

/** @param signature 64 bytes. The first signature of a transaction is its id. */
export function seal({ bytes }: Signable, signature: Uint8Array): Sealed {
  if (signature.length !== signatureLength) throw new Error(`A signature has ${signatureLength} bytes, and this one ${signature.length}.`)
  return { id: getBase58Decoder().decode(signature), raw: withSignature(bytes, signature) }
}

/** https://solana.com/docs/core/transactions: how many signatures there are, each of them, the message. */
export function withSignature(message: Uint8Array, signature: Uint8Array = new Uint8Array(signatureLength)): Uint8Array {
  return Uint8Array.from([1, ...signature, ...message])
}
