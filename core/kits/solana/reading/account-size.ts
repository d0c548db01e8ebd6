import { getTokenSize } from '@solana-program/token'
import { token2022Program } from '../../../../kits/solana/tokens.ts'
import type { Mint } from '../../../../kits/solana/tokens.ts'

/** What an account pays for beside its data: agave `rent`, ACCOUNT_STORAGE_OVERHEAD. */
const overhead = 128n
/** Type and length before each extension, two bytes each; the first comes after the base and the byte that says what the account is. */
const entryHead = 4
const firstEntryAt = getTokenSize() + 1

/**
 * Extensions of a mint that ask for one in every account of it, by their numbers, and its length: token-2022
 * `extension/mod.rs`, ExtensionType and get_required_init_account_extensions.
 */
const inAccounts: ReadonlyMap<number, number> = new Map([
  // TransferFeeConfig → TransferFeeAmount
  [1, 8],
  // NonTransferable → NonTransferableAccount
  [9, 0],
  // TransferHook → TransferHookAccount
  [14, 1],
  // Pausable → PausableAccount
  [26, 0],
])
/** Every associated account of Token-2022 has ImmutableOwner, which is empty. */
const immutableOwner = 0

/** Bytes of an associated account of that mint. */
export function associatedSize({ program, data }: Pick<Mint, 'program' | 'data'>): number {
  if (program !== token2022Program) return getTokenSize()
  const lengths = [immutableOwner, ...extensionsOf(data).flatMap((type) => inAccounts.get(type) ?? [])]
  return lengths.reduce((size, length) => size + entryHead + length, firstEntryAt)
}

/** Lamports that an account of so many bytes keeps, given what an empty one does: they are in proportion. */
export function rentOf(size: number, emptyRaw: bigint): bigint {
  return (emptyRaw * (overhead + BigInt(size))) / overhead
}

function extensionsOf(data: Uint8Array): readonly number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const types: number[] = []
  for (let at = firstEntryAt; at + entryHead <= data.length; at += entryHead + view.getUint16(at + 2, true)) {
    const type = view.getUint16(at, true)
    // Nothing follows but zeros.
    if (type === 0) break
    types.push(type)
  }
  return types
}
