import { AccountState, getMintDecoder, getTokenDecoder, TOKEN_PROGRAM_ADDRESS, type Mint, type Token } from '@solana-program/token'
import { address, type MaybeAccount, type ReadonlyUint8Array } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Answer } from '../rpc/protocol.ts'

/** An account with its bytes, or that there is none at the address. */
export type Maybe = MaybeAccount<ReadonlyUint8Array>

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

/** The tokens in a transaction's accounts, as its meta data shows them. */
export function tokenBalances(svm: LiteSVM, accounts: readonly Maybe[]): readonly Answer[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = tokenOf(account)
    const mint = token && mintOf(svm.getAccount(token.mint))
    if (!account.exists || !mint) return []
    const uiTokenAmount = uiAmount(token.amount, mint.decimals)
    return [{ accountIndex, mint: token.mint, owner: token.owner, programId: account.programAddress, uiTokenAmount }]
  })
}

/** An amount of tokens as nodes show it: exact as text, and once more as a float for those who want one. */
export function uiAmount(amountRaw: bigint, decimals: number): Answer {
  const digits = amountRaw.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const uiAmountString = fraction ? `${whole}.${fraction}` : whole
  return { amount: amountRaw.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}
