import type { PerpBookPosition } from '../../../contracts/index.ts'
import { tickerOf } from '../../../handlers/perp/markets.ts'
import { readAddress } from '../../../handlers/wallets.ts'
import { bookOf } from '../book-type.ts'
import type { BookVerb } from '../book-verb.ts'
import { plain } from '../figures/exact.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'

export const positions: BookVerb<'Positions'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = bookOf('PERP_CLOB', venue)
  const owner = readAddress(network, request.address)
  const only = request.market === undefined ? undefined : (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const held = await perp.positions(owner, at)
  return { positions: held.filter(({ market }) => only === undefined || market.id === only.id).map(showPosition) }
}

export const showPosition = ({ market, side, marginMode, liquidationPrice = '0', ...position }: PerpBookPosition) => ({
  market: nameOf(market),
  tickerSymbol: tickerOf(market),
  positionAmt: plain(position.amount),
  positionSide: side,
  unrealizedProfit: plain(position.unrealizedProfit),
  leverage: plain(position.leverage),
  entryPrice: plain(position.entryPrice),
  markPrice: plain(position.markPrice),
  liquidationPrice: plain(liquidationPrice),
  pendingFundingPayment: plain(position.pendingFunding),
  marginMode,
})
