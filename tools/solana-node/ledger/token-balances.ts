import type { LiteSVM } from 'litesvm'
import type { Answer } from '../rpc/answer.ts'
import { uiAmount } from '../rpc/encode/ui-amount.ts'
import type { Maybe } from './maybe-account.ts'
import { mintOf, tokenOf } from './token-account.ts'

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
