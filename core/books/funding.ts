// The funding of perpetuals of order books: exchanges pay it to wallets, so each wallet and market of a book is asked for, once its transactions are read.
import type { DecimalParts } from '../base/decimal.ts'
import type { Book } from './book.ts'
import type { OnNetwork } from './book-lines.ts'
import { addFunding } from './perpetuals.ts'

/** What is asked for: the payments from then on, and before, in milliseconds since the Unix epoch. */
export interface FundingPeriod extends OnNetwork {
  readonly connector: string
  readonly market: string
  readonly address: string
  readonly fromMs: number
  readonly toMs: number | undefined
}

/** In the exchange's unit of account, below 0 where more was paid than received; or why nobody knows. */
export type FundingSum = { readonly paid: DecimalParts } | { readonly unknown: string }

export type FundingReader = (of: FundingPeriod, signal: AbortSignal) => Promise<FundingSum>

interface BookPeriod {
  readonly from: number | undefined
  readonly to: number | undefined
  /** Only a client's transactions are in the book. */
  readonly client: string | undefined
}

/** Wallets that are asked for, of one market. */
const maxWallets = 50

/** Adds it to the realized profit of the book's perpetuals. */
export async function readFunding(book: Book, { from, to, client }: BookPeriod, read: FundingReader, signal: AbortSignal): Promise<void> {
  for (const perpetual of book.perpetuals.values()) {
    const { chain, network, connector, market, wallets } = perpetual
    if (wallets.size === 0) continue
    if (client !== undefined) {
      perpetual.noFunding = 'an exchange pays it to wallets, and not to clients: ask without one'
      continue
    }
    if (wallets.size > maxWallets) {
      perpetual.noFunding = `it is asked for of ${maxWallets} wallets at most: take one wallet`
      continue
    }
    const sums: FundingSum[] = []
    for (const [address, firstMs] of wallets)
      sums.push(await read({ chain, network, connector, market, address, fromMs: from ?? firstMs, toMs: to }, signal))
    const failed = sums.find((each) => 'unknown' in each)
    if (failed) perpetual.noFunding = failed.unknown
    else
      addFunding(
        perpetual,
        sums.flatMap((each) => ('paid' in each ? each.paid : [])),
      )
  }
}
