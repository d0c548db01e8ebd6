import { computeBudgetProgram } from './programs.ts'
import { Refusal } from '../refusal.ts'
import type { SolanaRules } from '../../policy.ts'
import { checkInstruction } from './check-instruction.ts'
import { decodeMessage } from './decode-message.ts'
import { priorityFeeOf } from './priority-fee.ts'

/**
 * Decides whether the message of a transaction may be signed, from its bytes alone: the wallet pays and is the only one to
 * sign, every instruction is one of a closed list, and the priority fee is within the network's cap.
 * @throws Refusal
 */
export function checkMessage(bytes: Uint8Array, wallet: string, rules: SolanaRules): void {
  const { signerCount, feePayer, instructions } = decodeMessage(bytes)
  if (feePayer !== wallet) throw new Refusal(`the transaction's fee is paid by ${feePayer}, not by the wallet ${wallet}`)
  if (signerCount !== 1)
    throw new Refusal(`the transaction needs ${signerCount} signatures; only those are signed that the wallet signs alone`)

  const [budget, others] = [true, false].map((wanted) =>
    instructions.filter(({ program }) => (program === computeBudgetProgram) === wanted),
  )
  const feeLamports = priorityFeeOf(budget ?? [])
  if (feeLamports > rules.feeCapRaw)
    throw new Refusal(
      `the transaction may pay a priority fee of ${feeLamports} lamports, and the fee cap of ${rules.name} is ${rules.feeCapRaw} lamports`,
    )
  for (const instruction of others ?? []) checkInstruction(instruction, { wallet, rules, isFirst: instruction === instructions[0] })
}
