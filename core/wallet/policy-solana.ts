import { sign, type KeyObject } from 'node:crypto'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataCodec,
  getSetComputeUnitPriceInstructionDataCodec,
  SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR,
  SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR,
} from '@solana-program/compute-budget'
import { getAdvanceNonceAccountInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getCreateAssociatedTokenInstruction,
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import {
  address,
  createNoopSigner,
  type Instruction as Built,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
} from '@solana/kit'
import { Refusal, type SolanaRules } from './policy.ts'
import type { SignRequest } from './signer-messages.ts'

interface Wallet {
  readonly key: KeyObject
  /** As its file has it: the request's may differ in the case of letters, and be another's. */
  readonly address: string
}

/** @returns the signature: 64 bytes. @throws Refusal */
export function signMessage({ key, address }: Wallet, { draft }: SignRequest, rules: SolanaRules): Uint8Array {
  if (draft.scheme !== 'ed25519') throw new Refusal(`${rules.name} has messages of Solana, and what is to be signed is none`)
  checkMessage(draft.bytes, address, rules)
  return new Uint8Array(sign(null, draft.bytes, key))
}

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
  const kept = forbiddenPrograms.get(program)
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

export const systemProgram: string = SYSTEM_PROGRAM_ADDRESS
export const computeBudgetProgram: string = COMPUTE_BUDGET_PROGRAM_ADDRESS
export const associatedTokenProgram: string = ASSOCIATED_TOKEN_PROGRAM_ADDRESS
/** MEMO_PROGRAM_ADDRESS of @solana-program/memo. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
/** The second is TOKEN_2022_PROGRAM_ADDRESS of @solana-program/token-2022. */
export const tokenPrograms: readonly string[] = [TOKEN_PROGRAM_ADDRESS, 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb']

/**
 * Programs that hold tokens, stakes or code of a wallet and obey its signature alone: a connector that declares one of them
 * opens nothing. The addresses are those of the crate solana-sdk-ids.
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

/** MAX_COMPUTE_UNIT_LIMIT of agave's compute-budget: what a transaction may use at most, and so what one without a limit may pay for. */
const mostUnits = 1_400_000n
const microLamportsPerLamport = 1_000_000n

/**
 * What these instructions of the Compute Budget program offer on top of the fee for the signature, in lamports, rounded up as the
 * runtime does.
 * @throws Refusal for any that is not a limit or a price, each once
 */
export function priorityFeeOf(instructions: readonly Instruction[]): bigint {
  const limits: bigint[] = []
  const prices: bigint[] = []
  for (const { data, accounts } of instructions) {
    if (accounts.length > 0) throw new Refusal('an instruction of the Compute Budget program names accounts, and it takes none')
    if (data[0] === SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR)
      limits.push(BigInt(read(getSetComputeUnitLimitInstructionDataCodec(), data).units))
    else if (data[0] === SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR)
      prices.push(BigInt(read(getSetComputeUnitPriceInstructionDataCodec(), data).microLamports))
    else throw new Refusal('of the Compute Budget program only the limit and the price of units are signed')
  }
  if (limits.length > 1 || prices.length > 1) throw new Refusal('the transaction sets the limit or the price of its units twice')
  const [limit = mostUnits] = limits
  const [price = 0n] = prices
  return (limit * price + microLamportsPerLamport - 1n) / microLamportsPerLamport
}

interface DataCodec<T> {
  decode(data: Uint8Array): T
  encode(value: T): ArrayLike<number>
}

function read<T>(codec: DataCodec<T>, data: Uint8Array): T {
  let value: T
  try {
    value = codec.decode(data)
  } catch {
    throw malformed()
  }
  if (!sameBytes(codec.encode(value), data)) throw malformed()
  return value
}

const malformed = (): Refusal => new Refusal('the data of a Compute Budget instruction is malformed')

/** What a transaction's message says, with addresses in the place of indices. */
export interface Message {
  readonly signerCount: number
  readonly feePayer: string
  readonly instructions: readonly Instruction[]
}

export interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

type Compiled = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime

/**
 * Reads the bytes of a message, legacy or version 0, all of whose accounts are in the bytes themselves.
 * @throws Refusal
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const compiled = decode(bytes)
  const { version, header } = compiled
  if (version !== 'legacy' && version !== 0)
    throw new Refusal(`messages of version ${version} are not signed, only legacy ones and version 0`)
  if ('addressTableLookups' in compiled && (compiled.addressTableLookups?.length ?? 0) > 0)
    throw new Refusal('the message takes accounts from a lookup table, so that its bytes do not say which')
  checkCanonical(compiled, bytes)

  const { staticAccounts } = compiled
  if (new Set(staticAccounts).size !== staticAccounts.length) throw new Refusal('the message names an account twice')
  const account = (index: number): string => {
    const found = staticAccounts[index]
    if (found === undefined) throw new Refusal('an instruction names an account that the message does not have')
    return found
  }
  if (header.numReadonlySignerAccounts >= header.numSignerAccounts) throw new Refusal('the message has nobody who signs and may be charged')
  return {
    signerCount: header.numSignerAccounts,
    feePayer: account(0),
    instructions: compiled.instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
      program: account(programAddressIndex),
      accounts: accountIndices.map(account),
      data: Uint8Array.from(data),
    })),
  }
}

function decode(bytes: Uint8Array): Compiled {
  try {
    return getCompiledTransactionMessageDecoder().decode(bytes)
  } catch {
    throw new Refusal('the bytes are not the message of a transaction')
  }
}

/** One meaning per byte string: what is signed must be exactly what was looked at. */
function checkCanonical(compiled: Compiled, bytes: Uint8Array): void {
  let canonical: ArrayLike<number>
  try {
    canonical = getCompiledTransactionMessageEncoder().encode(compiled)
  } catch {
    throw new Refusal('the message contradicts itself')
  }
  if (!sameBytes(canonical, bytes)) throw new Refusal('the bytes are not in the canonical encoding')
}

export const sameBytes = (a: ArrayLike<number>, b: ArrayLike<number>): boolean => Buffer.from(Uint8Array.from(a)).equals(Uint8Array.from(b))
