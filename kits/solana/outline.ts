// What the instructions of a step do by themselves, whatever the plan says of it.
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { APPROVE_CHECKED_DISCRIMINATOR, ASSOCIATED_TOKEN_PROGRAM_ADDRESS, REVOKE_DISCRIMINATOR } from '@solana-program/token'
import type { Outline } from '../../core/contracts/index.ts'
import { tokenAccountOf } from './addresses.ts'
import { memoProgram } from './lookup-tables.ts'
import { wrappedMint } from './swap-accounts.ts'
import { tokenProgram, tokenPrograms } from './tokens.ts'
import type { SolanaInstruction, SolanaIntent } from './types.ts'

/**
 * For the check of a plan: the programs that it calls, without the instructions that wrap SOL, make accounts for the wallet itself, and let a new
 * account of it take an amount. These the signer reads one by one, and no connector declares their programs.
 */
export function outlineOf(step: SolanaIntent): Outline {
  const { payer, instructions, signers = [] } = step
  const called = instructions.filter((each) => !isOfOwnAccounts(each, payer) && !isOfDelegation(each, payer, signers))
  return { contracts: called.map(({ program }) => program), ...lamportsOf(step) }
}

/** What the step sends, and what accounts that it makes keep: what the plan says, or its instructions where they move more. */
export function lamportsOf({ instructions, value, rent }: Pick<SolanaIntent, 'instructions' | 'value' | 'rent'>): {
  valueRaw: bigint
  rentRaw: bigint
} {
  let [sentRaw, keptRaw] = [0n, 0n]
  for (const instruction of instructions) {
    const [kind, lamportsRaw] = movedBy(instruction)
    if (kind === transferSol) sentRaw += lamportsRaw
    else keptRaw += lamportsRaw
  }
  return { valueRaw: larger(BigInt(value), sentRaw), rentRaw: larger(BigInt(rent), keptRaw) }
}

const larger = (one: bigint, other: bigint) => (one > other ? one : other)

/** Of the System program: its number, and the lamports in u64 behind it. solana-system-interface, instruction.rs */
const [createAccount, transferSol] = [0, 2]

function movedBy({ program, data }: SolanaInstruction): readonly [kind: number | undefined, lamportsRaw: bigint] {
  const bytes = program === SYSTEM_PROGRAM_ADDRESS ? Buffer.from(data, 'base64') : undefined
  if (!bytes || bytes.length < 12) return [undefined, 0n]
  const kind = bytes.readUInt32LE(0)
  return [kind, kind === transferSol || kind === createAccount ? bytes.readBigUInt64LE(4) : 0n]
}

/** Of the Token program: CloseAccount and SyncNative. */
const ofWrapped: readonly string[] = [9, 17].map((kind) => Buffer.of(kind).toString('base64'))

/** Whether an instruction wraps SOL for the wallet, unwraps it, or makes an account of the wallet. */
export function isOfOwnAccounts(instruction: SolanaInstruction, wallet: string): boolean {
  const { program, accounts, data } = instruction
  switch (program) {
    case ASSOCIATED_TOKEN_PROGRAM_ADDRESS:
    case memoProgram:
      return true
    case tokenProgram:
      return ofWrapped.includes(data) && accounts[0]?.address === tokenAccountOf(wallet, wrappedMint)
    case SYSTEM_PROGRAM_ADDRESS:
      return movedBy(instruction)[0] === transferSol && accounts[1]?.address === tokenAccountOf(wallet, wrappedMint)
    default:
      return false
  }
}

/** Whether an instruction is one of those that stand around a contained plugin's: what a new account may take, and that it may not any more. */
function isOfDelegation({ program, accounts, data }: SolanaInstruction, wallet: string, signers: readonly string[]): boolean {
  if (!tokenPrograms.includes(program)) return false
  const [kind] = Buffer.from(data, 'base64')
  if (kind === REVOKE_DISCRIMINATOR) return accounts.length === 2 && accounts[1]?.address === wallet
  return kind === APPROVE_CHECKED_DISCRIMINATOR && signers.includes(accounts[2]?.address ?? '') && accounts[3]?.address === wallet
}
