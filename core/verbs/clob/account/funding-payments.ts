import { readAddress } from '../../../handlers/wallets.ts'
import { bookOf } from '../book-type.ts'
import type { BookVerb } from '../book-verb.ts'
import { plain } from '../figures/exact.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'
import { askedOf, cutTimedPage, readTimedPage } from '../../../handlers/pages.ts'

export const fundingPayments: BookVerb<'FundingPayments'> = async (request, { network, venue, services, signal }) => {
  const at = { signal }
  const page = readTimedPage(request, services.settings)
  const owner = readAddress(network, request.address)
  const market = request.market === undefined ? undefined : (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  const query = { market, limit: askedOf(page), before: page.before }
  const { shown, nextCursor } = cutTimedPage(await bookOf('PERP_CLOB', venue).fundingPayments(owner, query, at), page)
  const payments = shown.map(({ market: of, amount, rate, timestamp }) => {
    return { market: nameOf(of), amount: plain(amount), rate: plain(rate), timestamp }
  })
  return { payments, ...(nextCursor !== undefined && { nextCursor }) }
}
