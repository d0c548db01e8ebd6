import { address, createNoopSigner, type Instruction as Built } from '@solana/kit'
import { getAdvanceNonceAccountInstruction } from '@solana-program/system'
import { getCreateAssociatedTokenIdempotentInstruction, getCreateAssociatedTokenInstruction } from '@solana-program/token'
import { Refusal } from '../refusal.ts'
import type { SolanaRules } from '../../policy.ts'
import type { Instruction } from './decode-message.ts'
import { associatedTokenProgram, memoProgram, neverDeclared, systemProgram, tokenPrograms } from './programs.ts'
import { sameBytes } from './same-bytes.ts'

interface Context {
  readonly wallet: string
  readonly rules: SolanaRules
  /** Of all the message's instructions. */
  readonly isFirst: boolean
}

/**
 * Decides on one instruction (those of the Compute Budget program are judged by what they cost).
 * What a declared program does with the wallet's signature, the signer cannot know.
 * @throws Refusal
 */
export function checkInstruction(instruction: Instruction, { wallet, rules, isFirst }: Context): void {
  const { program, accounts } = instruction
  if (program === systemProgram) {
    if (isFirst && isAdvanceNonce(instruction, wallet)) return
    throw new Refusal(
      "of the System program only the advance of a durable nonce of the wallet's own is signed, as the first instruction; no transfer",
    )
  }
  if (program === associatedTokenProgram) {
    if (isOwnTokenAccount(instruction, wallet)) return
    throw new Refusal(
      'of the Associated Token Account program only the creation of an account for the wallet itself, at its own cost, is signed',
    )
  }
  if (program === memoProgram) {
    if (accounts.every((each) => each === wallet)) return
    throw new Refusal('a memo names another account than the wallet')
  }
  const kept = neverDeclared.get(program)
  if (kept !== undefined) throw new Refusal(`instructions of the ${kept} program are not signed, whoever declares it`)
  if (!rules.contracts.has(program)) throw new Refusal(`${program} is no program that a connector declares on ${rules.name}`)
}

/** Whether an instruction is, to the byte, one that the program's own package would build for this wallet. */
function isAdvanceNonce(instruction: Instruction, wallet: string): boolean {
  const [nonceAccount] = instruction.accounts
  if (nonceAccount === undefined) return false
  return isSame(
    instruction,
    getAdvanceNonceAccountInstruction({ nonceAccount: address(nonceAccount), nonceAuthority: createNoopSigner(address(wallet)) }),
  )
}

function isOwnTokenAccount(instruction: Instruction, wallet: string): boolean {
  const [, ata, , mint, , tokenProgram] = instruction.accounts
  if (ata === undefined || mint === undefined || tokenProgram === undefined || !tokenPrograms.includes(tokenProgram)) return false
  const own = {
    payer: createNoopSigner(address(wallet)),
    owner: address(wallet),
    ata: address(ata),
    mint: address(mint),
    tokenProgram: address(tokenProgram),
  }
  return [getCreateAssociatedTokenInstruction(own), getCreateAssociatedTokenIdempotentInstruction(own)].some((each) =>
    isSame(instruction, each),
  )
}

const isSame = ({ program, accounts, data }: Instruction, built: Built): boolean =>
  program === built.programAddress &&
  sameBytes(data, built.data ?? []) &&
  accounts.length === built.accounts?.length &&
  built.accounts.every((each, index) => each.address === accounts[index])
