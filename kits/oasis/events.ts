import { zeroPadValue } from 'ethers'
import type { BookSide, At } from '../../core/contracts/index.ts'
import type { FoundLog, EvmReader } from '../evm/types.ts'
import { topicOf, isSameAddress, type Pair, type Deployment } from './contract.ts'

const [make, take, kill, sort, insert] = ['LogMake', 'LogTake', 'LogKill', 'LogSortedOffer', 'LogInsert'].map(topicOf)

/** The events that change books: all others tell of the same again. */
export const bookTopics: readonly string[] = [make, take, kill, sort, insert].map(String)

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
export function pairsOfLog({ market, pairs }: Deployment, { address, topics }: FoundLog): readonly Pair[] {
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

/** What happened to an offer. `side` is the offer's; the amounts are in base and quote. */
export interface OfferLog {
  readonly is: 'made' | 'taken' | 'killed'
  readonly id: string
  readonly pair: Pair
  readonly side: BookSide
  readonly baseRaw: bigint
  readonly quoteRaw: bigint
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number
  readonly txHash: string
}

const makeOfOfferLogs = topicOf('LogMake')
const takeOfOfferLogs = topicOf('LogTake')
const killOfOfferLogs = topicOf('LogKill')

/** What a wallet did as far back as nodes look (100,000 blocks), oldest first: its offers and what it took, and what others took of its. */
export async function ownLogs(reader: EvmReader, place: Deployment, owner: string, at: At) {
  const wallet = zeroPadValue(owner, 32).toLowerCase()
  const find = async (topics: readonly (string | readonly string[] | null)[]) =>
    offerLogs(place, await reader.logs({ address: place.market, topics, fromBlock: 0 }, at))
  // The maker is the last topic of what is made and cancelled, where a take has its taker.
  const [did, taken] = await Promise.all([
    find([[makeOfOfferLogs, killOfOfferLogs, takeOfOfferLogs], null, null, wallet]),
    find([takeOfOfferLogs, null, wallet]),
  ])
  return { did, taken }
}

/** What was taken of some pairs' offers from a block on, as far back as nodes look, oldest first. */
export async function takesOf(
  reader: EvmReader,
  place: Deployment,
  pairs: readonly Pair[],
  fromBlock: number,
  at: At,
): Promise<readonly OfferLog[]> {
  const topics = [takeOfOfferLogs, pairs.flatMap(({ hashes }) => [hashes.sells, hashes.buys])]
  return offerLogs(place, await reader.logs({ address: place.market, topics, fromBlock }, at))
}

function offerLogs(place: Deployment, logs: readonly FoundLog[]): readonly OfferLog[] {
  return logs.flatMap((log) => {
    const [pair] = pairsOfLog(place, log)
    const event = pair && eventOf(pair, log)
    if (!pair || !event || !('side' in event)) return []
    const { is, side, payRaw, buyRaw } = event
    const [baseRaw, quoteRaw] = side === 'sells' ? [payRaw, buyRaw] : [buyRaw, payRaw]
    const timestamp = Number(event.timestamp) * 1000
    return [{ is, id: String(event.id), pair, side, baseRaw, quoteRaw, timestamp, txHash: log.transactionHash }]
  })
}
