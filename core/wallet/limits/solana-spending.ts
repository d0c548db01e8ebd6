// What a message of Solana that the policy allows may give away. Transfers are in none but of lamports that the wallet wraps for itself, and a tip; rights over
// tokens are given to new accounts alone, for programs of contained plugins.
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from '@solana-program/compute-budget'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { isAdvanceNonce, memoProgram, priorityFeeOf, tipBy, wrappedBy, wrappedMint } from '../policy-solana.ts'
import { Refusal, type SolanaRules } from '../policy.ts'
import { callsContained, delegationsIn, rulesFor, tokenPrograms } from '../solana-contained.ts'
import { decodeMessage, type Instruction } from '../solana-message.ts'
import { allGas, gasOfTrades } from './counts.ts'

/** `lamports_per_signature` of agave's FeeStructure. */
const signatureLamports = 5_000n
/** What makes an account of the Token program exempt from rent: 165 bytes and 128 beside them, at 6,960 lamports. */
const tokenAccountLamports = 2_039_280n

/** @throws Refusal of a durable nonce: whoever has the bytes chooses when they are executed, so no window of time bounds them */
export function solanaSpending(
  bytes: Uint8Array,
  given: Pick<SolanaRules, 'contained' | 'shared' | 'tip'>,
): { readonly amounts: ReadonlyMap<string, bigint>; readonly unreadable?: string } {
  const { instructions, signers, feePayer } = decodeMessage(bytes)
  if (instructions.some((each) => isAdvanceNonce(each, feePayer)))
    throw new Refusal(
      `a transaction on a durable nonce may be executed at any time, so the limits of ${feePayer} in conf/limits.yml could not bound it: leave nonce out`,
      'INVALID_NONCE',
      { reason: 'durable nonce' },
    )
  const rules = rulesFor(instructions, given, { wallet: feePayer, newAccounts: signers.slice(1) })
  const ofBudget = instructions.filter(({ program }) => program === COMPUTE_BUDGET_PROGRAM_ADDRESS)
  const tips = instructions.map((each) => tipBy(each, feePayer, rules) ?? 0n)
  // A tip is a fee that is not the network's.
  const feeLamports = BigInt(signers.length) * signatureLamports + priorityFeeOf(ofBudget) + tips.reduce((sum, each) => sum + each, 0n)
  let lamports = 0n
  let unreadable: string | undefined
  for (const [index, instruction] of instructions.entries()) {
    const { program, accounts } = instruction
    // What is wrapped may be spent by any program that is called.
    lamports += (wrappedBy(instruction) ?? 0n) - (tips[index] ?? 0n)
    if (program === ASSOCIATED_TOKEN_PROGRAM_ADDRESS) {
      lamports += tokenAccountLamports
      if (accounts[5] !== TOKEN_PROGRAM_ADDRESS) unreadable = 'a new account of the program Token-2022, whose size its token says,'
    } else if (
      // A program of a contained plugin takes at most what is released for it.
      !rules.contained.has(program) &&
      ![COMPUTE_BUDGET_PROGRAM_ADDRESS, SYSTEM_PROGRAM_ADDRESS, ...tokenPrograms, memoProgram].some((each) => each === program)
    )
      unreadable = `an instruction of the program ${program}`
  }
  const released = callsContained(instructions, rules) ? delegationsIn(instructions, feePayer, signers[1] ?? feePayer) : []
  const amounts = new Map([
    ['native', lamports],
    [allGas, feeLamports],
    [gasOfTrades, feeLamports],
  ])
  for (const mint of new Set(released.map((each) => each.mint))) {
    const releasedRaw = released.reduce((sum, each) => (each.mint === mint ? sum + each.amountRaw : sum), 0n)
    // What is wrapped in the same transaction is counted above: once, from however many accounts wrapped SOL is released.
    const furtherRaw = mint === wrappedMint ? releasedRaw - lamportsWrapped(instructions, tips) : releasedRaw
    if (furtherRaw > 0n) amounts.set(`token ${mint}`, furtherRaw)
  }
  return { amounts, ...(unreadable !== undefined && { unreadable }) }
}

const lamportsWrapped = (instructions: readonly Instruction[], tips: readonly bigint[]): bigint =>
  instructions.reduce((sum, each, index) => sum + (wrappedBy(each) ?? 0n) - (tips[index] ?? 0n), 0n)
