import { getNonceDecoder, getNonceSize, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { TOKEN_PROGRAM_ADDRESS, type Mint, type Token } from '@solana-program/token'
import { getBase58Decoder, getBase64Decoder, unwrapOption, getAddressDecoder, type EncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import { mintOf, tokenOf, uiAmount, token2022, tokenSize, type Maybe } from '../ledger/tokens.ts'
import { invalidParams, RpcError, type Answer } from './protocol.ts'

/** How a caller wants accounts' data. */
interface AccountEncoding {
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

/** An account's data as its program means it, where nodes know the program. */
function parsedData(svm: LiteSVM, account: EncodedAccount): Answer | undefined {
  const present = { ...account, exists: true as const }
  const extensions = extensionsOf(account)
  const mint = mintOf(present)
  if (mint) return ofTokens(account, { type: 'mint', info: { ...mintInfo(mint), extensions } })
  const token = tokenOf(present)
  const tokensMint = token && mintOf(svm.getAccount(token.mint))
  if (token && tokensMint) return ofTokens(account, { type: 'account', info: { ...tokenInfo(token, tokensMint), extensions } })
  if (account.programAddress === SYSTEM_PROGRAM_ADDRESS && account.data.length === getNonceSize()) return nonceData(account)
  return undefined
}

function ofTokens(account: EncodedAccount, parsed: Answer): Answer {
  const program = account.programAddress === TOKEN_PROGRAM_ADDRESS ? 'spl-token' : 'spl-token-2022'
  return { program, parsed, space: account.data.length }
}

const mintInfo = (mint: Mint): { [key: string]: Answer } => ({
  decimals: mint.decimals,
  freezeAuthority: unwrapOption(mint.freezeAuthority),
  isInitialized: mint.isInitialized,
  mintAuthority: unwrapOption(mint.mintAuthority),
  supply: mint.supply.toString(),
})

const states = ['uninitialized', 'initialized', 'frozen'] as const

function tokenInfo(token: Token, { decimals }: Mint): { [key: string]: Answer | undefined } {
  const delegate = unwrapOption(token.delegate)
  const rentRaw = unwrapOption(token.isNative)
  return {
    closeAuthority: unwrapOption(token.closeAuthority) ?? undefined,
    delegate: delegate ?? undefined,
    delegatedAmount: delegate ? uiAmount(token.delegatedAmount, decimals) : undefined,
    isNative: rentRaw !== null,
    mint: token.mint,
    owner: token.owner,
    rentExemptReserve: rentRaw === null ? undefined : uiAmount(rentRaw, decimals),
    state: states[token.state] ?? 'uninitialized',
    tokenAmount: uiAmount(token.amount, decimals),
  }
}

function nonceData(account: EncodedAccount): Answer {
  const { authority, blockhash, lamportsPerSignature } = getNonceDecoder().decode(account.data)
  const info = { authority, blockhash, feeCalculator: { lamportsPerSignature: lamportsPerSignature.toString() } }
  return { program: 'nonce', parsed: { type: 'initialized', info }, space: account.data.length }
}

/** Source: solana-program/token-2022, program/src/extension/mod.rs, ExtensionType. */
const transferFeeConfig = 1
const transferFeeAmount = 2
const immutableOwner = 7

/** What a Token-2022 account has beyond a plain one; undefined where it can have none. */
function extensionsOf({ programAddress, data }: EncodedAccount): Answer | undefined {
  if (programAddress !== token2022) return undefined
  const extensions: Answer[] = []
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  // Behind the kind of account, each is its type, its length and its bytes.
  for (let at = tokenSize + 1; at + 4 <= data.length;) {
    const [type, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)]
    if (type === 0) break
    extensions.push(extension(type, new DataView(data.buffer, data.byteOffset + at + 4, length)))
    at += 4 + length
  }
  return extensions.length > 0 ? extensions : undefined
}

function extension(type: number, state: DataView): Answer {
  if (type === immutableOwner) return { extension: 'immutableOwner' }
  if (type === transferFeeAmount) return { extension: 'transferFeeAmount', state: { withheldAmount: state.getBigUint64(0, true) } }
  if (type !== transferFeeConfig) return { extension: 'unparseableExtension' }
  return {
    extension: 'transferFeeConfig',
    state: {
      newerTransferFee: transferFee(state, 90),
      olderTransferFee: transferFee(state, 72),
      transferFeeConfigAuthority: optionalAddress(state, 0),
      withdrawWithheldAuthority: optionalAddress(state, 32),
      withheldAmount: state.getBigUint64(64, true),
    },
  }
}

const transferFee = (state: DataView, at: number): Answer => ({
  epoch: state.getBigUint64(at, true),
  maximumFee: state.getBigUint64(at + 8, true),
  transferFeeBasisPoints: state.getUint16(at + 16, true),
})

/** All zeros stand for nobody. */
function optionalAddress(state: DataView, at: number): Answer {
  const bytes = new Uint8Array(state.buffer, state.byteOffset + at, 32)
  return bytes.every((each) => each === 0) ? null : getAddressDecoder().decode(bytes)
}
