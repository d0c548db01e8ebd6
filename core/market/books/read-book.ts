import type { Book, LastTrades } from '../../contracts/index.ts'
import { compare } from './decimal.ts'
import { createLadder } from '../../live-state/price-levels.ts'
import { lastTradesOf } from '../../live-state/stream-book.ts'

/** A book as a connector gave it, in the one spelling of its numbers. Throws where it is none. */
export function readBook(given: Book & LastTrades): Book & LastTrades {
  const [buys, sells] = [createLadder('buys'), createLadder('sells')]
  if (!buys.replace(given.buys) || !sells.replace(given.sells))
    throw new Error('its levels are not sorted best first with each price once, or are no numbers above 0')
  if (buys.best !== undefined && sells.best !== undefined && compare(buys.best, sells.best) >= 0)
    throw new Error(`the best bid ${buys.best} is not below the best ask ${sells.best}`)
  const last = lastTradesOf(given)
  if (!last) throw new Error('the last price or the volume is no number')
  return { ...last, buys: buys.levels(), sells: sells.levels() }
}
