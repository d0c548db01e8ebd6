import {
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Instruction,
} from '@solana/kit'
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget'
import { FailedTransactionMetadata, type LiteSVM } from 'litesvm'

/**
 * Runs instructions with nobody's signature: the runtime of tests is made without checking them, so that an admin whose key nobody here has can
 * make a program's configuration. Gives what the program said where it failed.
 */
export function runUnsigned(svm: LiteSVM, payer: string, instructions: readonly Instruction[]): string | null {
  const result = svm.sendTransaction(unsigned(svm, payer, instructions))
  return result instanceof FailedTransactionMetadata ? failureOf(result) : null
}

const failureOf = (failed: FailedTransactionMetadata): string => `${String(failed.err())} ${failed.meta().logs().join('\n')}`

function unsigned(svm: LiteSVM, payer: string, instructions: readonly Instruction[]) {
  const lifetime = { blockhash: svm.latestBlockhash(), lastValidBlockHeight: 2n ** 63n }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(address(payer), empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([getSetComputeUnitLimitInstruction({ units: 1_400_000 }), ...instructions], timed),
  )
  return compileTransaction(message)
}

/** @throws Error with the program's log where it fails */
export function mustRun(svm: LiteSVM, payer: string, instructions: readonly Instruction[]): void {
  const failure = runUnsigned(svm, payer, instructions)
  if (failure !== null) throw new Error(failure)
}
