import { badFields, SluiceError } from '../../../api/index.ts'
import { readWallet } from '../../read-wallet.ts'
import { bookOf } from '../book-type.ts'
import type { BookVerb } from '../book-verb.ts'
import { plain } from '../figures/exact.ts'
import { marketsOf, nameOf } from '../../../handlers/clob/markets.ts'
import { aboutLeverage } from '../../../handlers/clob/read-order.ts'
import { submitFunds } from './submit-funds.ts'

export const leverage: BookVerb<'Leverage'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = bookOf('PERP_CLOB', venue)
  const wallet = readWallet(request, context)
  const market = (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  if (market.maxLeverage === undefined) throw new SluiceError('UNSUPPORTED', `${nameOf(market)} has no leverage to be set.`)
  const [problem] = aboutLeverage(request, market)
  if (problem) throw badFields([problem])
  const asked = plain(request.leverage)
  const plan = await perp.leverage(market, asked, request.marginMode, wallet.address, at)
  const shown = { market: nameOf(market), leverage: asked }
  const scope = { contracts: venue.contracts, valueRaw: 0n }
  return submitFunds(plan, { about: { type: 'PERP_CLOB', how: 'leverage', ...shown }, shown, scope }, wallet, context)
}
