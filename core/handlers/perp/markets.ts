import type { EndpointName } from '../../api/index.ts'
import { didYouMean } from '../../config/problems.ts'
import type { At, PerpMarket, PerpMarketName, PerpPrices } from '../../contracts/index.ts'
import { formatFraction } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import type { Handler } from '../context.ts'
import { missingIn } from '../pages.ts'
import { tradingOf, type VenueEntry } from '../../plugins/index.ts'
import { showGas } from '../wallets.ts'

/** ETHUSD */
export const tickerOf = ({ base, quote }: Pick<PerpMarketName, 'base' | 'quote'>) => `${base}${quote}`

/** A market by base and quote, in any letter case. @throws SluiceError PAIR_NOT_FOUND */
export async function findMarket({ base, quote }: { base: string; quote: string }, venue: VenueEntry, at: At): Promise<PerpMarketName> {
  const { markets } = await tradingOf('PERP_AMM', venue).listMarkets(at)
  const ticker = tickerOf({ base, quote }).toUpperCase()
  const market = markets.find((each) => isSame(each.base, base) && isSame(each.quote, quote))
  if (market) return market
  const known = markets.map(tickerOf)
  throw new SluiceError(
    'PAIR_NOT_FOUND',
    `${venue.connector} has no market ${ticker}${didYouMean(ticker, known)}; /perpAMM/pairs lists them. Give base and quote in separate fields.`,
  )
}

const isSame = (a: string, b: string) => a.toUpperCase() === b.toUpperCase()

/** @throws SluiceError with the given name if the market takes no orders */
export function requireOpen(market: PerpMarket, error: 'PRICE_FAILED' | 'TRADE_FAILED'): void {
  if (market.status === 'open') return
  const reason = `the market is ${market.status}`
  throw new SluiceError(error, `${tickerOf(market)} takes no orders: ${reason}. Nothing was sent.`, { details: { reason } })
}

type Name = EndpointName extends infer N ? (N extends `PerpAMM${infer V}` ? V : never) : never

/** The handler behind an endpoint and its alias with the other prefix. */
export type PerpHandler<V extends Name> = Handler<`PerpAMM${V}`> & Handler<`Perp${V}`>

const perpMarketPrices: PerpHandler<'MarketPrices'> = async (request, { venue, signal }) => {
  const at = { signal }
  const { prices, head } = await tradingOf('PERP_AMM', venue).prices(await findMarket(request, venue, at), at)
  return { ...showPrices(prices), blockNumber: Number(head.number) }
}

export const showPrices = ({ mark, index, indexTwap }: PerpPrices) => ({
  markPrice: formatFraction(mark, 'down'),
  indexPrice: formatFraction(index, 'down'),
  indexTwapPrice: formatFraction(indexTwap, 'down'),
})

const perpMarketStatus: PerpHandler<'MarketStatus'> = async (request, { venue, signal }) => {
  const at = { signal }
  const { market, head } = await tradingOf('PERP_AMM', venue).prices(await findMarket(request, venue, at), at)
  const { status, maxLeverage } = market
  return { isActive: status === 'open', status, maxLeverage: formatFraction(maxLeverage, 'down'), blockNumber: Number(head.number) }
}

const perpPairs: PerpHandler<'Pairs'> = async (_request, { venue, signal }) => {
  const { markets, unlisted = [] } = await tradingOf('PERP_AMM', venue).listMarkets({ signal })
  const others = unlisted.map(({ market, reason }) => ({ name: market, reason }))
  return { pairs: markets.map(tickerOf), ...missingIn(markets, (pair) => ({ pair }), others) }
}

const perpEstimateGas: PerpHandler<'EstimateGas'> = async (_request, { network, venue, signal }) =>
  showGas(await network.impl.gas(tradingOf('PERP_AMM', venue).typicalGasUnits, undefined, { signal }), network)

export const perpMarketHandlers = {
  MarketPrices: perpMarketPrices,
  MarketStatus: perpMarketStatus,
  Pairs: perpPairs,
  EstimateGas: perpEstimateGas,
}
