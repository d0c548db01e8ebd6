// How the signer signs for programs of plugins that are contained: without the wallet's signature. A program of Solana that gets that has all that the
// wallet has. So these get the signature of a new account, which the wallet lets take an exact amount of a token within the same transaction.
// @solana/kit is large, so this module is imported with the first request for a key of ed25519.
import { address, createNoopSigner } from '@solana/kit'
import {
  APPROVE_CHECKED_DISCRIMINATOR,
  TOKEN_PROGRAM_ADDRESS,
  getApproveCheckedInstruction,
  getApproveCheckedInstructionDataDecoder,
  getRevokeInstruction,
} from '@solana-program/token'
import { Refusal, type SolanaRules } from './policy.ts'
import { fromTable, isSame, type Instruction } from './solana-message.ts'

/** The second is TOKEN_2022_PROGRAM_ADDRESS of @solana-program/token-2022. */
export const tokenPrograms: readonly string[] = [TOKEN_PROGRAM_ADDRESS, 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb']

interface Wallet {
  readonly wallet: string
  readonly rules: Pick<SolanaRules, 'contained' | 'contracts' | 'name'>
  /** Those whose keys this signer makes, in the order of the message. */
  readonly newAccounts: readonly string[]
  /** Programs that nobody can declare: each of their instructions is judged by itself. */
  readonly closed: ReadonlySet<string>
}

/** An amount that a new account may take from an account of the wallet. */
export interface Delegation {
  readonly account: string
  readonly mint: string
  readonly amountRaw: bigint
}

/**
 * A program that a contained plugin and another one declare counts as contained in a message that lets its new account take tokens. Nothing is lost by
 * that: the same program may be called with the wallet's signature, by which it could take more.
 */
export function rulesFor<R extends Pick<SolanaRules, 'contained' | 'shared'>>(
  instructions: readonly Instruction[],
  rules: R,
  { wallet, newAccounts }: Pick<Wallet, 'wallet' | 'newAccounts'>,
): R {
  const [delegate] = newAccounts
  if (delegate === undefined || !rules.shared || rules.shared.size === 0) return rules
  if (delegationsIn(instructions, wallet, delegate).length === 0) return rules
  return { ...rules, contained: new Set([...rules.contained, ...rules.shared]) }
}

/** Whether a program of a contained plugin is called. */
export const callsContained = (instructions: readonly Instruction[], { contained }: Pick<SolanaRules, 'contained'>): boolean =>
  instructions.some(({ program }) => contained.has(program))

/**
 * Checks the instructions of programs of contained plugins, and those that let their new account take tokens and end that.
 * @returns those that it allows; the others are checked as in any transaction
 * @throws Refusal
 */
export function checkContained(instructions: readonly Instruction[], of: Wallet): ReadonlySet<Instruction> {
  const { wallet, rules, newAccounts, closed } = of
  if (!callsContained(instructions, rules)) return new Set()
  const [delegate, ...others] = newAccounts
  if (delegate === undefined || others.length > 0)
    throw new Refusal('a program of a contained plugin is called with the signature of one new account, and of no other')
  const calls = instructions.filter(({ program }) => rules.contracts.has(program))
  for (const { program, accounts } of calls) {
    if (closed.has(program)) throw new Refusal(`instructions of the program ${program} are not signed for a plugin, whoever declares it`)
    if (!rules.contained.has(program))
      throw new Refusal(`the program ${program} gets the wallet's signature, so it is not called beside one of a contained plugin`)
    if (accounts.includes(wallet))
      throw new Refusal(`the program ${program} is a contained plugin's, and would get the signature of the wallet, with all that it has`)
  }
  const [first, last] = [calls[0], calls.at(-1)].map((each) => (each ? instructions.indexOf(each) : -1))
  const own = new Set(calls)
  const open = new Map<string, number>()
  for (const [index, instruction] of instructions.entries()) {
    const delegation = readDelegation(instruction, wallet, delegate)
    if (delegation) {
      if (index > (first ?? 0)) throw new Refusal('an amount is released behind the call that it is for')
      if (delegation.amountRaw === unlimitedRaw)
        throw new Refusal(`a right over the account ${delegation.account} without a limit is not given to a contained plugin's program`)
      if (open.has(delegation.account)) throw new Refusal(`an amount of the account ${delegation.account} is released twice`)
      open.set(delegation.account, index)
      own.add(instruction)
    } else if (isRevocation(instruction, wallet)) {
      if (index > (last ?? 0)) open.delete(instruction.accounts[0] ?? '')
      own.add(instruction)
    }
  }
  const [left] = open.keys()
  if (left !== undefined) throw new Refusal(`the right over the account ${left} is not taken back behind the last call`)
  return own
}

/** What the instruction lets the new account take; undefined for any other instruction. */
function readDelegation(instruction: Instruction, wallet: string, delegate: string): Delegation | undefined {
  const { program, accounts, data } = instruction
  const [account, mint] = accounts
  if (!tokenPrograms.includes(program) || data[0] !== APPROVE_CHECKED_DISCRIMINATOR || data.length !== approvalBytes) return undefined
  if (account === undefined || mint === undefined || accounts.includes(fromTable)) return undefined
  const { amount, decimals } = getApproveCheckedInstructionDataDecoder().decode(data)
  const built = getApproveCheckedInstruction(
    {
      source: address(account),
      mint: address(mint),
      delegate: address(delegate),
      owner: createNoopSigner(address(wallet)),
      amount,
      decimals,
    },
    { programAddress: address(program) },
  )
  return isSame(instruction, built) ? { account, mint, amountRaw: amount } : undefined
}

const unlimitedRaw = 2n ** 64n - 1n
/** A discriminator, a u64 and the decimals. */
const approvalBytes = 10

function isRevocation(instruction: Instruction, wallet: string): boolean {
  const { program, accounts } = instruction
  const [account] = accounts
  if (!tokenPrograms.includes(program) || account === undefined || accounts.includes(fromTable)) return false
  const own = { source: address(account), owner: createNoopSigner(address(wallet)) }
  return isSame(instruction, getRevokeInstruction(own, { programAddress: address(program) }))
}

/** What a message lets new accounts take from the wallet. To be asked for of a message that the policy allows. */
export const delegationsIn = (instructions: readonly Instruction[], wallet: string, delegate: string): readonly Delegation[] =>
  instructions.flatMap((each) => readDelegation(each, wallet, delegate) ?? [])
