// Which final transactions are not on the chain any more, as far as the journal tells it: a later one that it has was mined on the same nonce.
import type { JournaledTransaction } from '../api/index.ts'
import type { JournalClient } from './server-client.ts'

/** The hash of the one that has its nonce now; undefined where there is none, or where its chain has no such nonces. */
export async function undoneBy(
  { chain, network, address, nonce, createdAt, txBlock, txHash, txState }: JournaledTransaction,
  journal: Pick<JournalClient, 'list'>,
): Promise<string | undefined> {
  if (!isOnEvm(txHash) || txBlock < 0 || (txState !== 'CONFIRMED' && txState !== 'REVERTED')) return undefined
  // A chain mines one on a nonce, so there are few.
  const { transactions } = await journal.list({ chain, network, address, nonce: String(nonce) }, maxOnNonce)
  const later = transactions.find((each) => each.txBlock >= 0 && each.createdAt > createdAt && isOnEvm(each.txHash))
  return later?.txHash ?? undefined
}

const maxOnNonce = 100

/** There a nonce is used once. On an exchange's own rail, what was refused has not used its own. */
const isOnEvm = (txHash: string | null): boolean => /^0x[0-9a-f]{64}$/i.test(txHash ?? '')
