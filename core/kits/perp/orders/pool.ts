import { ZeroAddress } from 'ethers'
import { lensProbe, lookAt, readLens, type Reach } from '../../../../kits/amm/v3/lens.ts'
import type { RangePoolState } from '../../uniswap-v3/pools/range-pool-state.ts'
import { asNumbers, map, orNothing, together, type Asked } from '../../../../kits/perp/batch-read.ts'
import type { Contracts, CurieMarket } from '../../../../kits/perp/curie.ts'
import type { FeeRatios } from './swap.ts'

/** How far to read a pool beside its price, in each direction: the next where a swap goes further. */
export const reaches: readonly Reach[] = [
  { words: 8, ticks: 32 },
  { words: 128, ticks: 512 },
  { words: 7000, ticks: 4096 },
]

/** A market's pool and the fees that a trader pays there; undefined where the pool has no price. */
export function poolNow(
  { registry }: Contracts,
  { id, pool }: CurieMarket,
  reach: Reach,
  trader: string = ZeroAddress,
): Asked<{ state: RangePoolState | undefined; fees: FeeRatios }> {
  const look = lookAt(pool, reach, reach)
  const asked = together({
    state: { calls: [lensProbe([look])], answer: ([result = { ok: false, data: '0x' }]) => readLens(result, [look])[0] } satisfies Asked<
      RangePoolState | undefined
    >,
    // Newer deployments give some traders a discount.
    forTrader: orNothing(asNumbers(registry, 'getMarketInfoByTrader', trader, id)),
    forAll: asNumbers(registry, 'getMarketInfo', id),
  })
  return map(asked, ({ state, forTrader, forAll }) => {
    const [, exchange = 0n, ofPool = 0n] = forTrader ?? forAll
    return { state, fees: { exchange, pool: ofPool } }
  })
}
