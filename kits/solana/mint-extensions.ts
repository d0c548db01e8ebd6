import { getMintDecoder, getMintSize, getTokenSize } from '@solana-program/token'
import { tryDecode } from './accounts.ts'
import { token2022Program, tokenProgram } from './tokens.ts'
import type { SolanaAccount } from './types.ts'

/** What Token-2022 takes of a transfer from an epoch on. */
export interface TransferFee {
  epoch: bigint
  maximumRaw: bigint
  basisPoints: number
}

/** What matters of a mint to whoever trades it. */
export interface MintTerms {
  decimals: number
  /** The token program that owns it. */
  program: string
  /** Two of them: the newer one holds from its epoch on. Null where transfers are free. */
  transferFee: { older: TransferFee; newer: TransferFee } | null
}

/** Why a mint is not traded. Its extensions are told apart by kind: each makes another promise of amounts void. */
export type MintRefusal =
  | 'no-mint'
  | 'malformed-mint'
  | 'transfer-hook'
  | 'frozen-accounts'
  | 'confidential'
  | 'interest-bearing'
  | 'scaled-amount'
  | 'paused'
  | 'non-transferable'
  | 'unknown-extension'

/** solana-program/token-2022, program/src/extension/mod.rs, ExtensionType; lengths are those of its structs. */
const lengths: ReadonlyMap<number, number | 'any'> = new Map<number, number | 'any'>([
  [1, 108], // TransferFeeConfig
  [3, 32], // MintCloseAuthority
  [4, 65], // ConfidentialTransferMint
  [6, 1], // DefaultAccountState
  [9, 0], // NonTransferable
  [10, 52], // InterestBearingConfig
  [12, 32], // PermanentDelegate
  [14, 64], // TransferHook
  [16, 129], // ConfidentialTransferFeeConfig
  [18, 64], // MetadataPointer
  [19, 'any'], // TokenMetadata
  [20, 64], // GroupPointer
  [21, 80], // TokenGroup
  [22, 64], // GroupMemberPointer
  [23, 72], // TokenGroupMember
  [24, 196], // ConfidentialMintBurn
  [25, 56], // ScaledUiAmountConfig
  [26, 33], // PausableConfig
])

/** AccountState::Frozen. */
const frozen = 2

/** What an extension of this content forbids; undefined where amounts stay what they seem. */
function refusalOf(type: number, content: Uint8Array): MintRefusal | undefined {
  switch (type) {
    case 4:
    case 16:
    case 24:
      return 'confidential'
    case 6:
      return content[0] === frozen ? 'frozen-accounts' : undefined
    case 9:
      return 'non-transferable'
    case 10:
      return 'interest-bearing'
    // An authority, then the program: without one nothing is called.
    case 14:
      return content.subarray(32).some((byte) => byte !== 0) ? 'transfer-hook' : undefined
    case 25:
      return 'scaled-amount'
    // An authority, then whether it is paused.
    case 26:
      return content[32] === 0 ? undefined : 'paused'
  }
  return undefined
}

/** The base of every account with extensions is as long as a token account; a byte that says what it is follows it, then the extensions. */
const kindAt = getTokenSize()
const mintKind = 1
/** Type and length before each extension, two bytes each. */
const headSize = 4
/** Accounts of so many bytes are multisignatures, whatever they contain. */
const multisigSize = 355

const knownTerms = new WeakMap<SolanaAccount, MintTerms | { refused: MintRefusal }>()

/** The terms of a pool's two mints, or the first of them that is not traded. An account as it was read has the same terms each time. */
export function readBothTerms(
  mints: readonly [string, string],
  accounts: readonly [SolanaAccount | undefined, SolanaAccount | undefined],
): readonly [MintTerms, MintTerms] | { refused: MintRefusal; mint: string } {
  const [first, second] = [termsOf(accounts[0]), termsOf(accounts[1])]
  if ('refused' in first) return { ...first, mint: mints[0] }
  return 'refused' in second ? { ...second, mint: mints[1] } : [first, second]
}

function termsOf(account: SolanaAccount | undefined): MintTerms | { refused: MintRefusal } {
  const known = account && knownTerms.get(account)
  if (known) return known
  const terms = readMintTerms(account)
  if (account) knownTerms.set(account, terms)
  return terms
}

/** A mint and its extensions, as they are written. */
export interface MintParts {
  readonly decimals: number
  /** The token program that owns it. */
  readonly program: string
  readonly freezeAuthority: string | undefined
  /** By type. */
  readonly extensions: ReadonlyMap<number, Uint8Array>
}

/**
 * Reads a mint of either token program by hand, extension by extension.
 * @param isCut the account may be longer than its data: what is longer than the data is left out then
 */
export function readMintParts(account: SolanaAccount | undefined, isCut = false): MintParts | { refused: 'no-mint' | 'malformed-mint' } {
  if (!account || (account.owner !== tokenProgram && account.owner !== token2022Program)) return { refused: 'no-mint' }
  const { owner, data } = account
  const mint = data.length < getMintSize() ? undefined : tryDecode(getMintDecoder(), data.subarray(0, getMintSize()))
  if (!mint?.isInitialized) return { refused: 'no-mint' }
  const freezeAuthority = mint.freezeAuthority.__option === 'Some' ? mint.freezeAuthority.value : undefined
  const parts = { decimals: mint.decimals, program: owner, freezeAuthority }
  if (data.length === getMintSize()) return { ...parts, extensions: new Map() }
  if (owner === tokenProgram || data.length <= kindAt || data.length === multisigSize) return { refused: 'no-mint' }
  if (data[kindAt] !== mintKind) return { refused: 'no-mint' }
  if (data.subarray(getMintSize(), kindAt).some((byte) => byte !== 0)) return { refused: 'malformed-mint' }

  const extensions = readExtensions(data.subarray(kindAt + 1), isCut)
  if (!extensions) return { refused: 'malformed-mint' }
  for (const [type, content] of extensions) {
    const length = lengths.get(type)
    if (length !== undefined && length !== 'any' && length !== content.length) return { refused: 'malformed-mint' }
  }
  return { ...parts, extensions }
}

export const isKnownExtension = (type: number): boolean => lengths.has(type)

/** What a mint promises of amounts, or why it is not traded. */
export function readMintTerms(account: SolanaAccount | undefined): MintTerms | { refused: MintRefusal } {
  const parts = readMintParts(account)
  if ('refused' in parts) return parts
  const { decimals, program, extensions } = parts
  for (const [type, content] of extensions) {
    const refused = isKnownExtension(type) ? refusalOf(type, content) : 'unknown-extension'
    if (refused) return { refused }
  }
  const fees = extensions.get(1)
  return { decimals, program, transferFee: fees ? readTransferFees(fees) : null }
}

/** By type. Undefined where one is longer than the account, comes twice, or bytes are left that are none. */
function readExtensions(bytes: Uint8Array, isCut: boolean): ReadonlyMap<number, Uint8Array> | undefined {
  const view = viewOf(bytes)
  const found = new Map<number, Uint8Array>()
  let at = 0
  while (at + headSize <= bytes.length) {
    const [type, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)]
    // Nothing is there any more: only zeros follow.
    if (type === 0) break
    const end = at + headSize + length
    if (end > bytes.length && isCut) return found
    if (end > bytes.length || found.has(type)) return undefined
    found.set(type, bytes.subarray(at + headSize, end))
    at = end
  }
  return isCut || bytes.subarray(at).every((byte) => byte === 0) ? found : undefined
}

/** Two authorities and what is withheld come first: token-2022 `extension/transfer_fee/mod.rs`, TransferFeeConfig. */
export function readTransferFees(content: Uint8Array): NonNullable<MintTerms['transferFee']> {
  const view = viewOf(content)
  const feeAt = (at: number): TransferFee => ({
    epoch: view.getBigUint64(at, true),
    maximumRaw: view.getBigUint64(at + 8, true),
    basisPoints: view.getUint16(at + 16, true),
  })
  return { older: feeAt(72), newer: feeAt(90) }
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const all = 10_000n

const ceilDiv = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** The fee that holds in an epoch: token-2022 TransferFeeConfig::get_epoch_fee. */
function feeIn({ transferFee }: MintTerms, epoch: bigint): TransferFee | undefined {
  if (!transferFee) return undefined
  const { older, newer } = transferFee
  return epoch >= newer.epoch ? newer : older
}

/** What is withheld of a transfer of `amountRaw`, rounded up: token-2022 TransferFee::calculate_fee. */
export function transferFeeOf(terms: MintTerms, epoch: bigint, amountRaw: bigint): bigint {
  const fee = feeIn(terms, epoch)
  if (!fee || fee.basisPoints === 0 || amountRaw === 0n) return 0n
  const raw = ceilDiv(amountRaw * BigInt(fee.basisPoints), all)
  return raw < fee.maximumRaw ? raw : fee.maximumRaw
}

/**
 * What has to be sent on top so that `netRaw` arrives: token-2022 TransferFee::calculate_inverse_fee. Rounding may make it other than what is
 * withheld of the sum: whoever needs both to be equal compares with `transferFeeOf`. Undefined where the sum is more than 64 bits.
 */
export function transferFeeOnTop(terms: MintTerms, epoch: bigint, netRaw: bigint): bigint | undefined {
  const fee = feeIn(terms, epoch)
  if (!fee || fee.basisPoints === 0 || netRaw === 0n) return 0n
  const grossRaw = grossOf(fee, netRaw)
  return grossRaw < 2n ** 64n ? transferFeeOf(terms, epoch, grossRaw) : undefined
}

/** token-2022 TransferFee::calculate_pre_fee_amount. */
function grossOf({ basisPoints, maximumRaw }: TransferFee, netRaw: bigint): bigint {
  const share = BigInt(basisPoints)
  if (share >= all) return netRaw + maximumRaw
  const gross = ceilDiv(netRaw * all, all - share)
  return gross - netRaw >= maximumRaw ? netRaw + maximumRaw : gross
}

/** Of a fee of everything, which is withheld up to its maximum. */
export function takesAll(terms: MintTerms, epoch: bigint): bigint | undefined {
  const fee = feeIn(terms, epoch)
  return fee && BigInt(fee.basisPoints) === all ? fee.maximumRaw : undefined
}
