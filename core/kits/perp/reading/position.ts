import type { PerpPosition } from '../../../contracts/index.ts'
import { asNumber, together, type Asked } from '../../../../kits/perp/batch-read.ts'
import { one, type Contracts, type CurieMarket } from '../../../../kits/perp/curie.ts'
import type { MarketNow } from '../../../../kits/perp/state.ts'

export interface PositionNow {
  readonly size: bigint
  readonly openNotional: bigint
  /** Above 0 where the wallet owes it. */
  readonly funding: bigint
}

/** What a wallet took in a market: what it lends to the pool as liquidity is none of its positions, and no close closes it. */
export const positionNow = ({ balances, exchange }: Contracts, { id }: CurieMarket, owner: string): Asked<PositionNow> =>
  together({
    size: asNumber(balances, 'getTakerPositionSize', owner, id),
    openNotional: asNumber(balances, 'getTakerOpenNotional', owner, id),
    funding: asNumber(exchange, 'getPendingFundingPayment', owner, id),
  })

export const toPosition = ({ size, openNotional, funding }: PositionNow, { market, prices, markRaw }: MarketNow): PerpPosition => ({
  market,
  sizeRaw: size,
  openNotionalRaw: openNotional,
  unrealizedProfitRaw: valueOf(size, markRaw) + openNotional,
  pendingFundingRaw: -funding,
  mark: prices.mark,
})

/** AccountBalance._getPositionValue: towards zero. */
export const valueOf = (sizeRaw: bigint, markRaw: bigint): bigint => (sizeRaw * markRaw) / one
