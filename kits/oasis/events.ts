import { zeroPadValue } from 'ethers'
import { SluiceError, type At, type BookSide } from '../../core/contracts/index.ts'
import type { EvmReader, FoundLog } from '../evm/types.ts'
import { topicOf, wrongMarket, type Deployment, type Pair } from './contract.ts'
import { isSameAddress, wordAt, wordCount } from '../evm/encoding.ts'

const makeTopic = topicOf('LogMake')
const takeTopic = topicOf('LogTake')
const killTopic = topicOf('LogKill')
const sortTopic = topicOf('LogSortedOffer')
const insertTopic = topicOf('LogInsert')

/** The events that change books. The market's other events repeat the same information. */
export const bookTopics: readonly string[] = [makeTopic, takeTopic, killTopic, sortTopic, insertTopic]

interface Amounts {
  readonly id: bigint
  readonly side: BookSide
  readonly payRaw: bigint
  readonly buyRaw: bigint
  /** Seconds since the Unix epoch. */
  readonly timestamp: bigint
}

/** An event of an offer. The amounts are those that were offered, taken, or left when it was cancelled. Sorting does not name the pair. */
export type OfferEvent =
  | ({ readonly is: 'made' | 'taken' | 'killed' } & Amounts)
  | { readonly is: 'sorted'; readonly id: bigint }
  | { readonly is: 'inserted'; readonly id: bigint }

/** The pairs that an event of the market may belong to. */
export function pairsOfLog({ market, pairs }: Deployment, { address, topics }: FoundLog): readonly Pair[] {
  if (!isSameAddress(address, market)) return []
  const [event] = topics
  if (event === sortTopic || event === insertTopic) return pairs
  const hash = event === takeTopic ? topics[1] : topics[2]
  return pairs.filter(({ hashes }) => hashes.buys === hash || hashes.sells === hash)
}

/**
 * Decodes only the words that are needed: decoding with the ABI takes a hundred times as long, since it checksums every address.
 * @throws SluiceError SERVICE_UNINITIALIZED where the log lacks some of them
 */
export function eventOf({ hashes }: Pair, { address, topics, data }: FoundLog): OfferEvent | undefined {
  const [event, first = '', second = ''] = topics
  const word = (index: number): bigint => {
    if (index < wordCount(data)) return wordAt(data, index)
    throw new SluiceError('SERVICE_UNINITIALIZED', `${address} does not log offers as a matching market does. ${wrongMarket}`)
  }
  if (event === sortTopic) return { is: 'sorted', id: word(0) }
  if (event === insertTopic) return { is: 'inserted', id: word(1) }
  const isTake = event === takeTopic
  if (!isTake && event !== makeTopic && event !== killTopic) return undefined
  const pair = isTake ? first : second
  const side = pair === hashes.sells ? 'sells' : pair === hashes.buys ? 'buys' : undefined
  if (side === undefined) return undefined
  if (isTake) return { is: 'taken', id: word(0), side, payRaw: word(3), buyRaw: word(4), timestamp: word(5) }
  return { is: event === makeTopic ? 'made' : 'killed', id: BigInt(first), side, payRaw: word(2), buyRaw: word(3), timestamp: word(4) }
}

/** An event of an offer with its transaction. `side` is the offer's. */
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
  readonly blockNumber: number
}

/**
 * A wallet's events, oldest first, as far back as nodes search (100,000 blocks). `did`: what it offered, cancelled and took. `taken`: what
 * others took of its offers.
 */
export async function ownLogs(reader: EvmReader, deployment: Deployment, owner: string, at: At) {
  const wallet = zeroPadValue(owner, 32).toLowerCase()
  const find = async (topics: readonly (string | readonly string[] | null)[]) =>
    offerLogs(deployment, await reader.logs({ address: deployment.market, topics, fromBlock: 0 }, at))
  // The last topic is the maker, but the taker in a take.
  const [did, taken] = await Promise.all([find([[makeTopic, killTopic, takeTopic], null, null, wallet]), find([takeTopic, null, wallet])])
  return { did, taken }
}

/** The takes of some pairs' offers since a block, oldest first, as far back as nodes search. */
export async function takesOf(
  reader: EvmReader,
  deployment: Deployment,
  pairs: readonly Pair[],
  fromBlock: number,
  at: At,
): Promise<readonly OfferLog[]> {
  const topics = [takeTopic, pairs.flatMap(({ hashes }) => [hashes.sells, hashes.buys])]
  return offerLogs(deployment, await reader.logs({ address: deployment.market, topics, fromBlock }, at))
}

function offerLogs(deployment: Deployment, logs: readonly FoundLog[]): readonly OfferLog[] {
  return logs.flatMap((log) => {
    const [pair] = pairsOfLog(deployment, log)
    const event = pair && eventOf(pair, log)
    if (!pair || !event || !('side' in event)) return []
    const { is, side, payRaw, buyRaw } = event
    const [baseRaw, quoteRaw] = side === 'sells' ? [payRaw, buyRaw] : [buyRaw, payRaw]
    const timestamp = Number(event.timestamp) * 1000
    return [
      { is, id: String(event.id), pair, side, baseRaw, quoteRaw, timestamp, txHash: log.transactionHash, blockNumber: log.blockNumber },
    ]
  })
}
