import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  ComputeBudgetInstruction,
  identifyComputeBudgetInstruction,
  parseSetComputeUnitLimitInstruction,
  parseSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { lamports, getAddressDecoder, type Address } from '@solana/kit'
import { FailedTransactionMetadata, type LiteSVM, type SimulatedTransactionInfo, type TransactionMetadata } from 'litesvm'
import type { Answer } from '../rpc/protocol.ts'
import type { LandedTransaction, Outcome, InnerInstructions } from './block.ts'
import { advanceAnyway, type Lifetime } from './durable-nonce.ts'
import { transactionErrorOf } from './errors.ts'
import type { LoadedAccounts } from './lookup-tables.ts'
import { accountKeys, onBlockhash, isSigned, type Wire, type Message } from './read-wire.ts'
import { tokenBalances } from './tokens.ts'

/** It is in its block, whether it did what it should or not; or no leader may put it in one. */
type Execution = { is: 'landed'; landed: LandedTransaction } | { is: 'refused'; error: Answer }

/** Runs a transaction on top of a block. */
export function execute(svm: LiteSVM, wire: Wire, loaded: LoadedAccounts, lifetime: Lifetime, blockhash: string): Execution {
  if (!isSigned(wire)) return { is: 'refused', error: 'SignatureFailure' }

  const before = balances(svm, wire, loaded)
  const outcome = run(svm, wire, blockhash)
  const isUnpaid = (svm.getBalance(wire.payer) ?? 0n) === before.balances[0]
  if (outcome.error !== null && isUnpaid) return { is: 'refused', error: outcome.error }
  if (outcome.error !== null && lifetime.is === 'durable') advanceAnyway(svm, lifetime.nonceAccount, lifetime.next)
  const after = balances(svm, wire, loaded)
  return {
    is: 'landed',
    landed: {
      signature: wire.signature,
      wire,
      loaded,
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

export function balances(
  svm: LiteSVM,
  { message }: Wire,
  loaded: LoadedAccounts,
): { balances: readonly bigint[]; tokens: readonly Answer[] } {
  const accounts = accountKeys(message, loaded).map((each) => svm.getAccount(each))
  return {
    balances: accounts.map((each) => (each.exists ? each.lamports : 0n)),
    tokens: tokenBalances(svm, accounts),
  }
}

export function outcomeOf(result: TransactionMetadata | FailedTransactionMetadata | SimulatedTransactionInfo, feeRaw: bigint): Outcome {
  const meta = 'meta' in result ? result.meta() : result
  const { programId, data } = { programId: meta.returnData().programId(), data: meta.returnData().data() }
  return {
    error: result instanceof FailedTransactionMetadata ? transactionErrorOf(result) : null,
    feeRaw,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    innerInstructions: innerInstructionsOf(meta),
    returnData: data.length > 0 ? { programId: getAddressDecoder().decode(programId), data } : null,
  }
}

/** What never ran: there is no more to say of it than why. */
export const outcomeWithoutRun = (error: Outcome['error'], feeRaw: bigint): Outcome => ({
  error,
  feeRaw,
  logs: [],
  unitsConsumed: 0n,
  innerInstructions: [],
  returnData: null,
})

function innerInstructionsOf(meta: TransactionMetadata): InnerInstructions[] {
  const all = meta.innerInstructions().map((inner, index) => ({
    index,
    instructions: inner.map((each) => {
      const instruction = each.instruction()
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: instruction.data(),
        stackHeight: each.stackHeight(),
      }
    }),
  }))
  return all.filter(({ instructions }) => instructions.length > 0)
}

/** Source: solana-fee-structure, FeeStructure::default. */
const lamportsPerSignature = 5000n
/** Source: agave, program-runtime/src/execution_budget.rs. */
const largestUnits = 1_400_000n
const unitsOfProgram = 200_000n
const unitsOfBuiltin = 3_000n
const builtins: readonly string[] = [COMPUTE_BUDGET_PROGRAM_ADDRESS, SYSTEM_PROGRAM_ADDRESS]

/** What the fee payer pays, in lamports, whatever becomes of the transaction once it is in a block. */
export function feeOf(message: Message): bigint {
  const { units, microLamports } = computeBudgetOf(message)
  return BigInt(message.header.numSignerAccounts) * lamportsPerSignature + (units * microLamports + 999_999n) / 1_000_000n
}

/** The limit of compute units and what each of them pays for priority. */
export function computeBudgetOf({ instructions, staticAccounts }: Message): { units: bigint; microLamports: bigint } {
  let limit: bigint | undefined
  let microLamports = 0n
  let units = 0n
  for (const { programAddressIndex, data: given } of instructions) {
    const programAddress = staticAccounts[programAddressIndex] ?? ''
    units += builtins.includes(programAddress) ? unitsOfBuiltin : unitsOfProgram
    if (programAddress !== COMPUTE_BUDGET_PROGRAM_ADDRESS) continue
    const data = Uint8Array.from(given ?? [])
    const instruction = { programAddress: COMPUTE_BUDGET_PROGRAM_ADDRESS, data }
    const kind = identifyComputeBudgetInstruction(instruction)
    if (kind === ComputeBudgetInstruction.SetComputeUnitLimit) limit = BigInt(parseSetComputeUnitLimitInstruction(instruction).data.units)
    if (kind === ComputeBudgetInstruction.SetComputeUnitPrice) ({ microLamports } = parseSetComputeUnitPriceInstruction(instruction).data)
  }
  const wanted = limit ?? units
  return { units: wanted < largestUnits ? wanted : largestUnits, microLamports }
}
