import type { At, RangePosition } from '../../../contracts/index.ts'
import { fromRaw } from '../../../decimal.ts'
import type { NetworkEntry } from '../../../handlers/registry.ts'
import type { OrderedPair } from './pair.ts'
import { showBounds, showPrice } from './prices.ts'

/** A position's tokens in its pool's order, which is how it is shown. */
export async function orderOf({ pool }: RangePosition, { tokens }: NetworkEntry, at: At): Promise<OrderedPair> {
  const pair = await Promise.all([tokens.resolve(pool.token0, 'token0', at), tokens.resolve(pool.token1, 'token1', at)])
  return { pair, reversed: false }
}

export function showPosition(position: RangePosition, order: OrderedPair) {
  const { pool, amounts, unclaimed } = position
  const [token0, token1] = order.pair
  return {
    tokenId: position.tokenId.toString(),
    token0: token0.address,
    token1: token1.address,
    fee: pool.fee,
    ...showBounds(position, order),
    amount0: fromRaw(amounts.amount0Raw, token0.decimals),
    amount1: fromRaw(amounts.amount1Raw, token1.decimals),
    unclaimedToken0: fromRaw(unclaimed.amount0Raw, token0.decimals),
    unclaimedToken1: fromRaw(unclaimed.amount1Raw, token1.decimals),
    liquidity: position.liquidity.toString(),
    inRange: position.inRange,
    poolPrice: showPrice(pool.price, order, 'down'),
    pool: pool.address,
    owner: position.owner,
  }
}
