import { badFields, SluiceError, type AMMLiquidityRemoveRequest } from '../../../api/index.ts'
import type { RangePosition } from '../../../contracts/index.ts'
import { fractionOf } from '../../../decimal.ts'
import type { Verb } from '../../../handlers/context.ts'
import { effectiveSlippage, tradeRules } from '../../../handlers/slippage.ts'
import { deadlineAfter } from '../deadline.ts'
import { findOwnPosition } from './position-of.ts'
import { rangeOf } from './range-of.ts'
import { requireSomething } from './require-something.ts'
import { orderOf } from './show-position.ts'
import { submitChange } from './submit-change.ts'
import { readWallet } from '../../read-wallet.ts'

export const ammLiquidityRemove: Verb<'AMMLiquidityRemove'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = rangeOf(venue)
  const wallet = readWallet(request, context)
  const { address } = wallet
  const percent = readPercent(request)

  const { head, position } = await findOwnPosition({ ...request, address }, venue, network, at)
  const { pool, tokenId } = position
  const { burn = false, native = false } = request
  if (!burn) requireSomething(position)
  const liquidity = shareOf(position, percent)
  const slippage = effectiveSlippage(venue.config, [pool], request.allowedSlippage)
  const deadline = deadlineAfter(head, tradeRules(venue.config, [pool]).ttlSeconds)
  const plan = range.remove(position, { liquidity, burn }, { owner: address, slippage, deadline, native })

  const order = await orderOf(position, network, at)
  const shown = { tokenId: tokenId.toString(), liquidity: liquidity.toString(), deadline }
  return submitChange({ plan, order, shown, valueRaw: 0n }, wallet, context)
}

type Percent = ReturnType<typeof fractionOf>

function readPercent({ decreasePercent = '100', burn }: AMMLiquidityRemoveRequest): Percent {
  const percent = fractionOf(decreasePercent)
  const { numerator, denominator } = percent
  if (numerator === 0n)
    throw badFields([{ field: 'decreasePercent', problem: 'must be more than 0; for the fees alone there is /amm/liquidity/collect_fees' }])
  if (numerator > 100n * denominator) throw badFields([{ field: 'decreasePercent', problem: 'must be at most 100: all of it' }])
  if (burn && numerator < 100n * denominator)
    throw badFields([{ field: 'burn', problem: 'only an emptied position can be burnt: leave decreasePercent out, or burn' }])
  return percent
}

/** Of its liquidity, rounded down. */
function shareOf({ liquidity, tokenId }: RangePosition, { numerator, denominator }: Percent): bigint {
  const share = (liquidity * numerator) / (denominator * 100n)
  if (share > 0n || numerator === 100n * denominator) return share
  if (liquidity === 0n)
    throw new SluiceError('TRADE_FAILED', `The position ${tokenId} is empty: there is no liquidity to remove.`, {
      details: { reason: 'no liquidity' },
    })
  throw badFields([{ field: 'decreasePercent', problem: `is less than one unit of the position's liquidity of ${liquidity}` }])
}
