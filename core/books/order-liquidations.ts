// What exchanges of order books liquidated of the wallets of a book: it is in no order of the journal. Profit depends on the order of fills, so each wallet is asked
// for when its first order comes, and what was liquidated waits among the fills.
import { addressKey } from '../base/addresses.ts'
import type { Book } from './book.ts'
import type { BookLine } from './book-lines.ts'
import { maxWallets, type ExchangeWallet } from './funding.ts'
import type { MarketWallet } from './liquidations.ts'
import { at, type OrderTrade } from './trades.ts'

/** By market; or why nobody knows. */
export type OrderLiquidations = { readonly found: ReadonlyMap<string, readonly OrderTrade[]> } | { readonly unknown: string }

export interface OrderLiquidationPeriod extends ExchangeWallet {
  /** Milliseconds since the Unix epoch: those from then on, and before `toMs`. */
  readonly fromMs: number
  readonly toMs: number | undefined
}

export type OrderLiquidationReader = (of: OrderLiquidationPeriod, signal: AbortSignal) => Promise<OrderLiquidations>

interface LiquidationReading {
  readonly book: Book
  readonly toMs: number | undefined
  /** Only a client's transactions are in the book: a position is a wallet's, so that it is only said that there are some. */
  readonly client: string | undefined
  readonly read: OrderLiquidationReader
  readonly signal: AbortSignal
}

export function createOrderLiquidations({ book, toMs, client, read, signal }: LiquidationReading) {
  const wallets = new Map<string, Promise<OrderLiquidations>>()
  const markets = new Set<string>()
  const unknown: (MarketWallet & { readonly reason: string })[] = []

  /** Of a market in which the wallet has a position from then on. */
  async function add({ market, ...wallet }: MarketWallet, fromMs: number): Promise<void> {
    const { chain, network, connector } = wallet
    const names = [chain, network, connector, addressKey(wallet.address)]
    const name = JSON.stringify([...names, market])
    if (markets.has(name)) return
    markets.add(name)
    const of = await at(wallets, names, async () => (wallets.size < maxWallets ? read({ ...wallet, fromMs, toMs }, signal) : tooMany))
    if ('unknown' in of) {
      unknown.push({ ...wallet, market, reason: of.unknown })
      return
    }
    const own = of.found.get(market)?.filter(({ atMs }) => atMs >= fromMs) ?? []
    if (client === undefined) for (const fill of own) book.addFill({ chain, network }, fill)
    else if (own.length > 0)
      book.perpetualOf({
        chain,
        network,
        connector,
        market,
      }).lacksFills = `${connector} liquidated positions of its wallets, and not of clients: ask without one`
  }

  return {
    add,
    /** Before the book takes it. */
    async addFor({ chain, network, atMs, fills = [] }: BookLine): Promise<void> {
      for (const { perpetual } of fills) {
        if (!perpetual) continue
        const { connector, address, market } = perpetual
        await add({ chain, network, connector, address, market }, atMs)
      }
    },
    /** Once the book has all fills. */
    noteUnknown(): void {
      for (const { address, reason, ...of } of unknown) {
        const perpetual = book.perpetualOf(of)
        const wallet = perpetual.wallets.get(address)
        if (client === undefined && wallet) wallet.unknownLiquidations = reason
        else perpetual.lacksFills ??= `what ${of.connector} liquidated is not known: ${reason}`
      }
    },
  }
}

const tooMany: OrderLiquidations = { unknown: `liquidations of ${maxWallets} wallets are read at most: take one wallet` }
