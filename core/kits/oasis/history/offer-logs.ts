import { zeroPadValue } from 'ethers'
import type { At, BookSide } from '../../../contracts/index.ts'
import type { EvmReader, FoundLog } from '../../../../kits/evm/types.ts'
import { topicOf } from '../abi.ts'
import { eventOf, pairsOfLog } from '../../../../kits/oasis/events.ts'
import type { Pair, Place } from '../../../../kits/oasis/contract.ts'

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

const make = topicOf('LogMake')
const take = topicOf('LogTake')
const kill = topicOf('LogKill')

/** What a wallet did as far back as nodes look (100,000 blocks), oldest first: its offers and what it took, and what others took of its. */
export async function ownLogs(reader: EvmReader, place: Place, owner: string, at: At) {
  const wallet = zeroPadValue(owner, 32).toLowerCase()
  const find = async (topics: readonly (string | readonly string[] | null)[]) =>
    offerLogs(place, await reader.logs({ address: place.market, topics, fromBlock: 0 }, at))
  // The maker is the last topic of what is made and cancelled, where a take has its taker.
  const [did, taken] = await Promise.all([find([[make, kill, take], null, null, wallet]), find([take, null, wallet])])
  return { did, taken }
}

/** What was taken of some pairs' offers from a block on, as far back as nodes look, oldest first. */
export async function takesOf(
  reader: EvmReader,
  place: Place,
  pairs: readonly Pair[],
  fromBlock: number,
  at: At,
): Promise<readonly OfferLog[]> {
  const topics = [take, pairs.flatMap(({ hashes }) => [hashes.sells, hashes.buys])]
  return offerLogs(place, await reader.logs({ address: place.market, topics, fromBlock }, at))
}

function offerLogs(place: Place, logs: readonly FoundLog[]): readonly OfferLog[] {
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
