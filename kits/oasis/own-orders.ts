import type { At, BookSide } from '../../core/contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import type { Pair, Place } from './contract.ts'
import { offerLens, readLens, type FoundOffer } from './lens.ts'
import { ownLogs, type OfferLog } from '../../core/kits/oasis/history/offer-logs.ts'

/** An offer of a wallet, with all that is known of it. */
export interface OwnOffer {
  readonly id: string
  readonly pair: Pair
  readonly side: BookSide
  /** What was offered. */
  readonly baseRaw: bigint
  readonly quoteRaw: bigint
  /** What its owner took of others in the same call, before the rest was offered. */
  readonly atOnce: readonly OfferLog[]
  /** What was taken of it. */
  readonly takes: readonly OfferLog[]
  readonly killed: OfferLog | undefined
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** Of the call that it came of, where there is a log of it. */
  readonly txHash?: string
}

/** A wallet's offers, newest first, of which there are logs; and those that were in the books before logs begin, as far as books are read. */
export async function ownOffers(reader: EvmReader, place: Place, owner: string, at: At): Promise<readonly OwnOffer[]> {
  const [{ did, taken }, { results }] = await Promise.all([
    ownLogs(reader, place, owner, at),
    reader.read([offerLens(place.market, place.pairs, owner)], at),
  ])
  const logged = loggedOffers(did, taken)
  const isKnown = new Set([...logged, ...did.filter(({ is }) => is === 'killed')].map(({ id }) => id))
  const books = readLens(results[0] ?? { ok: false, data: '0x' }, place.pairs)
  const older = place.pairs.flatMap((pair, index) =>
    (['sells', 'buys'] as const).flatMap((side) =>
      (books[index]?.[side].offers ?? []).flatMap((offer) => (isKnown.has(String(offer.id)) ? [] : [olderOffer(pair, side, offer, taken)])),
    ),
  )
  return [...logged, ...older].toSorted((a, b) => Number(BigInt(b.id) - BigInt(a.id)))
}

/** Of one contract's logs, oldest first: what a wallet did, and what others took of its offers. */
export function loggedOffers(did: readonly OfferLog[], taken: readonly OfferLog[]): readonly OwnOffer[] {
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

/** The market keeps what is left of an offer only. */
function olderOffer(pair: Pair, side: BookSide, { id, payRaw, buyRaw, timestamp }: FoundOffer, taken: readonly OfferLog[]): OwnOffer {
  const takes = taken.filter((take) => take.id === String(id))
  const [leftBaseRaw, leftQuoteRaw] = side === 'sells' ? [payRaw, buyRaw] : [buyRaw, payRaw]
  const [baseRaw, quoteRaw] = [leftBaseRaw + sumOf(takes, 'baseRaw'), leftQuoteRaw + sumOf(takes, 'quoteRaw')]
  return { id: String(id), pair, side, baseRaw, quoteRaw, atOnce: [], takes, killed: undefined, createdAt: timestamp * 1000 }
}

export const sumOf = (logs: readonly OfferLog[], of: 'baseRaw' | 'quoteRaw'): bigint => logs.reduce((sum, log) => sum + log[of], 0n)

/** What the market keeps of the owner's for it: of what the offer pays. */
export function lockedOf({ side, takes, killed, ...offered }: OwnOffer): bigint {
  const paid = side === 'sells' ? 'baseRaw' : 'quoteRaw'
  return killed ? 0n : offered[paid] - sumOf(takes, paid)
}
