// The funding of perpetuals of order books: exchanges pay it to wallets, so each wallet of a book is asked for, once its transactions are read.
import { addressKey } from '../base/addresses.ts'
import type { DecimalParts } from '../base/decimal.ts'
import type { Book } from './book.ts'
import type { OnNetwork } from './book-lines.ts'
import { addFunding } from './perpetuals.ts'

/** A wallet at an exchange of perpetuals. */
export interface ExchangeWallet extends OnNetwork {
  readonly connector: string
  readonly address: string
}

/** What is asked for: the payments from a time on by market, and before `toMs`, in milliseconds since the Unix epoch. */
export interface FundingPeriod extends ExchangeWallet {
  readonly markets: ReadonlyMap<string, number>
  readonly toMs: number | undefined
}

/** By market that the exchange still has, in its unit of account, below 0 where more was paid than received; or why nobody knows. */
export type FundingSums = { readonly paid: ReadonlyMap<string, DecimalParts> } | { readonly unknown: string }

export interface FundingReaders {
  fundingOf(of: FundingPeriod, signal: AbortSignal): Promise<FundingSums>
  /** The markets of perpetuals in which the book's wallets placed orders before it begins. */
  marketsBefore(signal: AbortSignal): Promise<readonly (ExchangeWallet & { readonly market: string })[]>
}

interface BookPeriod {
  readonly from: number | undefined
  readonly to: number | undefined
  /** Only a client's transactions are in the book. */
  readonly client: string | undefined
}

/** Wallets that are asked for, of one exchange. */
export const maxWallets = 50

/** Adds it to the realized profit of the book's perpetuals. */
export async function readFunding(
  book: Book,
  { from, to, client }: BookPeriod,
  readers: FundingReaders,
  signal: AbortSignal,
): Promise<void> {
  if (client !== undefined) {
    for (const perpetual of book.perpetuals.values())
      if (perpetual.wallets.size > 0) perpetual.noFunding = 'an exchange pays it to wallets, and not to clients: ask without one'
    return
  }
  // A position may be older than the book, and pays without a fill in it.
  const before = from === undefined ? [] : (await readers.marketsBefore(signal)).map((each) => ({ ...each, fromMs: from }))
  const filled = [...book.perpetuals.values()].flatMap((perpetual) => {
    const { chain, network, connector, market, wallets } = perpetual
    return [...wallets].map(([address, { firstMs }]) => ({ chain, network, connector, market, address, fromMs: from ?? firstMs }))
  })
  for (const wallets of byExchange([...before, ...filled]))
    for (const { markets, ...wallet } of wallets) {
      const found =
        wallets.length > maxWallets
          ? { unknown: `it is asked for of ${maxWallets} wallets at most: take one wallet` }
          : await readers.fundingOf({ ...wallet, markets, toMs: to }, signal)
      for (const market of markets.keys()) {
        const paid = 'paid' in found ? found.paid.get(market) : undefined
        const unknown = 'unknown' in found ? found.unknown : `${wallet.connector} has no market ${market} any more`
        if (!paid) book.perpetualOf({ ...wallet, market }).noFunding = unknown
        else if (paid.digits !== 0n) addFunding(book.perpetualOf({ ...wallet, market }), [paid])
      }
    }
}

type MarketFrom = ExchangeWallet & { readonly market: string; readonly fromMs: number }

/** The wallets of each exchange, with their markets. */
function byExchange(all: readonly MarketFrom[]): readonly (readonly (ExchangeWallet & { readonly markets: Map<string, number> })[])[] {
  const exchanges = new Map<string, Map<string, ExchangeWallet & { readonly markets: Map<string, number> }>>()
  for (const { chain, network, connector, address, market, fromMs } of all) {
    const place = JSON.stringify([chain, network, connector])
    const wallets = exchanges.get(place) ?? new Map<string, ExchangeWallet & { readonly markets: Map<string, number> }>()
    exchanges.set(place, wallets)
    const key = addressKey(address)
    const wallet = wallets.get(key) ?? { chain, network, connector, address, markets: new Map<string, number>() }
    wallets.set(key, wallet)
    wallet.markets.set(market, fromMs)
  }
  return [...exchanges.values()].map((wallets) => [...wallets.values()])
}
