import { readWallet } from '../../read-wallet.ts'
import { findMarket, perpOf, requireOpen } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'
import { requireFree } from '../../../handlers/perp/margin-check.ts'
import { noPosition } from './no-position.ts'
import { showSize } from './read-order.ts'
import { submitTrade } from '../../../handlers/perp/trade.ts'

/** Closes all that a wallet has in a market, or as much of it as the exchange lets go at once. */
export const close: PerpVerb<'Close'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = perpOf(venue)
  const wallet = readWallet(request, context)
  const market = await findMarket(request, venue, at)
  const closing = await perp.closing(wallet.address, market, at)
  if (!closing) throw await noPosition(wallet.address, market, context)
  // One that is closed for good pays positions out.
  if (closing.market.status === 'paused') requireOpen(closing.market, 'TRADE_FAILED')
  const { settlement } = await perp.listed(at)
  requireFree(closing, closing.account, settlement)
  const shown = { amount: showSize(closing.order) }
  return submitTrade({ quote: closing, shown, planOf: (terms) => perp.close(closing, terms) }, wallet, request, context)
}
