import { unwrapOption, type EncodedAccount } from '@solana/kit'
import { getNonceDecoder, getNonceSize, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { TOKEN_PROGRAM_ADDRESS, type Mint, type Token } from '@solana-program/token'
import type { LiteSVM } from 'litesvm'
import { mintOf, tokenOf } from '../../ledger/token-account.ts'
import type { Answer } from '../answer.ts'
import { extensionsOf } from './extensions.ts'
import { uiAmount } from './ui-amount.ts'

/** An account's data as its program means it, where nodes know the program. */
export function parsedData(svm: LiteSVM, account: EncodedAccount): Answer | undefined {
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
