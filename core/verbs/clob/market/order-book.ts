import type { Level } from '../../../contracts/index.ts'
import type { ForBook } from '../book-verb.ts'
import { viewOf } from './book-view.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'

export const orderBook: ForBook<'OrderBook'> = (type) => async (request, context) => {
  const at = { signal: context.signal }
  const market = (await marketsOf(type, context.venue, at)).find(request.market)
  const { buys, sells, sequence, timestamp, blockNumber } = await viewOf(type, market, context, at)
  return {
    market: nameOf(market),
    buys: top(buys, request.depth),
    sells: top(sells, request.depth),
    sequence,
    timestamp,
    ...(blockNumber !== undefined && { blockNumber }),
  }
}

/** The type of an answer is of arrays that may be written to; this one is only ever read. */
const top = (levels: readonly Level[], depth = levels.length): Level[] =>
  depth < levels.length ? levels.slice(0, depth) : (levels as Level[])
