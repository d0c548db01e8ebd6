// The order books of built-in connectors, as sources of the market. Each is read only while somebody whom the market holds asks for its tokens.
import { addressKey } from '../base/addresses.ts'
import { add, isLess, normalize, subtract, toFraction, type Fraction } from '../base/decimal.ts'
import type { At, Book, BookMarket, Level, MakerBook, MakerLevel, Token } from '../contracts/index.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../plugins/index.ts'
import { tokensOfMarket } from './book-tokens.ts'
import type { BookOffer, PricedBook } from './book-price.ts'
import type { Pair } from './market.ts'

interface BookReaderOptions {
  /** Built-in connectors with order books. */
  venuesOn(network: NetworkEntry): readonly VenueEntry[]
  /** The book in memory, followed from now on. @throws SluiceError where it is not as the exchange has it now */
  readBook(network: NetworkEntry, venue: VenueEntry, market: BookMarket, at: At): Promise<Book>
  /** Of this server: their orders make no market. */
  ownWallets(): readonly string[]
  /** What this server's wallets have open in the market, as far as its journal knows: where the exchange does not tell makers. */
  ownOrders(network: NetworkEntry, venue: VenueEntry, market: BookMarket): Promise<readonly OwnOrder[]>
  /** @param timestamp milliseconds since the Unix epoch */
  isStale(network: NetworkEntry, timestamp: number): boolean
  steadyMs: () => number
}

export interface OwnOrder {
  readonly side: 'BUY' | 'SELL'
  readonly price: string
  /** What is left of it, in base. */
  readonly amount: string
}

type BookReader = (network: NetworkEntry, pairs: readonly Pair[], at: At) => Promise<readonly PricedBook[]>
type OrderBooks = ReturnType<typeof tradingOf<'CLOB'>>

/** Lists of markets hardly change. */
const marketsMs = 60_000
/** Exchanges count each reading of it against their limits. */
const indexMs = 30_000

export function createBookReader({ venuesOn, readBook, ownWallets, ownOrders, isStale, steadyMs }: BookReaderOptions): BookReader {
  const listMarkets = cachedFor(marketsMs, steadyMs, async (books, at) => books.markets(at))
  const readIndexes = cachedFor(indexMs, steadyMs, async (books, at) => {
    const prices = (await books.indexPrices?.(at)) ?? []
    return new Map(prices.map(({ market, price }) => [market, price]))
  })

  async function readVenue(network: NetworkEntry, venue: VenueEntry, pairs: readonly Pair[], at: At): Promise<readonly PricedBook[]> {
    const orderBooks = tradingOf('CLOB', venue)
    const markets = (await listMarkets(orderBooks, at)).flatMap((market) => pairedMarket(market, pairs, network) ?? [])
    if (markets.length === 0) return []
    const [books, indexes] = await Promise.all([
      readMarkets(network, venue, markets, at),
      // The books may still be held against pools.
      readIndexes(orderBooks, at).catch(() => new Map<string, string>()),
    ])
    return markets.flatMap((paired) => {
      const book = books.get(paired.market.id)
      return book ? [pricedBook(venue.connector, paired, book, indexes.get(paired.market.id))] : []
    })
  }

  /** Books that cannot be read, or say nothing of now, are missing. */
  async function readMarkets(network: NetworkEntry, venue: VenueEntry, markets: readonly PairedMarket[], at: At) {
    const orderBooks = tradingOf('CLOB', venue)
    const found = new Map<string, Book | MakerBook>()
    if (orderBooks.offers) {
      const read = await orderBooks.offers(
        markets.map(({ market }) => market),
        at,
      )
      const own = new Set(ownWallets().map(addressKey))
      const ofOthers = (levels: readonly MakerLevel[]) => levels.filter(({ maker }) => !own.has(addressKey(maker)))
      if (!isStale(network, read.timestamp))
        for (const { market, buys, sells } of read.books) found.set(market, { market, buys: ofOthers(buys), sells: ofOthers(sells) })
      return found
    }
    const books = markets.map(async ({ market }) => {
      const [book, own] = await Promise.all([readBook(network, venue, market, at), ownOrders(network, venue, market)])
      found.set(market.id, { buys: withoutOwn(book.buys, 'BUY', own), sells: withoutOwn(book.sells, 'SELL', own) })
    })
    await Promise.allSettled(books)
    return found
  }

  return async (network, pairs, at) => {
    const read = venuesOn(network).map(async (venue) => readVenue(network, venue, pairs, at).catch(() => []))
    return (await Promise.all(read)).flat()
  }
}

function withoutOwn(levels: readonly Level[], side: OwnOrder['side'], own: readonly OwnOrder[]): readonly Level[] {
  const amounts = new Map<string, string>()
  for (const order of own)
    if (order.side === side) amounts.set(normalize(order.price), add(amounts.get(normalize(order.price)) ?? '0', order.amount))
  return levels.flatMap((level) => {
    const amount = amounts.get(normalize(level.price))
    if (amount === undefined) return [level]
    const quantity = subtract(level.quantity, amount)
    return isLess('0', quantity) ? [{ price: level.price, quantity }] : []
  })
}

/** Reads again what is older. Failures are not cached. */
function cachedFor<T>(forMs: number, steadyMs: () => number, read: (books: OrderBooks, at: At) => Promise<T>) {
  const cached = new WeakMap<OrderBooks, { readonly value: T; readonly atMs: number }>()
  return async (books: OrderBooks, at: At): Promise<T> => {
    const known = cached.get(books)
    if (known && steadyMs() - known.atMs < forMs) return known.value
    const value = await read(books, at)
    cached.set(books, { value, atMs: steadyMs() })
    return value
  }
}

/** An open market of one of the pairs. */
interface PairedMarket {
  readonly market: BookMarket
  readonly pair: Pair
  /** The pair's first token is the market's quote. */
  readonly isTurned: boolean
}

function pairedMarket(market: BookMarket, pairs: readonly Pair[], network: NetworkEntry): PairedMarket | undefined {
  const [base, quote] = (['base', 'quote'] as const).map((side) => onlyToken(market, side, network))
  if (market.status !== 'open' || base === undefined || quote === undefined) return undefined
  for (const pair of pairs) {
    const [tokenIn, tokenOut] = [pair.tokenIn.address, pair.tokenOut.address]
    if (tokenIn === base && tokenOut === quote) return { market, pair, isTurned: false }
    if (tokenIn === quote && tokenOut === base) return { market, pair, isTurned: true }
  }
  return undefined
}

/** The native coin counts as what wraps it. */
function onlyToken(market: BookMarket, side: 'base' | 'quote', { impl, tokens }: NetworkEntry): string | undefined {
  const [token, other] = tokensOfMarket(market, side, tokens.listed)
  if (!token || other) return undefined
  return token.address === impl.nativeCurrency.address ? impl.evm?.wrapped?.token.address : token.address
}

type AnyLevel = Level & { readonly maker?: string }

function pricedBook(
  connector: string,
  { market, pair, isTurned }: PairedMarket,
  book: { readonly buys: readonly AnyLevel[]; readonly sells: readonly AnyLevel[] },
  indexPrice: string | undefined,
): PricedBook {
  const { tokenIn, tokenOut } = pair
  const [base, quote] = isTurned ? [tokenOut, tokenIn] : [tokenIn, tokenOut]
  const priceOf = (price: string): Fraction => {
    const { numerator, denominator } = inSmallest(price, base, quote)
    return isTurned ? { numerator: denominator, denominator: numerator } : { numerator, denominator }
  }
  const offers = (levels: readonly AnyLevel[]): readonly BookOffer[] =>
    levels.flatMap(({ price, quantity, maker }) => {
      const [at, amount] = [inSmallest(price, base, quote), toFraction(quantity)]
      const baseRaw = (amount.numerator * 10n ** BigInt(base.decimals)) / amount.denominator
      if (at.numerator <= 0n) return []
      const otherRaw = isTurned ? baseRaw : (baseRaw * at.numerator) / at.denominator
      return [{ price: priceOf(price), otherRaw, ...(maker !== undefined && { maker }) }]
    })
  const [buys, sells] = isTurned ? [book.sells, book.buys] : [book.buys, book.sells]
  const index = indexPrice === undefined || inSmallest(indexPrice, base, quote).numerator <= 0n ? undefined : priceOf(indexPrice)
  return {
    connector,
    market: market.id,
    tokenIn: tokenIn.address,
    tokenOut: tokenOut.address,
    buys: offers(buys),
    sells: offers(sells),
    ...(index && { index }),
  }
}

/** Quote per base, in the smallest units of both. */
function inSmallest(price: string, base: Token, quote: Token): Fraction {
  const { numerator, denominator } = toFraction(price)
  return { numerator: numerator * 10n ** BigInt(quote.decimals), denominator: denominator * 10n ** BigInt(base.decimals) }
}
