import { SluiceError, type BookSet, type CLOBTickerResponse } from '../../api/index.ts'
import type { At, BookMarket } from '../../contracts/index.ts'
import type { On, Services } from '../context.ts'
import type { ForBook } from '../../verbs/clob/book-verb.ts'
import { viewOf } from '../../verbs/clob/market/book-view.ts'
import { marketsOf, nameOf } from './markets.ts'

type Ticker = CLOBTickerResponse['markets'][string]

export const ticker: ForBook<'Ticker'> = (type) => async (request, context) => {
  const at = { signal: context.signal }
  const { all, find } = await marketsOf(type, context.venue, at)
  if (request.market !== undefined) {
    const market = find(request.market)
    return { markets: { [nameOf(market)]: await tickerOf(type, market, context, at) } }
  }
  const markets: Record<string, Ticker> = {}
  const failing: Record<string, string> = {}
  let failure: SluiceError | undefined
  const tell = async (market: BookMarket) => {
    try {
      markets[nameOf(market)] = await tickerOf(type, market, context, at)
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      failing[nameOf(market)] = error.message
      failure ??= error
    }
  }
  // What is closed for good has no book.
  await Promise.all(all.filter(({ status }) => status !== 'closed').map(tell))
  if (failure && Object.keys(markets).length === 0) throw failure
  return { markets, ...(failure && { failing }) }
}

async function tickerOf(type: BookSet, market: BookMarket, context: { services: Services } & On<'connector'>, at: At): Promise<Ticker> {
  const { buys, sells, lastPrice = null, volume24h, timestamp } = await viewOf(type, market, context, at)
  return {
    bestBid: buys[0]?.price ?? null,
    bestAsk: sells[0]?.price ?? null,
    lastPrice,
    ...(volume24h !== undefined && { volume24h }),
    timestamp,
  }
}
