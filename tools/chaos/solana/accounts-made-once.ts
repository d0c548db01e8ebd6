import { address } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import type { Violation } from '../checker/violation.ts'
import type { History } from '../history.ts'
import type { SolanaStage } from './solana-stage.ts'

/** Every account that was asked for, and whose transaction is final, is there; it was made once; and there are no others. */
export async function accountsMadeOnce({ cluster, mints, wallets }: SolanaStage, history: History): Promise<readonly Violation[]> {
  const { blocks, svm } = cluster.ledger
  // Making an account takes calls of other programs; finding it there takes none.
  const making = blocks.flatMap(({ landed }) =>
    landed.filter(({ wire, outcome }) => wallets.includes(wire.payer) && outcome.error === null && outcome.innerInstructions.length > 0),
  )
  const confirmed = new Set(history.journal.flatMap(({ state, requestId }) => (state === 'CONFIRMED' ? requestId : [])))
  const calls = new Map(history.requests.map(({ id }) => [id, history.calls.filter(({ request }) => request === id)]))
  const found: Violation[] = []
  for (const owner of wallets)
    for (const { symbol, address: mint, program } of mints) {
      const [account] = await findAssociatedTokenPda({ owner: address(owner), mint, tokenProgram: program })
      const isThere = svm.getAccount(account).exists
      const madeBy = making.filter(({ wire }) => wire.message.staticAccounts.includes(account)).map(({ signature }) => signature)
      const requests = history.requests.filter(({ wallet, token }) => wallet === owner && token === symbol)
      const isFinal = requests.some(({ id }) => calls.get(id)?.some(({ requestId }) => confirmed.has(requestId)))
      const evidence = { account, symbol, madeBy, requests }
      if (madeBy.length > 1) found.push(violation('an account was made more than once', evidence))
      if (isThere && requests.length === 0) found.push(violation('an account was made that nobody asked for', evidence))
      if (isThere !== madeBy.length > 0) found.push(violation('an account is there, or is not, against what the blocks say', evidence))
      if (isFinal && !isThere) found.push(violation('an account is not there though what makes it is final', evidence))
    }
  return found
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I1', what, evidence })
