// @solana/kit is large, so this module is imported with the first request for a key of ed25519.
import { address, createNoopSigner } from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR,
  SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR,
  getSetComputeUnitLimitInstructionDataCodec,
  getSetComputeUnitPriceInstructionDataCodec,
} from '@solana-program/compute-budget'
import {
  SYSTEM_PROGRAM_ADDRESS,
  getAdvanceNonceAccountInstruction,
  getTransferSolInstruction,
  getTransferSolInstructionDataDecoder,
  TRANSFER_SOL_DISCRIMINATOR,
} from '@solana-program/system'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
  getCreateAssociatedTokenIdempotentInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenInstruction,
  getSyncNativeInstruction,
} from '@solana-program/token'
import { isWellKnown } from '../keys/curves.ts'
import { Refusal, type SolanaRules } from './policy.ts'
import type { SignRequest } from './signer-messages.ts'
import { checkContained, rulesFor, tokenPrograms } from './solana-contained.ts'
import { decodeMessage, fromTable, isSame, sameBytes, type Instruction } from './solana-message.ts'

/**
 * Checks a request for a network of Solana.
 * @param wallet as its source spells it: the address of the request may differ in letter case, and then be another's
 * @param newAccounts those whose keys this signer makes, in the order in which the message names them
 * @param tries plugins run that nobody has allowed: keys that everybody knows sign for them on a local network
 * @returns the message to sign. @throws Refusal
 */
export function checkSolanaRequest(
  { draft }: SignRequest,
  wallet: string,
  rules: SolanaRules,
  newAccounts: readonly string[] = [],
  tries = false,
): Uint8Array {
  if (!rules.local && isWellKnown(wallet))
    throw new Refusal(
      `everybody has the key of ${wallet} (it is a wallet of the devnet), so it signs on a devnet only, not on ${rules.name}`,
    )
  if (draft.scheme !== 'ed25519') throw new Refusal(`${rules.name} expects a message of Solana`)
  const isTried = tries && rules.local && isWellKnown(wallet)
  checkMessage(draft.bytes, wallet, isTried ? withTried(rules, draft.bytes) : rules, newAccounts)
  return draft.bytes
}

/** With the programs of a message that no file describes, as those of contained plugins. */
function withTried(rules: SolanaRules, bytes: Uint8Array): SolanaRules {
  const strange = decodeMessage(bytes)
    .instructions.map(({ program }) => program)
    .filter((each) => !rules.contracts.has(each) && !closed.has(each))
  return { ...rules, contracts: new Set([...rules.contracts, ...strange]), contained: new Set([...rules.contained, ...strange]) }
}

/**
 * Decides whether the message of a transaction may be signed, from its bytes alone: the wallet pays and nobody signs beside it but
 * new accounts of its own, every instruction is one of a closed list, programs of contained plugins get no signature of the wallet, and the
 * priority fee is within the network's cap.
 * @throws Refusal
 */
export function checkMessage(bytes: Uint8Array, wallet: string, given: SolanaRules, newAccounts: readonly string[] = []): void {
  const { signers, feePayer, instructions } = decodeMessage(bytes)
  const rules = rulesFor(instructions, given, { wallet, newAccounts })
  if (feePayer !== wallet) throw new Refusal(`the transaction's fee is paid by ${feePayer}, not by the wallet ${wallet}`)
  const others = signers.slice(1)
  const isOwn = others.length === newAccounts.length && others.every((each, index) => each === newAccounts[index])
  if (!isOwn)
    throw new Refusal(
      `the transaction needs ${signers.length} signatures; the wallet signs only transactions that it signs alone, or with new accounts whose keys follow from its own`,
    )
  const isBudget = ({ program }: Instruction): boolean => program === COMPUTE_BUDGET_PROGRAM_ADDRESS
  const feeLamports = priorityFeeOf(instructions.filter(isBudget))
  if (feeLamports > rules.feeCapRaw)
    throw new Refusal(
      `the transaction may pay a priority fee of ${feeLamports} lamports, and the fee cap of ${rules.name} is ${rules.feeCapRaw} lamports`,
    )
  const [tip, ...further] = instructions.filter((each) => tipBy(each, wallet, rules) !== undefined)
  if (further.length > 0) throw new Refusal('the transaction gives a tip twice')
  const wrapped = new Set<string>()
  const ofContained = checkContained(instructions, { wallet, rules, newAccounts, closed })
  for (const [index, instruction] of instructions.entries()) {
    if (!isBudget(instruction) && instruction !== tip && !ofContained.has(instruction))
      checkInstruction(instruction, { wallet, rules, isFirst: index === 0, wrapped })
    for (const account of wrappedMadeBy(instruction)) wrapped.add(account)
  }
}

/** MEMO_PROGRAM_ADDRESS of @solana-program/memo. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

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

/** Each of their instructions is judged by itself. */
const closed: ReadonlySet<string> = new Set([
  ...forbiddenPrograms.keys(),
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  SYSTEM_PROGRAM_ADDRESS,
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  memoProgram,
])

interface InstructionContext {
  readonly wallet: string
  readonly rules: SolanaRules
  /** Whether it is the first of all instructions of the message. */
  readonly isFirst: boolean
  /**
   * The wallet's own accounts of wrapped SOL: an instruction before this one makes them where there are none. The Associated Token Account program
   * fails, and the transaction with it, where one is not the wallet's.
   */
  readonly wrapped: ReadonlySet<string>
}

/**
 * Decides on one instruction. Those of the Compute Budget program are judged by their cost instead.
 * The signer cannot know what a declared program does with the wallet's signature.
 * @throws Refusal
 */
function checkInstruction(instruction: Instruction, { wallet, rules, isFirst, wrapped }: InstructionContext): void {
  const { program, accounts } = instruction
  if (accounts.includes(fromTable) && [SYSTEM_PROGRAM_ADDRESS, ASSOCIATED_TOKEN_PROGRAM_ADDRESS, memoProgram].includes(program))
    throw new Refusal(`an instruction of the program ${program} takes an account from a lookup table, so the bytes do not say which it is`)
  if (isOfWrapping(instruction, wallet, wrapped)) return
  if (program === SYSTEM_PROGRAM_ADDRESS) {
    if (isFirst && isAdvanceNonce(instruction, wallet)) return
    throw new Refusal(
      "of the System program only the advance of the wallet's own durable nonce is signed, as the first instruction; no transfer but to the wallet's own account of wrapped SOL, behind the instruction that makes it, and the network's privateTip",
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

/** solana-program/token, native_mint. */
export const wrappedMint = 'So11111111111111111111111111111111111111112'

/** What `isOwnTokenAccount` has allowed, where its token is wrapped SOL. */
function wrappedMadeBy({ program, accounts }: Instruction): readonly string[] {
  const [, account, , mint, , tokenProgram] = accounts
  const isOfWrapped = program === ASSOCIATED_TOKEN_PROGRAM_ADDRESS && mint === wrappedMint && tokenProgram === TOKEN_PROGRAM_ADDRESS
  return isOfWrapped && account !== undefined ? [account] : []
}

/** SOL is wrapped into an account of the wallet itself, and all that is in it goes back to the wallet. */
function isOfWrapping(instruction: Instruction, wallet: string, wrapped: ReadonlySet<string>): boolean {
  const account = instruction.accounts.find((each) => wrapped.has(each))
  if (account === undefined) return false
  const own = { account: address(account), destination: address(wallet), owner: createNoopSigner(address(wallet)) }
  if (isSame(instruction, getSyncNativeInstruction(own)) || isSame(instruction, getCloseAccountInstruction(own))) return true
  const amount = wrappedBy(instruction)
  const transfer = { source: own.owner, destination: own.account }
  return amount !== undefined && isSame(instruction, getTransferSolInstruction({ ...transfer, amount }))
}

/** The lamports of a transfer to one of the operator's accounts for tips; undefined for any other instruction, and for one of more. */
export function tipBy(instruction: Instruction, wallet: string, { tip }: Pick<SolanaRules, 'tip'>): bigint | undefined {
  const amount = wrappedBy(instruction)
  const [, account] = instruction.accounts
  if (!tip || amount === undefined || amount > tip.mostRaw || account === undefined || !tip.accounts.has(account)) return undefined
  const built = getTransferSolInstruction({ source: createNoopSigner(address(wallet)), destination: address(account), amount })
  return isSame(instruction, built) ? amount : undefined
}

/** The lamports of a transfer; undefined for any other instruction. */
export function wrappedBy({ program, data }: Instruction): bigint | undefined {
  if (program !== SYSTEM_PROGRAM_ADDRESS || data.length !== transferBytes) return undefined
  const { discriminator, amount } = getTransferSolInstructionDataDecoder().decode(data)
  return discriminator === TRANSFER_SOL_DISCRIMINATOR ? amount : undefined
}

/** A discriminator of 4 bytes and a u64. */
const transferBytes = 12

export function isAdvanceNonce(instruction: Instruction, wallet: string): boolean {
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
