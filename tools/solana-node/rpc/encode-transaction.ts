import { getBase58Decoder, getBase64Decoder } from '@solana/kit'
import type { LandedTransaction, InnerInstructions, Outcome } from '../ledger/block.ts'
import type { LoadedAccounts } from '../ledger/lookup-tables.ts'
import { accountKeys, writableAccounts, type Wire, type Message } from '../ledger/read-wire.ts'
import { invalidParams, RpcError, type Answer, type Config } from './protocol.ts'

export type Form = 'json' | 'jsonParsed' | 'base58' | 'base64'

export function formOf({ encoding = 'json' }: Config): Form {
  if (encoding === 'json' || encoding === 'jsonParsed' || encoding === 'base58' || encoding === 'base64') return encoding
  throw invalidParams(
    `Invalid params: unknown variant \`${String(encoding)}\`, expected one of \`binary\`, \`base64\`, \`base58\`, \`json\`, \`jsonParsed\`.`,
  )
}

/** The newest version that the caller can read; absent, only what came before versions. */
export function versionsOf({ maxSupportedTransactionVersion }: Config): number | undefined {
  if (maxSupportedTransactionVersion === undefined || maxSupportedTransactionVersion === null) return undefined
  if (typeof maxSupportedTransactionVersion === 'number') return maxSupportedTransactionVersion
  throw invalidParams('Invalid params: invalid type: expected u8.')
}

/** A transaction in its block, with what came of it. */
export function encodeLanded(landed: LandedTransaction, form: Form, newestVersion: number | undefined): { [key: string]: Answer } {
  const { version } = landed.wire.message
  if (version !== 'legacy' && (newestVersion === undefined || newestVersion < version))
    throw new RpcError(
      -32015,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    )
  return {
    meta: metaOf(landed, form),
    transaction: encodeWire(landed.wire, landed.loaded, form),
    ...(newestVersion === undefined ? {} : { version }),
  }
}

function metaOf({ wire, loaded, outcome, ...balances }: LandedTransaction, form: Form): Answer {
  return {
    computeUnitsConsumed: outcome.unitsConsumed,
    err: outcome.error,
    fee: outcome.feeRaw,
    innerInstructions: innerInstructions(wire, loaded, outcome.innerInstructions, form === 'jsonParsed' ? form : 'json'),
    ...(form === 'jsonParsed' ? {} : { loadedAddresses: loadedAnswer(loaded) }),
    logMessages: outcome.logs,
    postBalances: balances.postBalances,
    postTokenBalances: balances.postTokenBalances,
    preBalances: balances.preBalances,
    preTokenBalances: balances.preTokenBalances,
    ...(outcome.returnData && { returnData: returnDataOf(outcome) }),
    rewards: [],
    status: resultOf(outcome.error),
  }
}

export const loadedAnswer = ({ writable, readonly }: LoadedAccounts): Answer => ({ readonly, writable })

function encodeWire(wire: Wire, loaded: LoadedAccounts, form: Form): Answer {
  if (form === 'base64') return [getBase64Decoder().decode(wire.bytes), 'base64']
  if (form === 'base58') return [getBase58Decoder().decode(wire.bytes), 'base58']
  const { message } = wire
  const common = { instructions: outerInstructions(message, loaded, form), recentBlockhash: message.lifetimeToken }
  const lookups = message.version === 'legacy' ? {} : { addressTableLookups: lookupsOf(message) }
  return {
    message:
      form === 'json'
        ? { accountKeys: message.staticAccounts, header: headerOf(wire), ...common, ...lookups }
        : { accountKeys: keysOf(wire, loaded), ...common, ...lookups },
    signatures: wire.signatures,
  }
}

const lookupsOf = ({ addressTableLookups = [] }: Extract<Message, { version: 0 }>): readonly Answer[] =>
  addressTableLookups.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
    accountKey: lookupTableAddress,
    writableIndexes: [...writableIndexes],
    readonlyIndexes: [...readonlyIndexes],
  }))

const headerOf = ({ message: { header } }: Wire): Answer => ({
  numReadonlySignedAccounts: header.numReadonlySignerAccounts,
  numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
  numRequiredSignatures: header.numSignerAccounts,
})

function keysOf({ message }: Wire, loaded: LoadedAccounts): Answer {
  const writable = writableAccounts(message, loaded)
  return accountKeys(message, loaded).map((pubkey, index) => ({
    pubkey,
    signer: index < message.header.numSignerAccounts,
    source: index < message.staticAccounts.length ? 'transaction' : 'lookupTable',
    writable: writable.includes(pubkey),
  }))
}

type InstructionForm = 'json' | 'jsonParsed'

interface Instruction {
  programIdIndex: number
  accounts: readonly number[]
  data: Uint8Array
  stackHeight: number
}

/** The instructions that the transaction names. */
const outerInstructions = (message: Message, loaded: LoadedAccounts, form: InstructionForm): readonly Answer[] =>
  message.instructions.map(({ programAddressIndex, accountIndices = [], data = [] }) =>
    encode(accountKeys(message, loaded), form, {
      programIdIndex: programAddressIndex,
      accounts: [...accountIndices],
      data: Uint8Array.from(data),
      stackHeight: 1,
    }),
  )

/** The instructions that programs called on the way. */
export function innerInstructions(
  { message }: Wire,
  loaded: LoadedAccounts,
  inner: readonly InnerInstructions[],
  form: InstructionForm,
): readonly Answer[] {
  const keys = accountKeys(message, loaded)
  return inner.map(({ index, instructions }) => ({ index, instructions: instructions.map((each) => encode(keys, form, each)) }))
}

/** In their parsed form nodes give instructions of programs that they do not know half decoded; all of them are, here. */
function encode(
  keys: readonly string[],
  form: InstructionForm,
  { programIdIndex, accounts, data: bytes, stackHeight }: Instruction,
): Answer {
  const data = getBase58Decoder().decode(bytes)
  if (form === 'json') return { accounts, data, programIdIndex, stackHeight }
  const address = (index: number): string => keys[index] ?? ''
  return { accounts: accounts.map(address), data, programId: address(programIdIndex), stackHeight }
}

export const returnDataOf = ({ returnData }: Outcome): Answer =>
  returnData && { programId: returnData.programId, data: [getBase64Decoder().decode(returnData.data), 'base64'] }

/** The older way of saying an error, or that there is none. */
export const resultOf = (error: Answer): Answer => (error === null ? { Ok: null } : { Err: error })
