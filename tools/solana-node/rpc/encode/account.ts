import { getBase58Decoder, getBase64Decoder, type EncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Maybe } from '../../ledger/maybe-account.ts'
import type { Answer } from '../answer.ts'
import { invalidParams, RpcError } from '../rpc-error.ts'
import { parsedData } from './parsed-data.ts'

/** How a caller wants accounts' data. */
export interface AccountEncoding {
  encoding: 'binary' | 'base58' | 'base64' | 'jsonParsed'
  slice: { offset: number; length: number } | undefined
}

export function encodingOf({ encoding = 'binary', dataSlice }: { readonly [field: string]: unknown }): AccountEncoding {
  if (encoding === 'base64+zstd') throw invalidParams('this test service does not compress accounts')
  if (encoding !== 'binary' && encoding !== 'base58' && encoding !== 'base64' && encoding !== 'jsonParsed')
    throw invalidParams(
      `Invalid params: unknown variant \`${String(encoding)}\`, expected one of \`binary\`, \`base58\`, \`base64\`, \`jsonParsed\`, \`base64+zstd\`.`,
    )
  return { encoding, slice: sliceOf(dataSlice) }
}

function sliceOf(value: unknown): AccountEncoding['slice'] {
  if (value === undefined || value === null) return undefined
  const [offset, length]: unknown[] = [Reflect.get(Object(value), 'offset'), Reflect.get(Object(value), 'length')]
  if (typeof offset === 'number' && typeof length === 'number' && offset >= 0 && length >= 0) return { offset, length }
  throw invalidParams('Invalid params: invalid type: expected struct UiDataSliceConfig.')
}

export const encodeMaybe = (svm: LiteSVM, account: Maybe, encoding: AccountEncoding): Answer =>
  account.exists ? encodeAccount(svm, account, encoding) : null

export function encodeAccount(svm: LiteSVM, account: EncodedAccount, encoding: AccountEncoding): Answer {
  return {
    data: encodeData(svm, account, encoding),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    // No account pays rent any more: u64::MAX stands for that.
    rentEpoch: 2n ** 64n - 1n,
    space: account.data.length,
  }
}

function encodeData(svm: LiteSVM, account: EncodedAccount, { encoding, slice }: AccountEncoding): Answer {
  if (encoding === 'jsonParsed') return parsedData(svm, account) ?? [getBase64Decoder().decode(account.data), 'base64']
  const data = slice ? account.data.subarray(slice.offset, slice.offset + slice.length) : account.data
  if (encoding === 'base64') return [getBase64Decoder().decode(data), 'base64']
  if (data.length > 128)
    throw new RpcError(-32600, 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.')
  const text = getBase58Decoder().decode(data)
  return encoding === 'binary' ? text : [text, 'base58']
}
