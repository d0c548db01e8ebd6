import { SluiceError } from 'sluice/plugin'
import type { At, BookMarket, PerpMarketPrices } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { plain } from '../decimal.ts'
import { perpContexts } from '../accounts.ts'

const hourMs = 3_600_000

/** Funding is paid at every full hour, at the rate of then. */
export async function readPerpPrices(ask: Ask, { id }: BookMarket, nowMs: number, at: At): Promise<PerpMarketPrices> {
  const [{ universe }, contexts] = await ask({ type: 'metaAndAssetCtxs' }, perpContexts, at)
  const context = contexts[universe.findIndex(({ name }) => name === id)]
  if (!context) throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid has no market ${id} any more.`)
  return {
    indexPrice: plain(context.oraclePx),
    markPrice: plain(context.markPx),
    fundingRate: plain(context.funding),
    nextFundingTimestamp: (Math.floor(nowMs / hourMs) + 1) * hourMs,
  }
}
