import type { Entry } from '../../../transactions/entry.ts'
import { tickerOf } from '../../../handlers/perp/markets.ts'
import { readAboutPosition } from '../../../handlers/perp/fills.ts'
import { liquidationsSince, type Where } from './liquidations-since.ts'

/** Hashes of the liquidations that came before a change of a position, where that was reverted. */
export async function liquidatedBefore({ kind, address, about, landed }: Entry, where: Where): Promise<readonly string[]> {
  const { impl } = where.venue
  if (kind !== 'position' || landed?.ok !== false || !impl.PERP_AMM) return []
  const { ticker } = readAboutPosition(about)
  const { markets } = await impl.PERP_AMM.listed({ signal: where.signal })
  const market = markets.find((each) => tickerOf(each) === ticker)
  const suffered = market ? await liquidationsSince(address, market, where) : []
  return suffered.filter(({ blockNumber }) => blockNumber <= landed.blockNumber).map(({ txHash }) => txHash)
}
