import { SluiceError } from '../../api/index.ts'
import type { Json, PerpFill, PerpOrder, PerpLiquidation, PerpMarketName } from '../../contracts/index.ts'
import { formatFraction, fromRaw } from '../../decimal.ts'
import type { Entry } from '../../transactions/entry.ts'
import type { Services } from '../context.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'
import { pricePerBase } from './figures.ts'
import { tickerOf, perpOf } from './markets.ts'

/** What the journal keeps of a change of a position, so that its fill can be shown, and found by its market. */
interface AboutPosition {
  ticker: string
  side: 'LONG' | 'SHORT'
}

export const aboutPosition = ({ market, side }: PerpOrder): Json => ({ ticker: tickerOf(market), side })

/** Reads it back: the journal is this server's own, and its `kind` says what is in it. */
const readAboutPosition = (about: Json): AboutPosition => about as unknown as AboutPosition

/** The price is rounded against optimism: up where it was paid, down where it was received. */
export function showPositionFill({ market, sizeRaw, quoteRaw, feeRaw, realizedProfitRaw, closedRatio }: PerpFill, about: Json) {
  const { side } = readAboutPosition(about)
  return {
    size: fromRaw(sizeRaw, market.baseDecimals),
    price: formatFraction(pricePerBase(market, quoteRaw, sizeRaw), side === 'LONG' ? 'up' : 'down'),
    fee: fromRaw(feeRaw, market.quoteDecimals),
    realizedProfit: fromRaw(realizedProfitRaw, market.quoteDecimals),
    ...(closedRatio && { closedRatio: formatFraction(closedRatio, 'down') }),
  }
}

interface LiquidationQuery {
  network: NetworkEntry
  venue: VenueEntry
  services: Pick<Services, 'transactions'>
  signal: AbortSignal
}

/** What liquidations took of a wallet's position since its last trade in that market that came through. */
async function liquidationsSince(address: string, market: PerpMarketName, where: LiquidationQuery): Promise<readonly PerpLiquidation[]> {
  const block = await lastTradeBlock(address, tickerOf(market), where)
  return block === undefined ? [] : perpOf(where.venue).liquidations(address, market, block, { signal: where.signal })
}

/** Of trades by other ways, and very old ones, nothing is known. */
async function lastTradeBlock(
  address: string,
  ticker: string,
  { network, venue, services }: LiquidationQuery,
): Promise<number | undefined> {
  const { entries } = await services.transactions.list({ chain: network.chain, network: network.network, address, limit: 500 })
  const isTrade = (entry: (typeof entries)[number]) => entry.kind === 'position' && entry.connector === venue.connector
  const last = entries.find((each) => isTrade(each) && each.landed?.ok === true && readAboutPosition(each.about).ticker === ticker)
  return last?.landed?.blockNumber
}

/** Hashes of the liquidations that came before a change of a position, where that was reverted. */
export async function liquidationsBefore({ kind, address, about, landed }: Entry, where: LiquidationQuery): Promise<readonly string[]> {
  const { impl } = where.venue
  if (kind !== 'position' || landed?.ok !== false || !impl.PERP_AMM) return []
  const { ticker } = readAboutPosition(about)
  const { markets } = await impl.PERP_AMM.listed({ signal: where.signal })
  const market = markets.find((each) => tickerOf(each) === ticker)
  const suffered = market ? await liquidationsSince(address, market, where) : []
  return suffered.filter(({ blockNumber }) => blockNumber <= landed.blockNumber).map(({ txHash }) => txHash)
}

/** Nothing is there to close; where a liquidation took it since the wallet's last trade there, it is said. */
export async function noPositionError(address: string, market: PerpMarketName, where: LiquidationQuery): Promise<SluiceError> {
  const ticker = tickerOf(market)
  const suffered = await liquidationsSince(address, market, where)
  if (suffered.length === 0)
    return new SluiceError('UNKNOWN_POSITION', `${address} has no position in ${ticker}: there is nothing to close.`)
  const liquidations = suffered.map(({ txHash, blockNumber, sizeRaw }) => {
    return { txHash, blockNumber, size: fromRaw(sizeRaw, market.baseDecimals) }
  })
  const hashes = liquidations.map(({ txHash }) => txHash).join(', ')
  return new SluiceError(
    'UNKNOWN_POSITION',
    `${address} has no position in ${ticker} any more: it was liquidated in ${hashes}. There is nothing to close.`,
    { details: { liquidations } },
  )
}
