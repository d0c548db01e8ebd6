import type { CLOB, Venue, At, BookMarket, Log } from '../../core/contracts/index.ts'
import type { Evm, CallResult, EvmReader } from '../evm/types.ts'
import { oasisBooks } from './book.ts'
import { type OasisOptions, pairOfMarket, deploymentOf, oasisAbi, type Pair, type Deployment, decodeView } from './contract.ts'
import { formatRaw } from '../../core/decimal.ts'
import { ownLogs, takesOf } from './events.ts'
import { outcome } from './outcome.ts'
import { lockedBalances, orderOf, offersFromLogs, ownOffers, tradesOfMakers, tradesOfTakers } from './own-orders.ts'
import { act, typicalGasUnits } from './plan.ts'

/** A matching market on one network. `spender`: what takes from wallets what their orders pay. */
export type Oasis = CLOB<Evm> & { readonly spender: string }

/** Throws where the plugin or its configuration lacks the network. */
export function oasis(venue: Venue<Evm>, options: OasisOptions): Oasis {
  const { reader } = venue
  const place = deploymentOf(venue, options)
  const markets = cacheMarkets((at) => readMarkets(reader, place, at), venue.log)

  return {
    spender: place.market,
    typicalGasUnits,
    markets,
    books: oasisBooks(venue, place),
    async orders(owner, { market, names }, at) {
      const [known, offers] = await Promise.all([markets(), ownOffers(reader, place, owner, at)])
      const ids = names?.map(({ orderId }) => orderId)
      return offers.flatMap((offer) => {
        const ofOffer = known.find(({ id }) => id === offer.pair.id)
        const isAsked = ofOffer && (!market || market.id === ofOffer.id) && (!ids || ids.includes(offer.id))
        return isAsked ? [orderOf(offer, ofOffer)] : []
      })
    },
    async trades({ market, owner, orderId, limit, before = Infinity }, at) {
      const pair = pairOfMarket(place, market)
      const all = owner === undefined ? tradesOfTakers(await takesOf(reader, place, [pair], 0, at), market) : await tradesOf(owner, at)
      const asked = all.filter((trade) => trade.timestamp < before && (orderId === undefined || trade.orderId === orderId))
      return asked.slice(0, limit)

      async function tradesOf(wallet: string, wait: typeof at) {
        const { did, taken } = await ownLogs(reader, place, wallet, wait)
        const came = did.filter(({ is }) => is === 'taken')
        const both = [...tradesOfTakers(came, market, offersFromLogs(did, taken)), ...tradesOfMakers(taken, market)]
        return both.toSorted((a, b) => b.timestamp - a.timestamp)
      }
    },
    balances: async (owner, at) => lockedBalances(await ownOffers(reader, place, owner, at)),
    act: (owner, actions, at) => act(reader, place, owner, actions, at),
    outcome,
  }
}

const flags = ['isClosed', 'matchingEnabled', 'buyEnabled'] as const

/** The markets by the contract's own flags and least amounts, in one round trip. */
async function readMarkets(reader: EvmReader, { market, pairs }: Deployment, at: At): Promise<readonly BookMarket[]> {
  const tokens = [...new Set(pairs.flatMap(({ base, quote }) => [base.address, quote.address]))]
  const call = (method: string, ...args: readonly unknown[]) => ({ to: market, data: oasisAbi.encodeFunctionData(method, [...args]) })
  const { results } = await reader.read([...flags.map((flag) => call(flag)), ...tokens.map((token) => call('getMinSell', token))], at)
  const value = (method: string, result: CallResult | undefined): unknown => decodeView(market, method, result)[0]
  const [isClosed, matches, sells] = flags.map((flag, index) => value(flag, results[index]) === true)
  // Offers are taken where matching is off, too, but none is matched with another one; where buying is off none can be taken.
  const status = isClosed ? 'closed' : matches && sells ? 'open' : 'paused'
  const least = new Map(tokens.map((token, index) => [token, BigInt(String(value('getMinSell', results[flags.length + index])))]))
  return pairs.map((pair) => toMarket(pair, status, least))
}

function toMarket({ id, base, quote }: Pair, status: BookMarket['status'], least: ReadonlyMap<string, bigint>): BookMarket {
  const [leastBaseRaw, leastQuoteRaw] = [least.get(base.address) ?? 0n, least.get(quote.address) ?? 0n]
  return {
    id,
    base: base.symbol,
    quote: quote.symbol,
    prices: 'any',
    lotSize: formatRaw(1n, base.decimals),
    // The contract holds each against what an order pays: base of a SELL, quote of a BUY.
    ...(leastBaseRaw > 0n && { minOrderSize: formatRaw(leastBaseRaw, base.decimals) }),
    ...(leastQuoteRaw > 0n && { minNotional: formatRaw(leastQuoteRaw, quote.decimals) }),
    takes: { LIMIT: ['GTC'], MARKET: ['FOK'] },
    makerFee: '0',
    takerFee: '0',
    status,
  }
}

/** How old the list may be before it is asked for again beside the answer, and before an answer waits for it. */
const freshMs = 1000
const mostMs = 30_000
const timeoutMs = 10_000

type Read = (at: At) => Promise<readonly BookMarket[]>

/** The markets as they were read some time ago: the same array for as long as nothing changed. */
function cacheMarkets(read: Read, log: Log): () => Promise<readonly BookMarket[]> {
  let kept: { readonly markets: readonly BookMarket[]; readonly at: number } | undefined
  let reading: Promise<readonly BookMarket[]> | undefined
  // Those who come meanwhile wait for the same answer, so none of them ends it.
  const readAnew = () => (reading ??= readOnce().finally(() => (reading = undefined)))

  async function readOnce(): Promise<readonly BookMarket[]> {
    const found = await read({ signal: AbortSignal.timeout(timeoutMs) })
    const markets = kept && JSON.stringify(kept.markets) === JSON.stringify(found) ? kept.markets : found
    kept = { markets, at: performance.now() }
    return markets
  }

  return async () => {
    const ageMs = kept ? performance.now() - kept.at : Infinity
    if (!kept || ageMs > mostMs) return readAnew()
    if (ageMs > freshMs)
      readAnew().catch((error: unknown) =>
        log.warn({ error: String(error) }, 'The markets could not be read anew: what was read before is shown.'),
      )
    return kept.markets
  }
}
