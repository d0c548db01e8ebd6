// What the transactions of a caller's wallets moved, earned and cost together: the sums of `core/books/`, with what they are worth now.
import type { BooksLine, BooksRequest, BooksResponse } from '../api/index.ts'
import { isSameAddress } from '../base/addresses.ts'
import { abortable, withTimeout } from '../base/async.ts'
import type { RecordStream } from '../base/csv.ts'
import { divideRaw, formatDecimal, formatRaw } from '../base/decimal.ts'
import type { LiquidityBook, PairBook } from '../books/book.ts'
import type { BookReaders, BookRun } from '../books/runs.ts'
import { openingTrade, type TokenOf } from '../books/trades.ts'
import { readOpening } from '../config/openings.ts'
import type { Settings } from '../config/settings.ts'
import type { Token } from '../contracts/index.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { pairName } from '../store/entry-filters.ts'
import type { EntryFilter } from '../transactions/journal/journal.ts'
import { microsOf } from '../transactions/budgets.ts'
import { bookColumns, bookLines } from './book-columns.ts'
import type { Caller, Handlers, Services } from './context.ts'
import { limitedToken, networkOf } from './limited-amounts.ts'
import { readFilter } from './transactions.ts'
import type { NetworkName } from '../base/networks.ts'

/** A run that takes longer is told of, and asked for again. */
const waitMs = 2_000
const microDecimals = 6

export const bookHandlers = {
  Books: async (request, { services, caller, signal }) => {
    const { name, run } = runOf(request, { services, caller, signal })
    try {
      await withTimeout(run.done, waitMs, () => {})
    } catch (error) {
      services.bookRuns.end(name)
      throw error
    }
    if (run.state === 'reading') return { ...progressOf(run), complete: false, ...nothing }
    services.bookRuns.end(name)
    return { ...progressOf(run), complete: true, ...showBook(run, services, caller.id) }
  },
} satisfies Partial<Handlers>

interface BookContext {
  readonly services: Pick<Services, 'bookRuns' | 'registry' | 'market' | 'settings'>
  readonly caller: Caller
  readonly signal: AbortSignal
}

function runOf(
  request: BooksRequest,
  {
    services,
    caller,
    signal,
  }: Pick<BookContext, 'caller' | 'signal'> & {
    services: Pick<Services, 'bookRuns' | 'registry'> & { readonly settings: { readonly books: Pick<Settings['books'], 'coinAsWrapped'> } }
  },
) {
  const { from, to, ...asked } = readFilter(request, caller, services.registry)
  const filter = services.settings.books.coinAsWrapped ? withCoin(asked, services.registry) : asked
  // Who may see other wallets now than a moment ago gets another run.
  const name = JSON.stringify([caller.id, filter.addresses === undefined ? 'all' : [...filter.addresses], request])
  return { name, run: services.bookRuns.of(caller.id, name, { filter, from, to }, signal) }
}

/** All values, once they are there. Its columns come at once, so that what is wrong with the request is said as by any answer. */
export function bookStream(request: BooksRequest, context: BookContext): RecordStream<BooksLine> {
  const { services, caller, signal } = context
  async function* pages(): AsyncGenerator<readonly BooksLine[]> {
    const { name, run } = runOf(request, context)
    yield []
    try {
      // Asked for again and again: nobody ends it meanwhile. Who goes away and comes back soon goes on with the same one.
      while (run.state === 'reading') {
        await abortable(
          withTimeout(run.done, waitMs, () => {}),
          signal,
        )
        if (run.state === 'reading' && runOf(request, context).run !== run)
          throw new Error('The book made room for those of other clients.')
      }
    } catch (error) {
      if (run.state === 'failed') services.bookRuns.end(name)
      throw error
    }
    services.bookRuns.end(name)
    yield bookLines({ ...progressOf(run), complete: true, ...showBook(run, services, caller.id) })
  }
  return { pages: pages(), columns: bookColumns }
}

/** The wrapped coin for the native one. */
export function wrappedFor(on: NetworkName, token: string, registry: Parameters<typeof limitedToken>[2]): string {
  const { nativeCurrency, evm } = networkOf(on, registry)?.impl ?? {}
  return nativeCurrency && isSameAddress(nativeCurrency.address, token) ? (evm?.wrapped?.token.address ?? token) : token
}

/** Tokens that no list has stay as they are named. @param lines of the setting, which its schema has checked */
export const openingsOf = (lines: readonly string[], registry: Parameters<typeof limitedToken>[2]): BookReaders['openings'] =>
  lines.flatMap((line) => {
    const opening = readOpening(line)
    if (!opening) return []
    const { chain, network, wallet } = opening
    const fill = () => openingTrade(opening, (token) => tokenNamed(opening, token, registry))
    return [{ chain, network, wallet, fill }]
  })

function tokenNamed(on: NetworkName, name: string, registry: Parameters<typeof limitedToken>[2]): string {
  const coin = networkOf(on, registry)?.impl.nativeCurrency
  if (coin && coin.symbol.toLowerCase() === name.toLowerCase()) return coin.address
  return limitedToken(on, name, registry)?.address ?? name
}

/** The pair is asked for with the coin and with its wrapped form. */
function withCoin<F extends Pick<EntryFilter, 'chain' | 'network' | 'pair' | 'pairAliases'>>(
  filter: F,
  registry: Pick<Services, 'registry'>['registry'],
): F {
  if (filter.pair === undefined) return filter
  const asked = [filter.pair, ...(filter.pairAliases ?? []).map(({ pair }) => pair)]
  const added = registry.networks.flatMap(({ chain, network, impl: { nativeCurrency: coin, evm } }) => {
    const wrapped = evm?.wrapped?.token
    if (!wrapped || (filter.chain ?? chain) !== chain || (filter.network ?? network) !== network) return []
    const names = [coin.symbol, coin.address, wrapped.symbol, wrapped.address]
    const isCoin = (name: string) => names.some((each) => each.toLowerCase() === name.toLowerCase())
    return asked.flatMap((pair) => {
      const [one = '', other = ''] = pair.split('-')
      return [
        ...(isCoin(one) ? names.map((each) => pairName(each, other)) : []),
        ...(isCoin(other) ? names.map((each) => pairName(one, each)) : []),
      ].map((each) => ({ chain, network, pair: each }))
    })
  })
  return { ...filter, pairAliases: [...(filter.pairAliases ?? []), ...added] }
}

/** Exchanges with a rail of their own have tokens of their own, and a third party's plugin names its markets as it likes. */
export const orderTokens =
  (registry: Parameters<typeof limitedToken>[2]): TokenOf =>
  (entry, symbol) =>
    entry.signer === undefined && entry.plugin === undefined ? limitedToken(entry, symbol, registry) : undefined

const progressOf = ({ entries, damaged, until, part }: BookRun) => ({
  transactions: entries,
  ...(damaged > 0 && { damaged }),
  ...(until !== undefined && { readUntil: until }),
  ...(part !== undefined && { part }),
})

type ShownBook = Omit<BooksResponse, 'complete' | keyof ReturnType<typeof progressOf>>

const nothing: ShownBook = {
  pairs: [],
  tokens: [],
  fees: [],
  perpetuals: [],
  liquidity: [],
  lacking: { movements: 0, coin: 0, fills: 0, fees: 0 },
}

function showBook({ book }: BookRun, { registry, market }: Pick<Services, 'registry' | 'market'>, client: string): ShownBook {
  const prices = pricesBy(market, client)
  const on = (of: NetworkName) => networkOf(of, registry)
  return {
    pairs: [...book.pairs.values()].map((pair) => showPair(pair, on(pair), prices)),
    tokens: [...book.tokens.values()].map(({ chain, network, token, inRaw, outRaw }) => {
      const listed = tokenAt(on({ chain, network }), token)
      const shown = listed && {
        came: formatRaw(inRaw, listed.decimals),
        left: formatRaw(outRaw, listed.decimals),
        net: formatRaw(inRaw - outRaw, listed.decimals),
      }
      return { chain, network, token, ...(listed && { symbol: listed.symbol }), ...shown, rawNet: String(inRaw - outRaw) }
    }),
    fees: [...book.fees.values()].map(({ chain, network, transactions, feeRaw }) => {
      const found = on({ chain, network })
      const coin = found?.impl.nativeCurrency
      return {
        chain,
        network,
        transactions,
        rawFee: String(feeRaw),
        ...(coin && { fee: formatRaw(feeRaw, coin.decimals), feeToken: coin.symbol }),
        ...worth(found, coin ? [{ token: coin.address, raw: feeRaw }] : [], prices, 'up'),
      }
    }),
    perpetuals: [...book.perpetuals.values()].map(
      ({ chain, network, connector, market, fills, fee, funding, realizedProfit, liquidations, noFunding, lacksFills }) => ({
        chain,
        network,
        connector,
        market,
        fills,
        fee: formatDecimal(fee),
        funding: formatDecimal(funding),
        realizedProfit: formatDecimal(realizedProfit),
        ...(liquidations > 0 && { liquidations }),
        ...(noFunding !== undefined && { noFunding }),
        ...(lacksFills !== undefined && { lacksFills }),
      }),
    ),
    liquidity: [...book.liquidity.values()].map((each) => showLiquidity(each, on(each), prices)),
    lacking: { ...book.lacking },
  }
}

function tokenAt(on: NetworkEntry | undefined, address: string): Pick<Token, 'symbol' | 'decimals' | 'address'> | undefined {
  const coin = on?.impl.nativeCurrency
  return coin?.address === address ? coin : on?.tokens.listedAt(address)
}

interface Prices {
  /** What a smallest unit is worth, at least or at most; undefined where the market does not know. */
  of(on: NetworkEntry, token: string, bound: 'lowX' | 'highX'): bigint | undefined
  referenceOf(on: NetworkEntry): string | undefined
}

function pricesBy(market: Services['market'], client: string): Prices {
  return {
    of(on, token, bound) {
      const found = market.shownValues(on, [token], bound)[token]
      if (found === undefined && market.isChecked(on)) market.watch(on, [token], client)
      return found
    },
    referenceOf: (on) => market.referenceOf(on),
  }
}

const noNetwork = 'the network does not run here'
const noPrice = (token: string) =>
  `the market has no price of ${token}: it knows listed tokens with deep pools, on networks that are held against it`

/** In quote, to its last decimal and never more than it is. */
function showPair(pair: PairBook, on: NetworkEntry | undefined, prices: Prices): ShownBook['pairs'][number] {
  const { chain, network, trades, baseDecimals, quoteDecimals, average, fifo } = pair
  const [base, quote] = pair.venue === undefined ? [tokenAt(on, pair.base), tokenAt(on, pair.quote)] : []
  const inBase = (raw: bigint) => formatRaw(raw, baseDecimals)
  const inQuote = (raw: bigint) => formatRaw(raw, quoteDecimals)
  const byMethod = (of: 'realizedRaw' | 'openRaw') => ({ averageCost: inQuote(average[of]), fifo: inQuote(fifo[of]) })
  const positionRaw = average.baseRaw
  const isShort = positionRaw < 0n
  const worthRaw = positionRaw === 0n ? 0n : valueInQuote()
  const gainOf = (openRaw: bigint, raw: bigint) => inQuote(isShort ? openRaw - raw : raw - openRaw)
  return {
    chain,
    network,
    ...(pair.venue !== undefined && { connector: pair.venue }),
    base: base?.symbol ?? pair.base,
    quote: quote?.symbol ?? pair.quote,
    trades,
    bought: inBase(pair.boughtRaw),
    spent: inQuote(pair.spentRaw),
    sold: inBase(pair.soldRaw),
    received: inQuote(pair.receivedRaw),
    position: inBase(positionRaw),
    realized: byMethod('realizedRaw'),
    open: byMethod('openRaw'),
    ...(pair.openingRaw > 0n && { opening: { amount: inBase(pair.openingRaw), cost: inQuote(pair.openingCostRaw) } }),
    ...(pair.otherFees.size > 0 && {
      otherFees: [...pair.otherFees].map(([token, amount]) => ({ token, amount: formatDecimal(amount) })),
    }),
    ...(typeof worthRaw === 'string'
      ? { unrealized: null, noValue: worthRaw }
      : { unrealized: { averageCost: gainOf(average.openRaw, worthRaw), fifo: gainOf(fifo.openRaw, worthRaw) } }),
  }

  /** What a long position brings at least, what a short one takes at most; or why nobody knows. */
  function valueInQuote(): bigint | string {
    if (!on) return noNetwork
    if (pair.venue !== undefined) return `tokens of order books on ${pair.venue} are not known to be those of ${on.chain}/${on.network}`
    if (!base || !quote) return `${base ? pair.quote : pair.base} is on no list`
    const baseX = prices.of(on, base.address, isShort ? 'highX' : 'lowX')
    const quoteX = prices.of(on, quote.address, isShort ? 'lowX' : 'highX')
    if (baseX === undefined || quoteX === undefined || quoteX === 0n) return noPrice(baseX === undefined ? base.symbol : quote.symbol)
    const heldRaw = isShort ? -positionRaw : positionRaw
    const numerator = heldRaw * baseX * 10n ** BigInt(base.decimals + quoteDecimals)
    return divideRaw(numerator, quoteX * 10n ** BigInt(baseDecimals + quote.decimals), isShort ? 'up' : 'down')
  }
}

/** In the reference token of the network. */
function worth(
  on: NetworkEntry | undefined,
  amounts: readonly { readonly token: string; readonly raw: bigint }[],
  prices: Prices,
  rounding: 'up' | 'down',
): { value: string | null; valueToken?: string; noValue?: string } {
  const reference = on && prices.referenceOf(on)
  if (!on) return { value: null, noValue: noNetwork }
  if (reference === undefined) return { value: null, noValue: `${on.chain}/${on.network} has no reference token` }
  let micros = 0n
  for (const { token, raw } of amounts) {
    // What counts against the wallet is worth at most, what counts for it at least.
    const isFor = rounding === 'down' ? raw > 0n : raw < 0n
    const x = raw === 0n ? 0n : prices.of(on, token, isFor ? 'lowX' : 'highX')
    if (x === undefined) return { value: null, noValue: noPrice(tokenAt(on, token)?.symbol ?? token) }
    micros += raw < 0n ? -microsOf(-raw, x, rounding === 'down' ? 'up' : 'down') : microsOf(raw, x, rounding)
  }
  return { value: formatRaw(micros, microDecimals), valueToken: reference }
}

function showLiquidity(book: LiquidityBook, on: NetworkEntry | undefined, prices: Prices): ShownBook['liquidity'][number] {
  const { chain, network, connector, id, version, liquidity, lacksFees, tokens, ended, notCompared } = book
  const isClosed = liquidity.digits === 0n || ended !== undefined
  const net = [...tokens].map(([token, { paidRaw, receivedRaw }]) => ({ token, raw: receivedRaw - paidRaw }))
  const unknown = whyNoValue(isClosed, book)
  const { value, noValue } = unknown === undefined ? worth(on, net, prices, 'down') : { value: null, noValue: unknown }
  return {
    chain,
    network,
    connector,
    position: id,
    ...(version !== undefined && { version }),
    closed: isClosed,
    tokens: [...tokens].map(([token, { paidRaw, receivedRaw, feesRaw }]) => {
      const listed = tokenAt(on, token)
      const show = (raw: bigint) => formatRaw(raw, listed?.decimals ?? 0)
      return { token, ...(listed && { symbol: listed.symbol }), paid: show(paidRaw), received: show(receivedRaw), fees: show(feesRaw) }
    }),
    ...(lacksFees && { lacksFees: true }),
    ...(ended !== undefined && { ended }),
    ...(notCompared !== undefined && { notCompared }),
    againstHolding: value,
    ...(noValue !== undefined && { noValue }),
  }
}

function whyNoValue(isClosed: boolean, { ended, lacksMovements }: LiquidityBook): string | undefined {
  if (ended !== undefined) return 'it was ended by no transaction of this book, so that what it brought then is not known'
  if (!isClosed) return 'it is open'
  return lacksMovements ? 'what it moved is not known' : undefined
}
