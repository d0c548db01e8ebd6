import type { BookSide } from '../../core/contracts/index.ts'
import type { FoundLog } from '../evm/types.ts'
import { topicOf } from '../../core/kits/oasis/abi.ts'
import { isSameAddress, type Pair, type Place } from './contract.ts'

const [make, take, kill, sort, insert] = ['LogMake', 'LogTake', 'LogKill', 'LogSortedOffer', 'LogInsert'].map(topicOf)

/** The events that change books: all others tell of the same again. */
export const followed: readonly string[] = [make, take, kill, sort, insert].map(String)

interface Amounts {
  readonly id: bigint
  readonly side: BookSide
  readonly payRaw: bigint
  readonly buyRaw: bigint
  /** Seconds since the Unix epoch. */
  readonly timestamp: bigint
}

/** What happened to an offer; the amounts are those that are offered, taken of it, or were left. Sorting names no pair. */
export type OfferEvent =
  | ({ readonly is: 'made' } & Amounts)
  | ({ readonly is: 'taken' } & Amounts)
  | ({ readonly is: 'killed' } & Amounts)
  | { readonly is: 'sorted'; readonly id: bigint }
  | { readonly is: 'inserted'; readonly id: bigint }

/** The pairs that a log of the market may be about. */
export function pairsOfLog({ market, pairs }: Place, { address, topics }: FoundLog): readonly Pair[] {
  if (!isSameAddress(address, market)) return []
  const [event] = topics
  if (event === sort || event === insert) return pairs
  const hash = event === take ? topics[1] : topics[2]
  return pairs.filter(({ hashes }) => hashes.buys === hash || hashes.sells === hash)
}

/** Of the words alone: to have every address in them spelt out takes a hundred times as long. */
export function eventOf({ hashes }: Pair, { topics, data }: FoundLog): OfferEvent | undefined {
  const [event, first = '', second = ''] = topics
  const word = (index: number) => BigInt(`0x${data.slice(2 + 64 * index, 2 + 64 * (index + 1))}`)
  if (event === sort) return { is: 'sorted', id: word(0) }
  if (event === insert) return { is: 'inserted', id: word(1) }
  const isTake = event === take
  if (!isTake && event !== make && event !== kill) return undefined
  const pair = isTake ? first : second
  const side = pair === hashes.sells ? 'sells' : pair === hashes.buys ? 'buys' : undefined
  if (side === undefined) return undefined
  if (isTake) return { is: 'taken', id: word(0), side, payRaw: word(3), buyRaw: word(4), timestamp: word(5) }
  return { is: event === make ? 'made' : 'killed', id: BigInt(first), side, payRaw: word(2), buyRaw: word(3), timestamp: word(4) }
}
