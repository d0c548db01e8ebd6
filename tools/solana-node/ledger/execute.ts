import { lamports, type Address } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Answer } from '../rpc/answer.ts'
import type { LandedTransaction, Outcome } from './block.ts'
import { advanceAnyway, type Lifetime } from './durable-nonce.ts'
import { feeOf } from './fee.ts'
import { onBlockhash } from './on-blockhash.ts'
import { outcomeOf, outcomeWithoutRun } from './outcome.ts'
import type { Wire } from './read-wire.ts'
import { tokenBalances } from './token-balances.ts'
import { isSigned } from './verify-signatures.ts'

/** It is in its block, whether it did what it should or not; or no leader may put it in one. */
export type Execution = { is: 'landed'; landed: LandedTransaction } | { is: 'refused'; error: Answer }

/** Runs a transaction on top of a block. */
export function execute(svm: LiteSVM, wire: Wire, lifetime: Lifetime, blockhash: string): Execution {
  if (!isSigned(wire)) return { is: 'refused', error: 'SignatureFailure' }

  const before = balances(svm, wire)
  const outcome = run(svm, wire, blockhash)
  const isUnpaid = (svm.getBalance(wire.payer) ?? 0n) === before.balances[0]
  if (outcome.error !== null && isUnpaid) return { is: 'refused', error: outcome.error }
  if (outcome.error !== null && lifetime.is === 'durable') advanceAnyway(svm, lifetime.nonceAccount, lifetime.next)
  const after = balances(svm, wire)
  return {
    is: 'landed',
    landed: {
      signature: wire.signature,
      wire,
      outcome,
      preBalances: before.balances,
      preTokenBalances: before.tokens,
      postBalances: after.balances,
      postTokenBalances: after.tokens,
    },
  }
}

function run(svm: LiteSVM, wire: Wire, blockhash: string): Outcome {
  const fee = feeOf(wire.message)
  const missing = missingProgram(svm, wire)
  if (!missing) return outcomeOf(svm.sendTransaction(onBlockhash(wire, blockhash)), fee)
  // LiteSVM takes no fee for it; a validator does, since what cannot be loaded is in the block too (SIMD-0082).
  const payer = svm.getAccount(wire.payer)
  if (!payer.exists) return outcomeWithoutRun('AccountNotFound', fee)
  if (payer.lamports < fee) return outcomeWithoutRun('InsufficientFundsForFee', fee)
  svm.setAccount({ ...payer, lamports: lamports(payer.lamports - fee) })
  return outcomeWithoutRun('ProgramAccountNotFound', fee)
}

export function missingProgram(svm: LiteSVM, { message }: Wire): Address | undefined {
  const programs = message.instructions.map(({ programAddressIndex }) => message.staticAccounts[programAddressIndex])
  return programs.find((each) => each !== undefined && !svm.getAccount(each).exists)
}

export function balances(svm: LiteSVM, { message }: Wire): { balances: readonly bigint[]; tokens: readonly Answer[] } {
  const accounts = message.staticAccounts.map((each) => svm.getAccount(each))
  return {
    balances: accounts.map((each) => (each.exists ? each.lamports : 0n)),
    tokens: tokenBalances(svm, accounts),
  }
}
