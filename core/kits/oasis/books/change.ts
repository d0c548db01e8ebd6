import type { BookSide } from '../../../contracts/index.ts'
import type { FoundLog } from '../../evm/types.ts'
import { oasisAbi, topicOf } from '../abi.ts'
import { isSameAddress, type Pair, type Place } from '../pairs.ts'

const [make, take, kill, sort, insert] = ['LogMake', 'LogTake', 'LogKill', 'LogSortedOffer', 'LogInsert'].map(topicOf)

/** The events that change books: all others tell of the same again. */
export const followed: readonly string[] = [make, take, kill, sort, insert].map(String)

interface Amounts {
  readonly id: bigint
  readonly side: BookSide
  readonly payRaw: bigint
  readonly buyRaw: bigint
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

export function eventOf({ hashes }: Pair, { topics, data }: FoundLog): OfferEvent | undefined {
  const parsed = oasisAbi.parseLog({ topics: [...topics], data })
  if (!parsed) return undefined
  const { name, args } = parsed
  const id = BigInt(args['id'])
  if (name === 'LogSortedOffer') return { is: 'sorted', id }
  if (name === 'LogInsert') return { is: 'inserted', id }
  const side = args['pair'] === hashes.sells ? 'sells' : args['pair'] === hashes.buys ? 'buys' : undefined
  if (side === undefined) return undefined
  if (name === 'LogTake') return { is: 'taken', id, side, payRaw: args['take_amt'], buyRaw: args['give_amt'] }
  return { is: name === 'LogMake' ? 'made' : 'killed', id, side, payRaw: args['pay_amt'], buyRaw: args['buy_amt'] }
}
