import type { CLOBMarketsResponse } from '../../../api/index.ts'
import { orderTypes, timesInForce, type BookMarket, type PriceGrid } from '../../../contracts/index.ts'
import type { ForBook } from '../book-verb.ts'
import { plain } from '../figures/exact.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'

export const markets: ForBook<'Markets'> =
  (type) =>
  async (request, { venue, signal }) => {
    const { all, find } = await marketsOf(type, venue, { signal })
    const wanted = request.market === undefined ? all : [find(request.market)]
    return { markets: Object.fromEntries(wanted.map((market) => [nameOf(market), showMarket(market)])) }
  }

function showMarket(market: BookMarket): CLOBMarketsResponse['markets'][string] {
  const { base, quote, prices, lotSize, minOrderSize, minNotional, takes, makerFee, takerFee, maxLeverage, status } = market
  const times = Object.values(takes)
  return {
    market: nameOf(market),
    base,
    quote,
    ...showGrid(prices),
    lotSize: plain(lotSize),
    ...(minOrderSize !== undefined && { minOrderSize: plain(minOrderSize) }),
    ...(minNotional !== undefined && { minNotional: plain(minNotional) }),
    orderTypes: orderTypes.filter((each) => takes[each] !== undefined),
    timeInForce: timesInForce.filter((each) => times.some((taken) => taken.includes(each))),
    takes: Object.fromEntries(Object.entries(takes).map(([orderType, taken]) => [orderType, [...taken]])),
    makerFee: plain(makerFee),
    takerFee: plain(takerFee),
    ...(maxLeverage !== undefined && { maxLeverage: plain(maxLeverage) }),
    status,
  }
}

function showGrid(grid: PriceGrid) {
  if (grid === 'any') return {}
  return 'step' in grid
    ? { tickSize: plain(grid.step) }
    : { priceSignificantFigures: grid.significantFigures, priceDecimals: grid.maxDecimals }
}
