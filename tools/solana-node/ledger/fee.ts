import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  ComputeBudgetInstruction,
  identifyComputeBudgetInstruction,
  parseSetComputeUnitLimitInstruction,
  parseSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import type { Message } from './read-wire.ts'

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
