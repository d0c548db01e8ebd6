import type { Plan, RangeAmounts, RangePosition, RangeTerms } from '../../../../contracts/index.ts'
import type { Evm } from '../../../../../kits/evm/types.ts'
import { leastRemoved } from '../deposit/least-removed.ts'
import type { RangeExchange } from '../exchange.ts'
import { managerAbi } from '../../../../../kits/amm/v3/position-manager.ts'
import { collectCall, managerStep } from './manager-calls.ts'
import { memoOf } from './memo.ts'

/**
 * Takes liquidity out, if there is any to take, with all that is owed to the position, and burns it where it is empty then.
 * The least amounts and the deadline belong to the liquidity. Fees have no price that could move against their owner and
 * are worth no less later: collecting them alone does not expire, and the manager knows no deadline for it.
 */
export function planRemove(
  { positionManager }: RangeExchange,
  wrapped: string,
  position: RangePosition,
  { liquidity, burn }: { liquidity: bigint; burn: boolean },
  { owner, slippage, deadline, native }: RangeTerms,
): Plan<Evm> {
  const { tokenId, tickLower, tickUpper, pool } = position
  const takes = liquidity > 0n
  const least = leastRemoved(position, liquidity, slippage)
  const decrease = { tokenId, liquidity, amount0Min: least.amount0Raw, amount1Min: least.amount1Raw, deadline }
  const calls = [
    ...payout(tokenId, { pool, least, owner, wrapped: native ? wrapped : undefined }),
    ...(burn && liquidity === position.liquidity ? [managerAbi.encodeFunctionData('burn', [tokenId])] : []),
  ] as const
  return {
    steps: [managerStep(positionManager, takes ? [managerAbi.encodeFunctionData('decreaseLiquidity', [decrease]), ...calls] : calls)],
    needs: [],
    ...(takes ? { deadline } : {}),
    memo: memoOf({
      is: takes ? 'decrease' : 'collect',
      tokenId: tokenId.toString(),
      positionManager,
      pool: pool.address,
      owner,
      tickLower,
      tickUpper,
    }),
  }
}

interface Payout {
  readonly pool: RangePosition['pool']
  readonly least: RangeAmounts
  readonly owner: string
  /** The token that is to be paid as the coin. */
  readonly wrapped: string | undefined
}

const toManager = '0x0000000000000000000000000000000000000000'

/** To the owner; where the coin is among it, to the manager itself first, which unwraps it and passes the other token on. */
function payout(tokenId: bigint, { pool, least, owner, wrapped }: Payout): readonly [string, ...string[]] {
  const { token0, token1 } = pool
  if (wrapped === undefined || (token0 !== wrapped && token1 !== wrapped)) return [collectCall(tokenId, owner)]
  const coinFirst = token0 === wrapped
  const [coinRaw, otherRaw] = coinFirst ? [least.amount0Raw, least.amount1Raw] : [least.amount1Raw, least.amount0Raw]
  return [
    collectCall(tokenId, toManager),
    managerAbi.encodeFunctionData('unwrapWETH9', [coinRaw, owner]),
    managerAbi.encodeFunctionData('sweepToken', [coinFirst ? token1 : token0, otherRaw, owner]),
  ]
}
