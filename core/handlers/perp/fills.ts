import type { Json, PerpFill, PerpLiquidation, PerpMarketName, PerpOrder } from '../../contracts/index.ts'
import { formatFraction, fromRaw } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import type { Entry } from '../../transactions/entry.ts'
import type { ConnectorContext } from '../context.ts'
import { tradingOf } from '../../plugins/index.ts'
import { pricePerBase } from './figures.ts'
import { tickerOf } from './markets.ts'

/** What the journal keeps of a change of a position, in `about`, to show its fill and to find it by its market. */
type AboutPosition = {
  ticker: string
  side: 'LONG' | 'SHORT'
}

export const aboutPosition = ({ market, side }: PerpOrder): Json => ({ ticker: tickerOf(market), side })

/** This server wrote the journal, and the entry's `kind` tells which `about` it has: of a row that somebody else wrote, none of it. */
export const readAboutPosition = (about: Json): AboutPosition => (about ?? {}) as AboutPosition

/** The price is rounded against the trader: up if it was paid, down if it was received. */
export function showPositionFill(fill: PerpFill, about: Json) {
  const { market, sizeRaw, quoteRaw, feeRaw, realizedProfitRaw, fundingRaw, closedRatio } = fill
  const { side } = readAboutPosition(about)
  return {
    size: fromRaw(sizeRaw, market.baseDecimals),
    price: formatFraction(pricePerBase(market, quoteRaw, sizeRaw), side === 'LONG' ? 'up' : 'down'),
    fee: fromRaw(feeRaw, market.quoteDecimals),
    realizedProfit: fromRaw(realizedProfitRaw, market.quoteDecimals),
    ...(fundingRaw !== undefined && { funding: fromRaw(fundingRaw, market.quoteDecimals) }),
    ...(closedRatio && { closedRatio: formatFraction(closedRatio, 'down') }),
  }
}

type JournalContext = Pick<ConnectorContext, 'network' | 'venue' | 'services' | 'signal'>

/** The liquidations of a wallet's position since its last successful trade in that market. */
async function liquidationsSince(address: string, market: PerpMarketName, context: JournalContext): Promise<readonly PerpLiquidation[]> {
  const block = await lastTradeBlock(address, tickerOf(market), context)
  return block === undefined ? [] : tradingOf('PERP_AMM', context.venue).liquidations(address, market, block, { signal: context.signal })
}

/** From the journal: it does not know trades that this server did not send. Reads the newest 500 transactions only. */
async function lastTradeBlock(address: string, ticker: string, { network, venue, services }: JournalContext): Promise<number | undefined> {
  const { entries } = await services.transactions.list({ chain: network.chain, network: network.network, address, limit: 500 })
  const isTrade = (entry: (typeof entries)[number]) => entry.kind === 'position' && entry.connector === venue.connector
  const last = entries.find((each) => isTrade(each) && each.landed?.ok === true && readAboutPosition(each.about).ticker === ticker)
  return last?.landed?.blockNumber
}

/** If a change of a position was reverted: the hashes of the liquidations before it. */
export async function liquidationsBefore({ kind, address, about, landed }: Entry, context: JournalContext): Promise<readonly string[]> {
  const { impl } = context.venue
  if (kind !== 'position' || landed?.ok !== false || !impl.PERP_AMM) return []
  const { ticker } = readAboutPosition(about)
  const { markets } = await impl.PERP_AMM.listMarkets({ signal: context.signal })
  const market = markets.find((each) => tickerOf(each) === ticker)
  const liquidations = market ? await liquidationsSince(address, market, context) : []
  return liquidations.filter(({ blockNumber }) => blockNumber <= landed.blockNumber).map(({ txHash }) => txHash)
}

/** The error of closing a position that does not exist. Names the liquidations since the wallet's last trade in that market. */
export async function noPositionError(address: string, market: PerpMarketName, context: JournalContext): Promise<SluiceError> {
  const ticker = tickerOf(market)
  const found = await liquidationsSince(address, market, context)
  if (found.length === 0) return new SluiceError('UNKNOWN_POSITION', `${address} has no position in ${ticker}: there is nothing to close.`)
  const liquidations = found.map(({ txHash, blockNumber, sizeRaw }) => {
    return { txHash, blockNumber, size: fromRaw(sizeRaw, market.baseDecimals) }
  })
  const hashes = liquidations.map(({ txHash }) => txHash).join(', ')
  return new SluiceError(
    'UNKNOWN_POSITION',
    `${address} has no position in ${ticker}: it was liquidated in ${hashes}. There is nothing to close.`,
    { details: { liquidations } },
  )
}
