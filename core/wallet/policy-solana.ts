// @solana/kit is large, so this module is imported with the first request for a key of ed25519.
import {
  address,
  createNoopSigner,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  type Instruction as BuiltInstruction,
} from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR,
  SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR,
  getSetComputeUnitLimitInstructionDataCodec,
  getSetComputeUnitPriceInstructionDataCodec,
} from '@solana-program/compute-budget'
import { SYSTEM_PROGRAM_ADDRESS, getAdvanceNonceAccountInstruction } from '@solana-program/system'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
  getCreateAssociatedTokenIdempotentInstruction,
  getCreateAssociatedTokenInstruction,
} from '@solana-program/token'
import { isWellKnown } from '../keys/curves.ts'
import { Refusal, type SolanaRules } from './policy.ts'
import type { SignRequest } from './signer-messages.ts'

/**
 * Checks a request for a network of Solana.
 * @param wallet as its source spells it: the address of the request may differ in letter case, and then be another's
 * @returns the message to sign. @throws Refusal
 */
export function checkSolanaRequest({ draft }: SignRequest, wallet: string, rules: SolanaRules): Uint8Array {
  if (!rules.local && isWellKnown(wallet))
    throw new Refusal(
      `everybody has the key of ${wallet} (it is a wallet of the devnet), so it signs on a devnet only, not on ${rules.name}`,
    )
  if (draft.scheme !== 'ed25519') throw new Refusal(`${rules.name} expects a message of Solana`)
  checkMessage(draft.bytes, wallet, rules)
  return draft.bytes
}

/**
 * Decides whether the message of a transaction may be signed, from its bytes alone: the wallet pays and is the only signer, every
 * instruction is one of a closed list, and the priority fee is within the network's cap.
 * @throws Refusal
 */
export function checkMessage(bytes: Uint8Array, wallet: string, rules: SolanaRules): void {
  const { signerCount, feePayer, instructions } = decodeMessage(bytes)
  if (feePayer !== wallet) throw new Refusal(`the transaction's fee is paid by ${feePayer}, not by the wallet ${wallet}`)
  if (signerCount !== 1)
    throw new Refusal(`the transaction needs ${signerCount} signatures; the wallet signs only transactions that it signs alone`)
  const isBudget = ({ program }: Instruction): boolean => program === COMPUTE_BUDGET_PROGRAM_ADDRESS
  const feeLamports = priorityFeeOf(instructions.filter(isBudget))
  if (feeLamports > rules.feeCapRaw)
    throw new Refusal(
      `the transaction may pay a priority fee of ${feeLamports} lamports, and the fee cap of ${rules.name} is ${rules.feeCapRaw} lamports`,
    )
  for (const [index, instruction] of instructions.entries())
    if (!isBudget(instruction)) checkInstruction(instruction, { wallet, rules, isFirst: index === 0 })
}

/** MEMO_PROGRAM_ADDRESS of @solana-program/memo. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
/** The second is TOKEN_2022_PROGRAM_ADDRESS of @solana-program/token-2022. */
export const tokenPrograms: readonly string[] = [TOKEN_PROGRAM_ADDRESS, 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb']

/**
 * Programs that hold tokens, stakes or code of a wallet and obey its signature alone. Their instructions are refused even where a
 * connector declares the program. The addresses are those of the crate solana-sdk-ids.
 */
export const forbiddenPrograms: ReadonlyMap<string, string> = new Map([
  ...tokenPrograms.map((each) => [each, 'Token'] as const),
  ['Stake11111111111111111111111111111111111111', 'Stake'],
  ['Vote111111111111111111111111111111111111111', 'Vote'],
  ['Config1111111111111111111111111111111111111', 'Config'],
  ['AddressLookupTab1e1111111111111111111111111', 'Address Lookup Table'],
  ['NativeLoader1111111111111111111111111111111', 'Native Loader'],
  ['BPFLoader1111111111111111111111111111111111', 'BPF Loader'],
  ['BPFLoader2111111111111111111111111111111111', 'BPF Loader'],
  ['BPFLoaderUpgradeab1e11111111111111111111111', 'BPF Loader'],
  ['LoaderV411111111111111111111111111111111111', 'Loader v4'],
])

interface InstructionContext {
  readonly wallet: string
  readonly rules: SolanaRules
  /** Whether it is the first of all instructions of the message. */
  readonly isFirst: boolean
}

/**
 * Decides on one instruction. Those of the Compute Budget program are judged by their cost instead.
 * The signer cannot know what a declared program does with the wallet's signature.
 * @throws Refusal
 */
function checkInstruction(instruction: Instruction, { wallet, rules, isFirst }: InstructionContext): void {
  const { program, accounts } = instruction
  if (accounts.includes(fromTable) && [SYSTEM_PROGRAM_ADDRESS, ASSOCIATED_TOKEN_PROGRAM_ADDRESS, memoProgram].includes(program))
    throw new Refusal(`an instruction of the program ${program} takes an account from a lookup table, so the bytes do not say which it is`)
  if (program === SYSTEM_PROGRAM_ADDRESS) {
    if (isFirst && isAdvanceNonce(instruction, wallet)) return
    throw new Refusal(
      "of the System program only the advance of the wallet's own durable nonce is signed, as the first instruction; no transfer",
    )
  }
  if (program === ASSOCIATED_TOKEN_PROGRAM_ADDRESS) {
    if (isOwnTokenAccount(instruction, wallet)) return
    throw new Refusal(
      'of the Associated Token Account program only the creation of an account for the wallet itself, at its own cost, is signed',
    )
  }
  if (program === memoProgram) {
    if (accounts.every((each) => each === wallet)) return
    throw new Refusal('a memo names another account than the wallet')
  }
  const forbidden = forbiddenPrograms.get(program)
  if (forbidden !== undefined) throw new Refusal(`instructions of the ${forbidden} program are not signed, whoever declares it`)
  if (!rules.contracts.has(program)) throw new Refusal(`no connector declares the program ${program} on ${rules.name}`)
}

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

/** Whether an instruction equals, to the byte, the one that the program's own package builds. */
const isSame = ({ program, accounts, data }: Instruction, built: BuiltInstruction): boolean =>
  program === built.programAddress &&
  sameBytes(data, built.data ?? []) &&
  accounts.length === built.accounts?.length &&
  built.accounts.every((each, index) => each.address === accounts[index])

/** MAX_COMPUTE_UNIT_LIMIT of agave's compute-budget: a transaction without a limit may use, and pay for, so many units. */
const maxComputeUnits = 1_400_000n
const microLamportsPerLamport = 1_000_000n

/**
 * The priority fee that instructions of the Compute Budget program offer, on top of the fee for the signature.
 * @returns lamports, rounded up as the runtime does
 * @throws Refusal for any other instruction than one limit and one price
 */
export function priorityFeeOf(instructions: readonly Instruction[]): bigint {
  const limits: bigint[] = []
  const prices: bigint[] = []
  for (const { data, accounts } of instructions) {
    if (accounts.length > 0) throw new Refusal('an instruction of the Compute Budget program names accounts, and it takes none')
    if (data[0] === SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR)
      limits.push(BigInt(readData(getSetComputeUnitLimitInstructionDataCodec(), data).units))
    else if (data[0] === SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR)
      prices.push(BigInt(readData(getSetComputeUnitPriceInstructionDataCodec(), data).microLamports))
    else throw new Refusal('of the Compute Budget program only the limit and the price of units are signed')
  }
  if (limits.length > 1 || prices.length > 1) throw new Refusal('the transaction sets the limit or the price of its units twice')
  const [limit = maxComputeUnits] = limits
  const [price = 0n] = prices
  return (limit * price + microLamportsPerLamport - 1n) / microLamportsPerLamport
}

interface DataCodec<T> {
  decode(data: Uint8Array): T
  encode(value: T): ArrayLike<number>
}

function readData<T>(codec: DataCodec<T>, data: Uint8Array): T {
  let value: T | undefined
  try {
    value = codec.decode(data)
  } catch {
    // The check below refuses it.
  }
  if (value === undefined || !sameBytes(codec.encode(value), data))
    throw new Refusal('the data of a Compute Budget instruction is malformed')
  return value
}

/** The message of a transaction, with addresses in the place of indices. */
interface Message {
  readonly signerCount: number
  readonly feePayer: string
  readonly instructions: readonly Instruction[]
}

interface Instruction {
  readonly program: string
  /** `fromTable` in the place of those that the bytes do not say. */
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

type CompiledMessage = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime

/** Stands for an account that the message takes from a lookup table: no address. */
export const fromTable = 'an account of a lookup table'

/** How many accounts come from lookup tables. Those that sign, and programs, cannot. */
function countLoaded(compiled: CompiledMessage): number {
  const lookups = 'addressTableLookups' in compiled ? (compiled.addressTableLookups ?? []) : []
  const tables = lookups.map((each) => each.lookupTableAddress)
  if (new Set(tables).size !== tables.length) throw new Refusal('the message names a lookup table twice')
  const counts = lookups.map(({ writableIndexes, readonlyIndexes }) => writableIndexes.length + readonlyIndexes.length)
  if (counts.includes(0)) throw new Refusal('the message names a lookup table from which it takes no account')
  return counts.reduce((sum, count) => sum + count, 0)
}

/**
 * Reads the bytes of a message, legacy or version 0.
 * @throws Refusal
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const compiled = decode(bytes)
  const { version, header, staticAccounts } = compiled
  if (version !== 'legacy' && version !== 0)
    throw new Refusal(`messages of version ${version} are not signed, only legacy ones and version 0`)
  checkCanonical(compiled, bytes)
  const loadedCount = countLoaded(compiled)

  if (new Set(staticAccounts).size !== staticAccounts.length) throw new Refusal('the message names an account twice')
  const account = (index: number): string => {
    const found = staticAccounts[index]
    if (found === undefined) throw new Refusal('an instruction names an account that the message does not have')
    return found
  }
  const isLoaded = (index: number) => index >= staticAccounts.length && index < staticAccounts.length + loadedCount
  if (header.numReadonlySignerAccounts >= header.numSignerAccounts)
    throw new Refusal('the message has no writable signer that could pay the fee')
  return {
    signerCount: header.numSignerAccounts,
    feePayer: account(0),
    instructions: compiled.instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
      program: account(programAddressIndex),
      accounts: accountIndices.map((index) => (isLoaded(index) ? fromTable : account(index))),
      data: Uint8Array.from(data),
    })),
  }
}

function decode(bytes: Uint8Array): CompiledMessage {
  try {
    return getCompiledTransactionMessageDecoder().decode(bytes)
  } catch {
    throw new Refusal('the bytes are not the message of a transaction')
  }
}

/** A second encoding of the same message is refused: the signer signs exactly the bytes that it has checked. */
function checkCanonical(compiled: CompiledMessage, bytes: Uint8Array): void {
  let canonical: ArrayLike<number>
  try {
    canonical = getCompiledTransactionMessageEncoder().encode(compiled)
  } catch {
    throw new Refusal('the message contradicts itself')
  }
  if (!sameBytes(canonical, bytes)) throw new Refusal('the bytes are not in the canonical encoding')
}

const sameBytes = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => Buffer.from(Uint8Array.from(a)).equals(Uint8Array.from(b))
