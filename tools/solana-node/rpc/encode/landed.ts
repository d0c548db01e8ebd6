import { getBase58Decoder, getBase64Decoder } from '@solana/kit'
import type { LandedTransaction } from '../../ledger/block.ts'
import { writableAccounts, type Wire } from '../../ledger/read-wire.ts'
import type { Answer } from '../answer.ts'
import type { Config } from '../params.ts'
import { invalidParams, RpcError } from '../rpc-error.ts'
import { innerInstructions, outerInstructions } from './instructions.ts'
import { resultOf } from './result.ts'
import { returnDataOf } from './return-data.ts'

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
    transaction: encodeWire(landed.wire, form),
    ...(newestVersion === undefined ? {} : { version }),
  }
}

function metaOf({ wire, outcome, ...balances }: LandedTransaction, form: Form): Answer {
  return {
    computeUnitsConsumed: outcome.unitsConsumed,
    err: outcome.error,
    fee: outcome.feeRaw,
    innerInstructions: innerInstructions(wire, outcome.innerInstructions, form === 'jsonParsed' ? form : 'json'),
    ...(form === 'jsonParsed' ? {} : { loadedAddresses: { readonly: [], writable: [] } }),
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

function encodeWire(wire: Wire, form: Form): Answer {
  if (form === 'base64') return [getBase64Decoder().decode(wire.bytes), 'base64']
  if (form === 'base58') return [getBase58Decoder().decode(wire.bytes), 'base58']
  const { message } = wire
  const common = { instructions: outerInstructions(message, form), recentBlockhash: message.lifetimeToken }
  const lookups = message.version === 'legacy' ? {} : { addressTableLookups: [] }
  return {
    message:
      form === 'json'
        ? { accountKeys: message.staticAccounts, header: headerOf(wire), ...common, ...lookups }
        : { accountKeys: keysOf(wire), ...common, ...lookups },
    signatures: wire.signatures,
  }
}

const headerOf = ({ message: { header } }: Wire): Answer => ({
  numReadonlySignedAccounts: header.numReadonlySignerAccounts,
  numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
  numRequiredSignatures: header.numSignerAccounts,
})

function keysOf({ message }: Wire): Answer {
  const writable = writableAccounts(message)
  return message.staticAccounts.map((pubkey, index) => ({
    pubkey,
    signer: index < message.header.numSignerAccounts,
    source: 'transaction',
    writable: writable.includes(pubkey),
  }))
}
