import {
  SluiceError,
  type At,
  type BookSide,
  type BookMarket,
  type BookOrder,
  type OrderState,
  type BookTrade,
  type BookBalance,
} from '../../core/contracts/index.ts'
import type { Call, EvmReader } from '../evm/types.ts'
import { priceOf, shownBy } from './book.ts'
import { decodeView, oasisAbi, type Pair, type Deployment, tokensOf } from './contract.ts'
import { isSameAddress } from '../evm/encoding.ts'
import { formatRaw } from '../../core/base/decimal.ts'
import { ownLogs, type OfferLog } from './events.ts'
import { readOffers, type ListedOffer } from './lens.ts'

/** An offer of a wallet, with everything that the chain says of it. */
interface OwnOffer {
  readonly id: string
  readonly pair: Pair
  readonly side: BookSide
  /** The amounts that were offered. */
  readonly baseRaw: bigint
  readonly quoteRaw: bigint
  /** What its owner took of other offers in the same call, before the rest was offered. */
  readonly atOnce: readonly OfferLog[]
  /** What others took of it. */
  readonly takes: readonly OfferLog[]
  readonly killed: OfferLog | undefined
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** The transaction that made it, where the logs reach back to it. */
  readonly txHash?: string
  /** No logs were read: the amounts are what is left of it. */
  readonly isLeft?: true
}

/**
 * A wallet's offers, newest first: those in the logs, and older ones that are still in the part of the books that is read. A pair that does not answer
 * refuses the whole list, since an order that is missing would be taken for one that is over.
 */
export async function ownOffers(
  reader: EvmReader,
  deployment: Deployment,
  owner: string,
  at: At,
  pairs = deployment.pairs,
): Promise<readonly OwnOffer[]> {
  const [{ did, taken }, { offers: books }] = await Promise.all([
    ownLogs(reader, deployment, owner, at),
    readOffers(reader, deployment.market, pairs, owner, at),
  ])
  const logged = offersFromLogs(did, taken)
  const isKnown = new Set([...logged, ...did.filter(({ is }) => is === 'killed')].map(({ id }) => id))
  const older = pairs.flatMap((pair, index) =>
    (['sells', 'buys'] as const).flatMap((side) =>
      (books[index]?.[side].offers ?? []).flatMap((offer) => (isKnown.has(String(offer.id)) ? [] : [olderOffer(pair, side, offer, taken)])),
    ),
  )
  return [...logged, ...older].toSorted((a, b) => Number(BigInt(b.id) - BigInt(a.id)))
}

export const offerCall = (market: string, id: string): Call => ({ to: market, data: oasisAbi.encodeFunctionData('offers', [id]) })

/**
 * A wallet's offers of these ids. Logs say what was filled, and how an offer ended; where nodes give none, the market says what is left of those that are
 * open.
 * @throws SluiceError NETWORK, RATE_LIMIT where only logs tell what became of one
 */
export async function offersOfIds(
  reader: EvmReader,
  deployment: Deployment,
  owner: string,
  ids: readonly string[],
  at: At,
): Promise<readonly OwnOffer[]> {
  const { market, pairs } = deployment
  const [logs, { results }] = await Promise.all([
    ownLogs(reader, deployment, owner, at).catch((error: unknown) => {
      if (error instanceof SluiceError && (error.name === 'NETWORK' || error.name === 'RATE_LIMIT')) return error
      throw error
    }),
    reader.read(
      ids.map((id) => offerCall(market, id)),
      at,
    ),
  ])
  const known = logs instanceof SluiceError ? [] : offersFromLogs(logs.did, logs.taken)
  return ids.flatMap((id, index) => {
    const logged = known.find((offer) => offer.id === id)
    if (logged) return [logged]
    const stored = decodeView(market, 'offers', results[index])
    const [pays, wants] = [String(stored['pay_gem']), String(stored['buy_gem'])]
    for (const pair of stored['owner'] === owner ? pairs : [])
      for (const side of ['sells', 'buys'] as const) {
        const [paid, wanted] = tokensOf(pair, side)
        if (!isSameAddress(paid.address, pays) || !isSameAddress(wanted.address, wants)) continue
        const left = {
          id: BigInt(id),
          payRaw: BigInt(stored['pay_amt']),
          buyRaw: BigInt(stored['buy_amt']),
          timestamp: Number(stored['timestamp']),
        }
        return [
          logs instanceof SluiceError
            ? { ...olderOffer(pair, side, left, []), isLeft: true as const }
            : olderOffer(pair, side, left, logs.taken),
        ]
      }
    // Deleted, or another's.
    if (logs instanceof SluiceError && BigInt(String(stored['timestamp'])) === 0n) throw logs
    return []
  })
}

/** From one contract's logs, oldest first: what a wallet did, and what others took of its offers. */
function offersFromLogs(did: readonly OfferLog[], taken: readonly OfferLog[]): readonly OwnOffer[] {
  const offers: OwnOffer[] = []
  const takesOf = byId(taken)
  const killsOf = byId(did.filter(({ is }) => is === 'killed'))
  let took: OfferLog[] = []
  for (const log of did) {
    if (log.is === 'taken') took.push(log)
    if (log.is !== 'made') continue
    const { id, pair, side, baseRaw, quoteRaw, timestamp, txHash } = log
    const atOnce = took.filter((take) => take.txHash === txHash && take.pair === pair && take.side !== side)
    const [takes = [], [killed] = []] = [takesOf.get(id), killsOf.get(id)]
    offers.push({ id, pair, side, baseRaw, quoteRaw, atOnce, takes, killed, createdAt: timestamp, txHash })
    took = []
  }
  return offers
}

function byId(logs: readonly OfferLog[]): ReadonlyMap<string, readonly OfferLog[]> {
  const found = new Map<string, OfferLog[]>()
  for (const log of logs) {
    const same = found.get(log.id)
    if (same) same.push(log)
    else found.set(log.id, [log])
  }
  return found
}

/** An offer from before the logs begin. The market stores only what is left of it. */
function olderOffer(pair: Pair, side: BookSide, { id, payRaw, buyRaw, timestamp }: ListedOffer, taken: readonly OfferLog[]): OwnOffer {
  const takes = taken.filter((take) => take.id === String(id))
  const [leftBaseRaw, leftQuoteRaw] = side === 'sells' ? [payRaw, buyRaw] : [buyRaw, payRaw]
  const [baseRaw, quoteRaw] = [leftBaseRaw + sumOf(takes, 'baseRaw'), leftQuoteRaw + sumOf(takes, 'quoteRaw')]
  return { id: String(id), pair, side, baseRaw, quoteRaw, atOnce: [], takes, killed: undefined, createdAt: timestamp * 1000 }
}

const sumOf = (logs: readonly OfferLog[], of: 'baseRaw' | 'quoteRaw'): bigint => logs.reduce((sum, log) => sum + log[of], 0n)

/** What the market holds of the owner's for an offer, in the token that the offer pays. */
function lockedRaw({ side, takes, killed, ...offered }: OwnOffer): bigint {
  const paid = side === 'sells' ? 'baseRaw' : 'quoteRaw'
  return killed ? 0n : offered[paid] - sumOf(takes, paid)
}

/** An offer as the order that made it. The price is that of the rest which was offered after the immediate fills. */
export function orderOf(offer: OwnOffer, market: BookMarket): BookOrder {
  const { id, pair, side, baseRaw, quoteRaw, atOnce, takes, killed, createdAt, txHash, isLeft } = offer
  const fills = [...atOnce, ...takes]
  const filledRaw = sumOf(fills, 'baseRaw')
  const { decimals } = pair.base
  return {
    orderId: id,
    ...(txHash !== undefined && { txHash }),
    market,
    side: side === 'sells' ? 'SELL' : 'BUY',
    orderType: 'LIMIT',
    price: priceOf(pair, quoteRaw, baseRaw, shownBy[side]),
    amount: formatRaw(baseRaw + sumOf(atOnce, 'baseRaw'), decimals),
    filledAmount: formatRaw(filledRaw, decimals),
    ...(isLeft && { leftAmount: formatRaw(baseRaw, decimals) }),
    // Rounded against the owner.
    ...(filledRaw > 0n && { averagePrice: priceOf(pair, sumOf(fills, 'quoteRaw'), filledRaw, side === 'sells' ? 'down' : 'up') }),
    state: stateOf(offer, filledRaw),
    createdAt,
    updatedAt: Math.max(createdAt, ...[...takes, ...(killed ? [killed] : [])].map(({ timestamp }) => timestamp)),
  }
}

function stateOf(offer: OwnOffer, filledRaw: bigint): OrderState {
  if (offer.killed) return 'CANCELED'
  if (lockedRaw(offer) === 0n) return 'FILLED'
  return filledRaw > 0n ? 'PARTIALLY_FILLED' : 'OPEN'
}

/** The trades of a wallet as taker and as maker, newest first. */
export function tradesOf(
  { did, taken }: { readonly did: readonly OfferLog[]; readonly taken: readonly OfferLog[] },
  market: BookMarket,
): readonly BookTrade[] {
  const takes = did.filter(({ is }) => is === 'taken')
  const asTaker = tradesOfTakers(takes, market, offersFromLogs(did, taken))
  // A wallet that takes its own offer has one trade as each side.
  const names = new Set(asTaker.map(({ tradeId }) => tradeId))
  const asMaker = trades(taken, market, 'maker', ({ id }) => id).map((trade) =>
    names.has(trade.tradeId) ? { ...trade, tradeId: `${trade.tradeId}-maker` } : trade,
  )
  const all = [...asTaker, ...asMaker]
  return all.toSorted((a, b) => b.timestamp - a.timestamp)
}

/** Trades from the takers' side, newest first. `offers` are those that the takers made with the rest, in the same calls. */
export function tradesOfTakers(takes: readonly OfferLog[], market: BookMarket, offers: readonly OwnOffer[] = []): readonly BookTrade[] {
  const ids = new Map(offers.flatMap(({ id, atOnce }) => atOnce.map((take) => [take, id] as const)))
  return trades(takes, market, 'taker', (take) => ids.get(take))
}

function trades(
  takes: readonly OfferLog[],
  market: BookMarket,
  who: 'maker' | 'taker',
  orderOf: (take: OfferLog) => string | undefined,
): readonly BookTrade[] {
  const counts = new Map<string, number>()
  return takes
    .filter(({ pair }) => pair.id === market.id)
    .map((take): BookTrade => {
      const { id, pair, side: offered, baseRaw, quoteRaw, timestamp, txHash, blockNumber } = take
      const side = (offered === 'sells') === (who === 'maker') ? 'SELL' : 'BUY'
      // One transaction can take several parts of an offer.
      const name = `${txHash}-${id}`
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      const orderId = orderOf(take)
      return {
        tradeId: count === 1 ? name : `${name}-${count}`,
        ...(orderId !== undefined && { orderId }),
        market,
        side,
        price: priceOf(pair, quoteRaw, baseRaw, side === 'BUY' ? 'up' : 'down'),
        amount: formatRaw(baseRaw, pair.base.decimals),
        fee: '0',
        feeToken: pair.quote.symbol,
        timestamp,
        txHash,
        blockNumber,
      }
    })
    .toReversed()
}

/** The market holds a wallet's tokens only while its offers are open. */
export function lockedBalances(offers: readonly OwnOffer[]): readonly BookBalance[] {
  const locked = new Map<string, { symbol: string; decimals: number; raw: bigint }>()
  for (const offer of offers) {
    const [{ address, symbol, decimals }] = tokensOf(offer.pair, offer.side)
    locked.set(address, { symbol, decimals, raw: (locked.get(address)?.raw ?? 0n) + lockedRaw(offer) })
  }
  return [...locked.values()].flatMap(({ symbol, decimals, raw }) => {
    const text = formatRaw(raw, decimals)
    return raw > 0n ? [{ symbol, total: text, available: '0', locked: text }] : []
  })
}
