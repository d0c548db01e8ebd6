// The bytes of accounts, read only where they are what they have to be.
import { addressBytes } from '../addresses.ts'
import { token2022Program, tokenPrograms } from '../tokens.ts'
import type { SolanaAccount, SolanaImageData } from '../types.ts'

/** What tells the accounts of one kind. */
export interface AccountLayout {
  /** The program that owns them. */
  readonly owner: string
  /** In bytes. */
  readonly size: number
  /** What they begin with. */
  readonly discriminator: Uint8Array
}

/** The bytes of an account of this layout; undefined where it is none. */
export function dataOf(account: SolanaImageData | null | undefined, { owner, size, discriminator }: AccountLayout): Buffer | undefined {
  if (account?.owner !== owner) return undefined
  const data = Buffer.from(account.base64, 'base64')
  return data.length === size && data.subarray(0, discriminator.length).equals(discriminator) ? data : undefined
}

/** By image: it stays the same object while the account does not change, and what is read of an account is kept by the account. */
const decoded = new WeakMap<SolanaImageData, SolanaAccount>()

/** An account as it is read, of its image. */
export function accountOf(image: SolanaImageData | null | undefined): SolanaAccount | undefined {
  if (!image) return undefined
  const known = decoded.get(image)
  if (known) return known
  const { owner, lamports, base64 } = image
  const account = { owner, lamportsRaw: BigInt(lamports), data: Buffer.from(base64, 'base64') }
  decoded.set(image, account)
  return account
}

// https://github.com/solana-program/token, state.rs, Account: mint, owner, amount u64, an optional delegate, the state and more: 165 bytes.
const [ownerAt, amountAt, stateAt, size] = [32, 64, 108, 165]
/** Of Token-2022, behind those: what kind of account it is, then its extensions. */
const tokenAccount = 2
const initialized = 1

/**
 * What a pool's own token account holds, smallest units. Undefined where it is no token account, of another mint or another owner, or frozen: then
 * nothing comes out of it.
 * @param of the 32 bytes of both addresses
 */
export function vaultHolds(account: SolanaImageData | null | undefined, of: { mint: Uint8Array; owner: Uint8Array }): bigint | undefined {
  return account && tokenPrograms.includes(account.owner)
    ? amountOf({ owner: account.owner, data: Buffer.from(account.base64, 'base64') }, of)
    : undefined
}

/** What both vaults of a pool hold, by their accounts as they were read; undefined where one is not as above, or of another program than its token's. */
export function vaultBalances(
  [first, second]: readonly [SolanaAccount | undefined, SolanaAccount | undefined],
  { mints, programs }: { readonly mints: readonly [string, string]; readonly programs: readonly [string, string] },
  authority: string,
): readonly [bigint, bigint] | undefined {
  const owner = addressBytes(authority)
  const held = (account: SolanaAccount | undefined, which: 0 | 1) =>
    account?.owner === programs[which] ? amountOf(account, { mint: addressBytes(mints[which]), owner }) : undefined
  const [firstRaw, secondRaw] = [held(first, 0), held(second, 1)]
  return firstRaw === undefined || secondRaw === undefined ? undefined : [firstRaw, secondRaw]
}

function amountOf(account: Pick<SolanaAccount, 'owner' | 'data'>, of: { mint: Uint8Array; owner: Uint8Array }): bigint | undefined {
  const data = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  const isExtended = account.owner === token2022Program && data.length > size && data[size] === tokenAccount
  if ((data.length !== size && !isExtended) || data[stateAt] !== initialized) return undefined
  if (!data.subarray(0, ownerAt).equals(of.mint) || !data.subarray(ownerAt, amountAt).equals(of.owner)) return undefined
  return data.readBigUInt64LE(amountAt)
}
