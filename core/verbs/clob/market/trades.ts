import { readAddress } from '../../../handlers/wallets.ts'
import { bookOf } from '../book-type.ts'
import type { ForBook } from '../book-verb.ts'
import { plain } from '../figures/exact.ts'
import { askedOf, cutTimedPage, readTimedPage } from '../../../handlers/pages.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'

export const trades: ForBook<'Trades'> =
  (type) =>
  async (request, { network, venue, services, signal }) => {
    const at = { signal }
    const page = readTimedPage(request, services.settings)
    const owner = request.address === undefined ? undefined : readAddress(network, request.address)
    const market = (await marketsOf(type, venue, at)).find(request.market)
    const query = { market, owner, orderId: request.orderId, limit: askedOf(page), before: page.before }
    const { shown, nextCursor } = cutTimedPage(await bookOf(type, venue).trades(query, at), page)
    return {
      trades: shown.map(({ tradeId, orderId, market: of, side, price, amount, fee, feeToken, timestamp, txHash }) => ({
        tradeId,
        ...(orderId !== undefined && { orderId }),
        market: nameOf(of),
        side,
        price: plain(price),
        amount: plain(amount),
        fee: plain(fee),
        feeToken,
        timestamp,
        ...(txHash !== undefined && { txHash }),
      })),
      ...(nextCursor !== undefined && { nextCursor }),
    }
  }
