import { address, type ReadonlyUint8Array } from '@solana/kit'
import { AccountState, getMintDecoder, getTokenDecoder, TOKEN_PROGRAM_ADDRESS, type Mint, type Token } from '@solana-program/token'
import type { Maybe } from './maybe-account.ts'

/** Source: solana-program/token-2022, program/src/lib.rs, declare_id. */
export const token2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const tokenPrograms: readonly string[] = [TOKEN_PROGRAM_ADDRESS, token2022]

/** Sizes and places of solana-program/token-2022, program/src/extension/mod.rs: the kind of account follows a whole token account. */
export const tokenSize = 165
const mintSize = 82
const kindOfMint = 1
const kindOfToken = 2

/** What the account holds of its mint, where it is an account of either token program. */
export function tokenOf(account: Maybe): Token | undefined {
  if (!isOfTokens(account) || !isKind(account, tokenSize, kindOfToken)) return undefined
  const token = getTokenDecoder().decode(account.data.subarray(0, tokenSize))
  return token.state === AccountState.Uninitialized ? undefined : token
}

export function mintOf(account: Maybe): Mint | undefined {
  if (!isOfTokens(account) || !isKind(account, mintSize, kindOfMint)) return undefined
  const mint = getMintDecoder().decode(account.data.subarray(0, mintSize))
  return mint.isInitialized ? mint : undefined
}

const isOfTokens = (account: Maybe): account is Extract<Maybe, { exists: true }> =>
  account.exists && tokenPrograms.includes(account.programAddress)

/** An account with extensions is longer than any without, and says what it is. */
const isKind = ({ data }: { data: ReadonlyUint8Array }, size: number, kind: number): boolean =>
  data.length === size || (data.length > tokenSize && data[tokenSize] === kind)
