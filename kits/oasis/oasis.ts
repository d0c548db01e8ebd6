import { SluiceError, type CLOB, type Venue, type At, type BookMarket, type Log, type UnlistedMarket } from '../../core/contracts/index.ts'
import type { Evm, CallResult, EvmReader } from '../evm/types.ts'
import { oasisBooks } from './book.ts'
import { type OasisOptions, pairOfMarket, deploymentOf, oasisAbi, type Pair, type Deployment, decodeView } from './contract.ts'
import { formatRaw } from '../../core/base/decimal.ts'
import { ownLogs, takesOf } from './events.ts'
import { readMakerBooks } from './maker-books.ts'
import { outcome } from './outcome.ts'
import { lockedBalances, offersOfIds, orderOf, ownOffers, tradesOf, tradesOfTakers } from './own-orders.ts'
import { act, isOfferId, typicalGasUnits } from './plan.ts'

/** A matching market on one network. `spender` is the contract that takes tokens from wallets. */
export type Oasis = CLOB<Evm> & { readonly spender: string }

/** @throws where the plugin or its configuration lacks the network */
export function oasis(venue: Venue<Evm>, options: OasisOptions): Oasis {
  const { reader } = venue
  const deployment = deploymentOf(venue, options)
  let unread: readonly UnlistedMarket[] = []
  const markets = cacheMarkets(async (at) => {
    const found = await readMarkets(reader, deployment, at)
    unread = found.unread
    return found.markets
  }, venue.log)

  return {
    spender: deployment.market,
    typicalGasUnits,
    markets,
    unlisted: async () => [...deployment.unlisted, ...unread],
    books: oasisBooks(venue, deployment),
    offers: (markets, at) => readMakerBooks(reader, deployment, markets, at),
    async orders(owner, { market, names }, at) {
      // The market gives orders their ids, and knows no others.
      const ids = names?.flatMap(({ orderId }) => (orderId !== undefined && isOfferId(orderId) ? [orderId] : []))
      const reading = ids
        ? offersOfIds(reader, deployment, owner, ids, at)
        : ownOffers(reader, deployment, owner, at, market && [pairOfMarket(deployment, market)])
      const [known, offers] = await Promise.all([markets(), reading])
      return offers.flatMap((offer) => {
        const ofOffer = known.find(({ id }) => id === offer.pair.id)
        const isRequested = ofOffer && (!market || market.id === ofOffer.id) && (!ids || ids.includes(offer.id))
        return isRequested ? [orderOf(offer, ofOffer)] : []
      })
    },
    async trades({ market, owner, orderId, limit, before = Infinity }, at) {
      const pair = pairOfMarket(deployment, market)
      const all =
        owner === undefined
          ? tradesOfTakers(await takesOf(reader, deployment, [pair], 0, at), market)
          : tradesOf(await ownLogs(reader, deployment, owner, at), market)
      return all.filter((trade) => trade.timestamp < before && (orderId === undefined || trade.orderId === orderId)).slice(0, limit)
    },
    balances: async (owner, at) => lockedBalances(await ownOffers(reader, deployment, owner, at)),
    act: (owner, actions, at) => act(reader, deployment, owner, actions, at),
    outcome,
  }
}

const flags = ['isClosed', 'matchingEnabled', 'buyEnabled'] as const

/** The markets by the contract's own flags and minimum amounts, in one round trip, and those whose amounts it does not tell. */
async function readMarkets(reader: EvmReader, { market, pairs }: Deployment, at: At) {
  const tokens = [...new Set(pairs.flatMap(({ base, quote }) => [base.address, quote.address]))]
  const call = (method: string, ...args: readonly unknown[]) => ({ to: market, data: oasisAbi.encodeFunctionData(method, [...args]) })
  const { results } = await reader.read([...flags.map((flag) => call(flag)), ...tokens.map((token) => call('getMinSell', token))], at)
  const value = (method: string, result: CallResult | undefined): unknown => decodeView(market, method, result)[0]
  const [isClosed, isMatching, isBuyEnabled] = flags.map((flag, index) => value(flag, results[index]) === true)
  // Without matching, new offers are accepted but not matched. Without buying, no offer can be taken.
  const status = isClosed ? 'closed' : isMatching && isBuyEnabled ? 'open' : 'paused'
  const minSell = new Map<string, bigint>()
  const reasons = new Map<string, SluiceError>()
  for (const [index, token] of tokens.entries())
    try {
      minSell.set(token, BigInt(String(value('getMinSell', results[flags.length + index]))))
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      reasons.set(token, error)
    }
  const markets: BookMarket[] = []
  const unread: UnlistedMarket[] = []
  for (const pair of pairs) {
    const failure = reasons.get(pair.base.address) ?? reasons.get(pair.quote.address)
    if (failure) unread.push({ market: `${pair.base.symbol}-${pair.quote.symbol}`, reason: failure.message })
    else markets.push(toMarket(pair, status, minSell))
  }
  const [first] = reasons.values()
  if (first && markets.length === 0) throw first
  return { markets, unread }
}

function toMarket({ id, base, quote }: Pair, status: BookMarket['status'], minSell: ReadonlyMap<string, bigint>): BookMarket {
  const [minBaseRaw, minQuoteRaw] = [minSell.get(base.address) ?? 0n, minSell.get(quote.address) ?? 0n]
  return {
    id,
    base: base.symbol,
    quote: quote.symbol,
    tokens: { base: base.address, quote: quote.address },
    prices: 'any',
    lotSize: formatRaw(1n, base.decimals),
    // The contract compares each with what an order pays: base for a SELL, quote for a BUY.
    ...(minBaseRaw > 0n && { minOrderSize: formatRaw(minBaseRaw, base.decimals) }),
    ...(minQuoteRaw > 0n && { minNotional: formatRaw(minQuoteRaw, quote.decimals) }),
    takes: { LIMIT: ['GTC'], MARKET: ['FOK'] },
    makerFee: '0',
    takerFee: '0',
    status,
  }
}

/** Up to this age the cached list is returned as it is, up to the next it is read again beside the answer. */
const freshMs = 1000
const maxAgeMs = 30_000
const timeoutMs = 10_000

/** Caches the list of markets: the same array for as long as nothing changed. */
function cacheMarkets(read: (at: At) => Promise<readonly BookMarket[]>, log: Log): () => Promise<readonly BookMarket[]> {
  let cached: { readonly markets: readonly BookMarket[]; readonly readAtMs: number } | undefined
  let reading: Promise<readonly BookMarket[]> | undefined
  // Callers share one read, so that no caller's signal may end it.
  const readShared = () => (reading ??= readOnce().finally(() => (reading = undefined)))

  async function readOnce(): Promise<readonly BookMarket[]> {
    const found = await read({ signal: AbortSignal.timeout(timeoutMs) })
    const markets = cached && JSON.stringify(cached.markets) === JSON.stringify(found) ? cached.markets : found
    cached = { markets, readAtMs: performance.now() }
    return markets
  }

  return async () => {
    const ageMs = cached ? performance.now() - cached.readAtMs : Infinity
    if (!cached || ageMs > maxAgeMs) return readShared()
    if (ageMs > freshMs)
      readShared().catch((error: unknown) => log.warn({ error: String(error) }, 'markets not read: the cached list is still returned'))
    return cached.markets
  }
}
