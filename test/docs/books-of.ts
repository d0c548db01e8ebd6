import type { Client } from '../../testkit/client.ts'
import { tradingWallets, type Rpc } from '../../core/devnet/anvil.ts'

const place = { chain: 'ethereum', network: 'local' } as const
/** More than any `confirmations` of the devnet in these tests. */
const blocks = 10

interface CheckedBook {
  readonly wallet: string
  readonly ownTransactions: number
  readonly unexplained: readonly unknown[]
}

/** Holds the book of each of the devnet's wallets against the chain, up to what was done last. */
export async function booksOf(client: Client, rpc: Rpc): Promise<readonly CheckedBook[]> {
  for (let made = 0; made < blocks; made += 1) await rpc('evm_mine')
  const books: CheckedBook[] = []
  for (const wallet of tradingWallets) {
    let [cursor, own, unexplained]: [string | undefined, number, unknown[]] = [undefined, 0, []]
    do {
      const fields = { ...place, address: wallet, ...(cursor !== undefined && { cursor }) }
      const { status, body, text } = await client.post('/books/verify', fields)
      if (status !== 200) throw new Error(`/books/verify answered ${status}: ${text}`)
      own += body.transactions.own
      unexplained = [...unexplained, ...body.unexplained]
      cursor = body.nextCursor
    } while (cursor !== undefined)
    books.push({ wallet, ownTransactions: own, unexplained })
  }
  return books
}
