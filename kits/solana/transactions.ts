import { COMPUTE_BUDGET_PROGRAM_ADDRESS, ComputeBudgetInstruction, identifyComputeBudgetInstruction } from '@solana-program/compute-budget'
import { SYSTEM_PROGRAM_ADDRESS, SystemInstruction, identifySystemInstruction } from '@solana-program/system'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  AssociatedTokenInstruction,
  TokenInstruction,
  identifyAssociatedTokenInstruction,
  identifyTokenInstruction,
} from '@solana-program/token'
import { getBase58Encoder } from '@solana/kit'
import type { At, Transaction, Json } from '../../core/contracts/index.ts'
import { type RpcAnswer } from '../nodes/dialect.ts'
import { quoteNode } from '../nodes/faults.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { saysNoHistory, saysUnknownVersion, valueOf, integerOf, jsonOfNode, numberOf } from './rpc.ts'
import { token2022Program, tokenProgram } from './tokens.ts'
import { tokenAccountOf } from './addresses.ts'
import { tipIn } from './tips.ts'
import { wrappedMint } from './swap-accounts.ts'
import { canonicalAddress, type Solana, type SolanaReceipt } from './types.ts'
import { isObject } from '../../core/base/json.ts'

/** Finds a transaction with its receipt, in one round trip. It is pending while its block has few votes. */
export async function findTransaction(
  rpc: Rpc,
  signature: string,
  tipAccounts: ReadonlySet<string>,
  at: At,
): Promise<Transaction<Solana> | undefined> {
  const calls = [
    { method: 'getTransaction', params: [signature, transactionOptions] },
    { method: 'getSignatureStatuses', params: [[signature], { searchTransactionHistory: true }] },
  ]
  const [transaction, status] = await rpc.batch(calls, at)
  const raw = isUntold('getTransaction', transaction) ? null : resultOf(rpc, 'getTransaction', transaction)
  if (isObject(raw)) {
    const found = readTransaction(signature, raw, tipAccounts)
    if (!found) throw invalidAnswer(rpc, 'gave a malformed transaction to getTransaction')
    return { ...found, blockNumber: found.receipt.slot }
  }
  const values = isUntold('getSignatureStatuses', status) ? [] : valueOf(resultOf(rpc, 'getSignatureStatuses', status))
  const known = readSignatureStatus(Array.isArray(values) ? values[0] : undefined)
  if (!known) return undefined
  // Its receipt follows a moment later.
  return known.is === 'processed' ? { tx: null, receipt: null, pays: true } : { tx: null, receipt: null, blockNumber: known.slot }
}

/** The node keeps no history, or cannot return this version. Its status may still be known. */
const isUntold = (method: string, answer: RpcAnswer | undefined) => saysNoHistory(method, answer) || saysUnknownVersion(method, answer)

/** The options of `getTransaction` that give the form which is read here. */
export const transactionOptions = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' } as const

/**
 * Reads the answer to `getTransaction`: the transaction and its receipt. Undefined where it is malformed.
 * @param tipAccounts those to which a transfer is a tip
 */
export function readTransaction(
  signature: string,
  raw: unknown,
  tipAccounts: ReadonlySet<string>,
): { tx: Json; receipt: SolanaReceipt } | undefined {
  if (!isObject(raw) || !isObject(raw['meta']) || !isObject(raw['transaction'])) return undefined
  const { meta, transaction, version } = raw
  const slot = numberOf(raw['slot'])
  const fee = integerOf(meta['fee'])
  const logs: readonly unknown[] = Array.isArray(meta['logMessages']) ? meta['logMessages'] : []
  const signatures: unknown = transaction['signatures']
  if (slot === undefined || fee === undefined || !Array.isArray(signatures) || signatures[0] !== signature) return undefined
  // Some nodes leave it out of what succeeded, as of a status.
  const { err = null, logMessages: _, status: __, innerInstructions: ___, tip: ____, ...rest } = meta
  const keys = accountKeysOf(transaction['message'], meta)
  const wrappedAt = placeOfWrapped(keys)
  const tipRaw = err === null ? tipIn(transaction['message'], keys, tipAccounts) : 0n
  const receipt = {
    ...fieldsOfNode(rest),
    status: err === null ? (1 as const) : (0 as const),
    signature,
    slot,
    blockTime: numberOf(raw['blockTime']) ?? null,
    err: jsonOfNode(err),
    fee: fee.toString(),
    logs: logs.filter((line) => typeof line === 'string'),
    instructions: executedInstructions(keys, transaction['message'], meta),
    ...(wrappedAt >= 0 && { wrappedAt }),
    ...(tipRaw > 0n && { tip: tipRaw.toString() }),
  }
  return { tx: { ...fieldsOfNode(transaction), version: jsonOfNode(version) }, receipt }
}

/** The receipt of a transaction of which only the status is known. */
export function receiptOfStatus(signature: string, slot: number, err: Json): SolanaReceipt {
  return { status: err === null ? 1 : 0, signature, slot, blockTime: null, err, fee: null, logs: [], instructions: [] }
}

function fieldsOfNode(value: Record<string, unknown>): Record<string, Json> {
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, jsonOfNode(field, key)]))
}

/** The status of a transaction in the cluster. */
export interface SignatureStatus {
  is: 'processed' | 'confirmed' | 'finalized'
  slot: number
  /** As the node writes it. Null where the transaction succeeded. */
  err: Json
  /** The number of blocks after its own. Absent once it is finalized. */
  confirmations?: number
}

/** Reads one entry of `getSignatureStatuses`. Undefined where there is none, or it is malformed. */
export function readSignatureStatus(raw: unknown): SignatureStatus | undefined {
  if (!isObject(raw)) return undefined
  const slot = numberOf(raw['slot'])
  const { confirmationStatus: is, err = null } = raw
  if (slot === undefined || (is !== 'processed' && is !== 'confirmed' && is !== 'finalized')) return undefined
  const confirmations = numberOf(raw['confirmations'])
  return { is, slot, err: jsonOfNode(err), ...(confirmations !== undefined && { confirmations }) }
}

/** An executed instruction. `data` is in base58, as nodes give it. */
type ExecutedInstruction = { readonly program: string; readonly data: string }

interface KnownProgram {
  name: string
  /** The name of an instruction. Throws for an unknown one. */
  nameOf(data: Uint8Array): string | undefined
}

const token = (name: string): KnownProgram => ({ name, nameOf: (data) => TokenInstruction[identifyTokenInstruction(data)] })

/** Extensions of Token-2022 have instructions of their own, which stay without a name. */
const knownPrograms: ReadonlyMap<string, KnownProgram> = new Map([
  [tokenProgram, token('Token')],
  [token2022Program, token('Token-2022')],
  [SYSTEM_PROGRAM_ADDRESS, { name: 'System', nameOf: (data) => SystemInstruction[identifySystemInstruction(data)] }],
  [
    COMPUTE_BUDGET_PROGRAM_ADDRESS,
    { name: 'Compute Budget', nameOf: (data) => ComputeBudgetInstruction[identifyComputeBudgetInstruction(data)] },
  ],
  [
    ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
    { name: 'Associated Token Account', nameOf: (data) => AssociatedTokenInstruction[identifyAssociatedTokenInstruction(data)] },
  ],
])

function instructionName({ program, data }: ExecutedInstruction): string | undefined {
  try {
    return knownPrograms.get(program)?.nameOf(Uint8Array.from(getBase58Encoder().encode(data)))
  } catch {
    // An instruction that the program's package does not know stays without a name.
    return undefined
  }
}

function accountKeysOf(message: unknown, meta: Record<string, unknown>): readonly unknown[] {
  const { accountKeys } = isObject(message) ? message : {}
  const loaded = isObject(meta['loadedAddresses']) ? meta['loadedAddresses'] : {}
  return [accountKeys, loaded['writable'], loaded['readonly']].flatMap(listOf)
}

/** One that is made and closed again is in no list of balances of tokens. Whoever makes one names the mint. */
function placeOfWrapped(keys: readonly unknown[]): number {
  const [payer] = keys
  if (!keys.includes(wrappedMint) || typeof payer !== 'string' || canonicalAddress(payer) !== payer) return -1
  return keys.indexOf(tokenAccountOf(payer, wrappedMint))
}

/** All instructions in the order in which they began: each of the transaction, then what it called. */
function executedInstructions(keys: readonly unknown[], message: unknown, meta: Record<string, unknown>): readonly ExecutedInstruction[] {
  const { instructions } = isObject(message) ? message : {}
  const called = new Map(
    listOf(meta['innerInstructions']).map((each) =>
      isObject(each) ? [numberOf(each['index']), listOf(each['instructions'])] : [undefined, []],
    ),
  )
  return listOf(instructions)
    .flatMap((each, index) => [each, ...(called.get(index) ?? [])])
    .map((each) => readInstruction(each, keys))
}

function readInstruction(raw: unknown, keys: readonly unknown[]): ExecutedInstruction {
  const { programIdIndex, data } = isObject(raw) ? raw : {}
  const program = keys[numberOf(programIdIndex) ?? -1]
  return { program: typeof program === 'string' ? program : '', data: typeof data === 'string' ? data : '' }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Lines of the runtime: agave `program-runtime/src/stable_log.rs`. */
const invoked = /^Program (\w{32,44}) invoke \[(\d+)\]$/
const ended = /^Program (\w{32,44}) (?:success|failed: .*)$/

interface Call {
  program: string
  /** 1 where the transaction itself calls it. */
  depth: number
  lines: string[]
}

/** The receipt with its log by calls of programs, in the order in which they began; known ones get `name` and `events: [{ name, value }]`. */
export function decodeLogs(receipt: SolanaReceipt): Json {
  const { instructions, wrappedAt: _, ...shown } = receipt
  return { ...shown, logs: callsIn(receipt.logs).map((call, index) => explain(call, instructions[index])) }
}

function callsIn(lines: readonly string[]): readonly Call[] {
  const calls: Call[] = []
  const open: Call[] = []
  for (const line of lines) {
    const [, program, depth] = invoked.exec(line) ?? []
    if (program !== undefined) {
      const call = { program, depth: Number(depth), lines: [] }
      calls.push(call)
      open.push(call)
      continue
    }
    open.at(-1)?.lines.push(line)
    if (ended.exec(line)?.[1] === open.at(-1)?.program) open.pop()
  }
  return calls
}

/** A truncated log does not match its instructions, and then names none. */
function explain({ program, depth, lines }: Call, executed: ExecutedInstruction | undefined): Json {
  const name = knownPrograms.get(program)?.name
  const value = executed?.program === program ? instructionName(executed) : undefined
  const events = value === undefined ? [] : [{ name: 'instruction', value }]
  return { program, depth, ...(name !== undefined && { name, events }), lines }
}

const failed = /^Program \w{32,44} failed: (.+)$/
const complaint = /^Program log: (?:Error: |AnchorError )?(.+)$/

/**
 * Why a transaction failed, for people: the program that gave up first with its last words, else what the runtime says.
 * @param err as the node writes it: https://docs.rs/solana-transaction-error, TransactionError and InstructionError
 */
export function failureReason(err: Json, logs: readonly string[]): string {
  const call = callsIn(logs).findLast(({ lines }) => lines.some((line) => failed.test(line)))
  const why = call?.lines.map((line) => failed.exec(line)?.[1]).find((found) => found !== undefined)
  if (!call || why === undefined) return wordsOf(err)
  const said = call.lines.map((line) => complaint.exec(line)?.[1]).findLast((found) => found !== undefined)
  const program = knownPrograms.get(call.program)?.name ?? call.program
  return quoteNode(`${program}: ${why}${said === undefined ? '' : ` (${said})`}`)
}

/** `{ InstructionError: [2, { Custom: 1 }] }` → "instruction error 2 custom 1". */
function wordsOf(err: Json): string {
  if (typeof err === 'string') return spaced(err)
  if (Array.isArray(err)) return err.map(wordsOf).join(' ')
  if (isObject(err))
    return quoteNode(
      Object.entries(err)
        .map(([name, detail]) => `${spaced(name)} ${wordsOf(isJson(detail) ? detail : null)}`.trim())
        .join(', '),
    )
  return typeof err === 'number' || typeof err === 'boolean' ? String(err) : ''
}

const isJson = (value: unknown): value is Json => value !== undefined
const spaced = (name: string) => quoteNode(name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|_/g, ' ').toLowerCase())

/** Errors of the runtime for a payer without sufficient funds. */
const unfunded: ReadonlySet<string> = new Set(['AccountNotFound', 'InsufficientFundsForFee', 'InsufficientFundsForRent'])

export function isUnfunded(err: Json): boolean {
  if (typeof err === 'string') return unfunded.has(err)
  return isObject(err) && Object.entries(err).some(([name, detail]) => unfunded.has(name) && !isOfAnother(detail))
}

/** `{ InsufficientFundsForRent: { account_index: 2 } }`: whoever pays is the first. */
const isOfAnother = (detail: unknown): boolean => isObject(detail) && (numberOf(detail['account_index']) ?? 0) > 0
