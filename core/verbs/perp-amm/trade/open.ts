import { readWallet } from '../../read-wallet.ts'
import { perpOf, requireOpen } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'
import { showPosition } from '../figures/show-position.ts'
import { afterFill } from './after-fill.ts'
import { readStake, requireFree, requireMargin } from '../../../handlers/perp/margin-check.ts'
import { readPerpOrder } from './read-order.ts'
import { submitTrade } from '../../../handlers/perp/trade.ts'

/** Opens, adds to, reduces or turns a position. Margin and leverage are checked at the quote's block. */
export const open: PerpVerb<'Open'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = perpOf(venue)
  const wallet = readWallet(request, context)
  const [order, { settlement }] = await Promise.all([readPerpOrder(request, venue, at), perp.listed(at)])
  const stake = readStake(request, settlement)
  const quote = await perp.quote(order, wallet.address, at)
  const { account, position } = quote
  if (!account || !position) throw new Error(`${venue.connector} quoted for a wallet without its account and position.`)
  requireOpen(quote.market, 'TRADE_FAILED')
  requireMargin(quote, position, account, stake)
  requireFree(quote, account, settlement)
  const after = afterFill(quote, position, account)
  const shown = { position: showPosition(after.position, after.account) }
  return submitTrade({ quote, shown, planOf: (terms) => perp.open(quote, terms) }, wallet, request, context)
}
