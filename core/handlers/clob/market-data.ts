import type { BookSet, CLOBMarketsResponse, CLOBTickerResponse } from '../../api/index.ts'
import { orderTypes, timesInForce, type BookMarket, type Level, type PriceGrid } from '../../contracts/index.ts'
import { normalize } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import type { ConnectorContext } from '../context.ts'
import { cutTimedPage, missingIn, queryLimit, readTimedPage } from '../pages.ts'
import { tradingOf } from '../../plugins/index.ts'
import { readAddress, showGas } from '../wallets.ts'
import { marketName, marketsOf, readBook, type BookHandler, type BookHandlerFor } from './markets.ts'

const clobMarkets: BookHandlerFor<'Markets'> =
  (type) =>
  async (request, { venue, signal }) => {
    const at = { signal }
    const { all, find } = await marketsOf(type, venue, at)
    const show = (markets: readonly BookMarket[]) => ({
      markets: Object.fromEntries(markets.map((market) => [marketName(market), showMarket(market)])),
    })
    if (request.market !== undefined) return show([find(request.market)])
    const unlisted = (await tradingOf(type, venue).unlisted?.(at)) ?? []
    return {
      ...show(all),
      ...missingIn(
        all,
        (market) => ({ market }),
        unlisted.map(({ market, reason }) => ({ name: market, reason })),
      ),
    }
  }

function showMarket(market: BookMarket): CLOBMarketsResponse['markets'][string] {
  const { base, quote, prices, lotSize, minOrderSize, minNotional, takes, makerFee, takerFee, maxLeverage, status } = market
  const times = Object.values(takes)
  return {
    market: marketName(market),
    base,
    quote,
    ...showGrid(prices),
    lotSize: normalize(lotSize),
    ...(minOrderSize !== undefined && { minOrderSize: normalize(minOrderSize) }),
    ...(minNotional !== undefined && { minNotional: normalize(minNotional) }),
    orderTypes: orderTypes.filter((each) => takes[each] !== undefined),
    timeInForce: timesInForce.filter((each) => times.some((own) => own.includes(each))),
    takes: Object.fromEntries(Object.entries(takes).map(([orderType, own]) => [orderType, [...own]])),
    makerFee: normalize(makerFee),
    takerFee: normalize(takerFee),
    ...(maxLeverage !== undefined && { maxLeverage: normalize(maxLeverage) }),
    status,
  }
}

function showGrid(grid: PriceGrid) {
  if (grid === 'any') return {}
  return 'step' in grid
    ? { tickSize: normalize(grid.step) }
    : { priceSignificantFigures: grid.significantFigures, priceDecimals: grid.maxDecimals }
}

type Ticker = CLOBTickerResponse['markets'][string]

const clobTicker: BookHandlerFor<'Ticker'> = (type) => async (request, context) => {
  const at = { signal: context.signal }
  const { all, find } = await marketsOf(type, context.venue, at)
  if (request.market !== undefined) {
    const market = find(request.market)
    return { markets: { [marketName(market)]: await tickerOf(type, market, context) } }
  }
  const markets: Record<string, Ticker> = {}
  const failing: Record<string, string> = {}
  let failure: SluiceError | undefined
  const add = async (market: BookMarket) => {
    try {
      markets[marketName(market)] = await tickerOf(type, market, context)
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      failing[marketName(market)] = error.message
      failure ??= error
    }
  }
  // A market that is closed for good has no book.
  await Promise.all(all.filter(({ status }) => status !== 'closed').map(add))
  if (failure && Object.keys(markets).length === 0) throw failure
  return { markets, ...(failure && { failing }) }
}

async function tickerOf(type: BookSet, market: BookMarket, context: ConnectorContext): Promise<Ticker> {
  const { buys, sells, lastPrice = null, volume24h, timestamp } = await readBook(type, market, context)
  return {
    bestBid: buys[0]?.price ?? null,
    bestAsk: sells[0]?.price ?? null,
    lastPrice,
    ...(volume24h !== undefined && { volume24h }),
    timestamp,
  }
}

const clobOrderBook: BookHandlerFor<'OrderBook'> = (type) => async (request, context) => {
  const at = { signal: context.signal }
  const market = (await marketsOf(type, context.venue, at)).find(request.market)
  const { buys, sells, sequence, timestamp, blockNumber } = await readBook(type, market, context)
  return {
    market: marketName(market),
    buys: top(buys, request.depth),
    sells: top(sells, request.depth),
    sequence,
    timestamp,
    ...(blockNumber !== undefined && { blockNumber }),
  }
}

/** The response type has writable arrays; nothing writes to this one. */
const top = (levels: readonly Level[], depth = levels.length): Level[] =>
  depth < levels.length ? levels.slice(0, depth) : (levels as Level[])

const clobTrades: BookHandlerFor<'Trades'> =
  (type) =>
  async (request, { network, venue, services, signal }) => {
    const at = { signal }
    const page = readTimedPage(request, services.settings)
    const owner = request.address === undefined ? undefined : readAddress(network, request.address)
    const market = (await marketsOf(type, venue, at)).find(request.market)
    const query = { market, owner, orderId: request.orderId, limit: queryLimit(page), before: page.before }
    const found = await tradingOf(type, venue).trades(query, at)
    const { shown, nextCursor } = cutTimedPage(found, page)
    return {
      ...missingIn(found, (tradeId) => ({ tradeId })),
      trades: shown.map(({ tradeId, orderId, market: of, side, price, amount, fee, feeToken, timestamp, txHash }) => ({
        tradeId,
        ...(orderId !== undefined && { orderId }),
        market: marketName(of),
        side,
        price: normalize(price),
        amount: normalize(amount),
        fee: normalize(fee),
        feeToken,
        timestamp,
        ...(txHash !== undefined && { txHash }),
      })),
      ...(nextCursor !== undefined && { nextCursor }),
    }
  }

const clobFundingInfo: BookHandler<'FundingInfo'> = async (request, { venue, signal }) => {
  const at = { signal }
  const market = (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const { fundingRate, indexPrice, markPrice, nextFundingTimestamp } = await tradingOf('PERP_CLOB', venue).prices(market, at)
  return {
    market: marketName(market),
    fundingRate: normalize(fundingRate),
    indexPrice: normalize(indexPrice),
    markPrice: normalize(markPrice),
    nextFundingTimestamp,
  }
}

const clobLastTradePrice: BookHandler<'LastTradePrice'> = async (request, context) => {
  const at = { signal: context.signal }
  const market = (await marketsOf('PERP_CLOB', context.venue, at)).find(request.market)
  const { lastPrice, timestamp } = await readBook('PERP_CLOB', market, context)
  if (lastPrice === undefined)
    throw new SluiceError('PRICE_FAILED', `${context.venue.connector} reports no trade in ${marketName(market)}.`)
  return { market: marketName(market), lastTradePrice: lastPrice, timestamp }
}

const noGas = { gasLimit: 0n, gasPriceRaw: 0n, gasCostRaw: 0n }

/** Zero if orders are not transactions. */
const clobEstimateGas: BookHandlerFor<'EstimateGas'> =
  (type) =>
  async (_request, { network, venue, signal }) => {
    const { typicalGasUnits } = tradingOf(type, venue)
    return showGas(typicalGasUnits === undefined ? noGas : await network.impl.gas(typicalGasUnits, undefined, { signal }), network)
  }

export const marketDataHandlers = (type: BookSet) => ({
  Markets: clobMarkets(type),
  Ticker: clobTicker(type),
  OrderBook: clobOrderBook(type),
  Trades: clobTrades(type),
  EstimateGas: clobEstimateGas(type),
})

export const perpMarketDataHandlers = {
  FundingInfo: clobFundingInfo,
  LastTradePrice: clobLastTradePrice,
}
