import type { Need, Plan, RangeAmounts, RangePool, RangeTerms, TickRange } from '../../../core/contracts/index.ts'
import { nativeAddress } from '../../evm/index.ts'
import type { Evm } from '../../evm/types.ts'
import { coinTakenOnce } from '../../../core/kits/uniswap-v3/coin-taken-once.ts'
import { offerOf } from '../../../core/kits/uniswap-v3/range/deposit/offer.ts'
import type { RangeExchange } from '../../../core/kits/uniswap-v3/range/exchange.ts'
import { managerAbi } from './position-manager.ts'
import { managerStep } from '../../../core/kits/uniswap-v3/range/plans/manager-calls.ts'
import { memoOf } from '../../../core/kits/uniswap-v3/range/plans/memo.ts'

export interface Addition {
  readonly pool: RangePool
  readonly range: TickRange
  readonly most: RangeAmounts
  readonly tokenId?: bigint
}

/** A new position, or more in one. The coin goes with the call, and what is not used of it comes back in the same one. */
export function planAdd(
  { positionManager, listed }: RangeExchange,
  wrapped: string,
  { pool, range, most, tokenId }: Addition,
  { owner, slippage, deadline, native }: RangeTerms,
): Plan<Evm> {
  const { desired, least } = offerOf(pool, range, most, slippage)
  const { tickLower, tickUpper } = range
  const amounts = {
    amount0Desired: desired.amount0Raw,
    amount1Desired: desired.amount1Raw,
    amount0Min: least.amount0Raw,
    amount1Min: least.amount1Raw,
    deadline,
  }
  const { token0, token1, fee } = pool
  const call =
    tokenId === undefined
      ? managerAbi.encodeFunctionData('mint', [{ token0, token1, fee, tickLower, tickUpper, recipient: owner, ...amounts }])
      : managerAbi.encodeFunctionData('increaseLiquidity', [{ tokenId, ...amounts }])

  const offered = [
    { token: token0, amountRaw: desired.amount0Raw },
    { token: token1, amountRaw: desired.amount1Raw },
  ].filter(({ amountRaw }) => amountRaw > 0n)
  const asCoin = offered.find(({ token }) => native && token === wrapped)
  const needs = offered.flatMap((each): Need[] =>
    each === asCoin
      ? [{ is: 'balance', token: nativeAddress, amountRaw: each.amountRaw }]
      : [
          { is: 'balance', ...each },
          { is: 'allowance', ...each, spender: positionManager },
        ],
  )
  const takenOnce = asCoin ? coinTakenOnce({ wrapped, tokens: [token0, token1], spender: positionManager, listed }) : []
  const memo = { positionManager, pool: pool.address, owner, tickLower, tickUpper }
  return {
    steps: [managerStep(positionManager, asCoin ? [call, managerAbi.encodeFunctionData('refundETH')] : [call], asCoin?.amountRaw)],
    needs: [...needs, ...takenOnce],
    deadline,
    memo: memoOf(tokenId === undefined ? { is: 'mint', tokenId: null, ...memo } : { is: 'increase', tokenId: tokenId.toString(), ...memo }),
  }
}
