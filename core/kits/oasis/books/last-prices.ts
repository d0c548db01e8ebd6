import type { At, Decimal, Log } from '../../../contracts/index.ts'
import type { EvmReader } from '../../../../kits/evm/types.ts'
import { takesOf } from '../history/offer-logs.ts'
import type { Pair, Place } from '../../../../kits/oasis/contract.ts'
import { takenPrice } from './state.ts'

/** What nodes look through in one call. */
const blocks = 10_000

/** What was traded last in each pair, by the pair's id; no more than a part of a ticker, so that books are shown without it. */
export async function lastPrices(
  reader: EvmReader,
  place: Place,
  pairs: readonly Pair[],
  newest: bigint,
  log: Log,
  at: At,
): Promise<ReadonlyMap<string, Decimal>> {
  try {
    const takes = await takesOf(reader, place, pairs, Number(newest) - blocks + 1, at)
    return new Map(takes.map(({ pair, side, baseRaw, quoteRaw }) => [pair.id, takenPrice(pair, side, baseRaw, quoteRaw)]))
  } catch (error) {
    log.warn({ error: String(error) }, 'The last trades could not be read: there is no last price until the next one.')
    return new Map()
  }
}
