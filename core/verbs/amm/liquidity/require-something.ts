import { SluiceError } from '../../../api/index.ts'
import type { RangePosition } from '../../../contracts/index.ts'

/** An empty position earns nothing either: whatever is asked of it would only burn gas. */
export function requireSomething({ tokenId, liquidity, unclaimed }: RangePosition): void {
  if (liquidity > 0n || unclaimed.amount0Raw > 0n || unclaimed.amount1Raw > 0n) return
  throw new SluiceError(
    'TRADE_FAILED',
    `The position ${tokenId} holds nothing: no liquidity and no fees. /amm/liquidity/remove with burn: true removes the position itself.`,
    { details: { reason: 'the position is empty' } },
  )
}
