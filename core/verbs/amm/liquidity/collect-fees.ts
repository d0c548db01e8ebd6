import { fromRaw } from '../../../decimal.ts'
import type { Verb } from '../../../handlers/context.ts'
import { effectiveSlippage, tradeRules } from '../../../handlers/slippage.ts'
import { deadlineAfter } from '../deadline.ts'
import { findOwnPosition } from './position-of.ts'
import { rangeOf } from './range-of.ts'
import { requireSomething } from './require-something.ts'
import { orderOf } from './show-position.ts'
import { submitChange } from './submit-change.ts'
import { readWallet } from '../../read-wallet.ts'

export const ammLiquidityCollectFees: Verb<'AMMLiquidityCollectFees'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = rangeOf(venue)
  const wallet = readWallet(request, context)
  const { address } = wallet

  const { head, position } = await findOwnPosition({ ...request, address }, venue, network, at)
  requireSomething(position)
  const { pool, unclaimed, tokenId } = position
  const { native = false } = request
  const slippage = effectiveSlippage(venue.config, [pool], undefined)
  const deadline = deadlineAfter(head, tradeRules(venue.config, [pool]).ttlSeconds)
  const plan = range.collect(position, { owner: address, slippage, deadline, native })

  const order = await orderOf(position, network, at)
  const [token0, token1] = order.pair
  const shown = {
    tokenId: tokenId.toString(),
    unclaimedToken0: fromRaw(unclaimed.amount0Raw, token0.decimals),
    unclaimedToken1: fromRaw(unclaimed.amount1Raw, token1.decimals),
  }
  return submitChange({ plan, order, shown, valueRaw: 0n }, wallet, context)
}
