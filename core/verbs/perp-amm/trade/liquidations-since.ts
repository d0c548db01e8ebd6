import type { PerpLiquidation, PerpMarketName } from '../../../contracts/index.ts'
import type { Services } from '../../../handlers/context.ts'
import type { NetworkEntry, VenueEntry } from '../../../handlers/registry.ts'
import { perpOf, tickerOf } from '../../../handlers/perp/markets.ts'
import { readAboutPosition } from '../../../handlers/perp/fills.ts'

export interface Where {
  network: NetworkEntry
  venue: VenueEntry
  services: Pick<Services, 'transactions'>
  signal: AbortSignal
}

/** What liquidations took of a wallet's position since its last trade in that market that came through. */
export async function liquidationsSince(address: string, market: PerpMarketName, where: Where): Promise<readonly PerpLiquidation[]> {
  const block = await lastTradeBlock(address, tickerOf(market), where)
  return block === undefined ? [] : perpOf(where.venue).liquidations(address, market, block, { signal: where.signal })
}

/** Of trades by other ways, and very old ones, nothing is known. */
async function lastTradeBlock(address: string, ticker: string, { network, venue, services }: Where): Promise<number | undefined> {
  const { entries } = await services.transactions.list({ chain: network.chain, network: network.network, address, limit: 500 })
  const isTrade = (entry: (typeof entries)[number]) => entry.kind === 'position' && entry.connector === venue.connector
  const last = entries.find((each) => isTrade(each) && each.landed?.ok === true && readAboutPosition(each.about).ticker === ticker)
  return last?.landed?.blockNumber
}
