import type { Passage, Pool, PoolProtocol, PoolReading } from '../../pools/index.ts'
import { gasUnitsOf } from './gas.ts'
import { loanOf } from './loan.ts'
import type { PoolOrigin } from './pool-at.ts'
import { poolFinder } from './pool-finder.ts'
import { lensProbe, readLens } from './pool-lens.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { fartherLook, firstLook, unreadOf } from './reach.ts'
import { swap } from './swap.ts'

export interface V3ProtocolOptions extends PoolOrigin {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** The tiers that there are, in hundredths of a basis point. */
  readonly fees: readonly number[]
}

const oneX192 = 2n ** 192n

/** Pools of concentrated liquidity, as Uniswap v3 and its forks have them. */
export function v3Protocol({ version, fees, ...origin }: V3ProtocolOptions): PoolProtocol<RangePoolState> {
  const poolsBetween = poolFinder(origin, fees, (place) => ({ ...place, look: firstLook(place.address) }))

  return {
    version,
    read(pairs, missing): PoolReading<RangePoolState> {
      const places = pairs.flatMap(([a, b]) => poolsBetween(a, b))
      const looks = places.map(({ address, look }) => (missing.length > 0 && fartherLook(address, missing)) || look)
      if (looks.length === 0) return { calls: [], pools: () => [] }
      return {
        calls: [lensProbe(looks)],
        pools: ([result = { ok: false, data: '0x' }]) =>
          readLens(result, looks).flatMap((state, index) => {
            const place = places[index]
            return place && state && holdsSomething(state) ? [{ address: place.address, tokens: place.tokens, state }] : []
          }),
      }
    },
    pass({ address, tokens, state }, { tokenIn }, exact, amountRaw) {
      const zeroForOne = tokenIn === tokens[0]
      const swapped = swap(state, zeroForOne, exact, amountRaw)
      if (!swapped) return undefined
      if (!('atBestRaw' in swapped)) return { amountRaw: swapped.amountRaw, gasUnits: gasUnitsOf(swapped) }
      const missing = unreadOf(address, zeroForOne, zeroForOne ? state.below : state.above)
      return missing && { missing, ...swapped }
    },
    spot({ tokens, state: { sqrtPriceX96 } }: Pool<RangePoolState>, { tokenIn }: Passage) {
      const priceX192 = sqrtPriceX96 * sqrtPriceX96
      return tokenIn === tokens[0] ? { numerator: priceX192, denominator: oneX192 } : { numerator: oneX192, denominator: priceX192 }
    },
    fee: ({ state }) => String(state.fee / 1_000_000),
    loan: loanOf,
  }
}

/** A pool that was left by all has a price still, which means nothing. */
function holdsSomething({ liquidity, below, above }: RangePoolState): boolean {
  return liquidity > 0n || below.count > 0 || above.count > 0
}
