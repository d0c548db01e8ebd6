import { AccountState, TOKEN_PROGRAM_ADDRESS, getMintDecoder, getMintSize, getTokenDecoder, getTokenSize } from '@solana-program/token'
import { confirmed } from '../../core/kits/solana/rpc/commitment.ts'
import { decoded } from '../../core/kits/solana/reading/decoded.ts'
import type { SolanaAccount } from './types.ts'

/** Token-2022, also called Token Extensions: https://solana.com/docs/tokens/extensions. @solana-program/token-2022 has it too. */
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const tokenProgram: string = TOKEN_PROGRAM_ADDRESS
/** The programs that tokens are of. */
export const tokenPrograms: readonly string[] = [tokenProgram, token2022Program]

/**
 * Accounts with extensions are as long as a token account, then this byte says what they are, then the extensions follow:
 * token-2022 `extension/mod.rs`, BASE_ACCOUNT_LENGTH and AccountType.
 */
const kindAt = getTokenSize()
const kinds = { mint: 1, account: 2 } as const

/**
 * How accounts are asked for that may be mints or of tokens, by whatever address a caller gives: there are accounts of ten megabytes. What a
 * mint asks of its accounts comes before what is added to it later, of any length, and is far shorter than this.
 */
export const tokenOptions = { ...confirmed, dataSlice: { offset: 0, length: 2_048 } } as const

export interface Mint {
  decimals: number
  /** The program that it is of. */
  program: string
  /** With the extensions that it was made with. */
  data: Uint8Array
}

/** Undefined where the account is no mint, or none that was made. */
export function readMint(account: SolanaAccount | undefined): Mint | undefined {
  if (!account || !isOfKind(account, 'mint', getMintSize())) return undefined
  const mint = decoded(getMintDecoder(), account.data.subarray(0, getMintSize()))
  return mint?.isInitialized ? { decimals: mint.decimals, program: account.owner, data: account.data } : undefined
}

/** What a token account holds; undefined where it is none, of another mint, or not the owner's: an owner may give an account away. */
export function heldIn(account: SolanaAccount | undefined, of: { mint: string; owner: string }): bigint | undefined {
  if (!account || !isOfKind(account, 'account', getTokenSize())) return undefined
  const held = decoded(getTokenDecoder(), account.data.subarray(0, getTokenSize()))
  if (!held || held.state === AccountState.Uninitialized) return undefined
  return held.mint === of.mint && held.owner === of.owner ? held.amount : undefined
}

function isOfKind({ owner, data }: SolanaAccount, kind: keyof typeof kinds, size: number): boolean {
  if (!tokenPrograms.includes(owner)) return false
  return data.length === size || (owner === token2022Program && data.length > kindAt && data[kindAt] === kinds[kind])
}
