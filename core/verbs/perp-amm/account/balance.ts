import { readAddress } from '../../../handlers/wallets.ts'
import { fromSigned } from '../../../handlers/perp/figures.ts'
import { perpOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const balance: PerpVerb<'Balance'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = perpOf(venue)
  const owner = readAddress(network, request.address)
  const [{ settlement }, { account, head }] = await Promise.all([perp.listed(at), perp.account(owner, at)])
  return {
    balance: fromSigned(account.collateralRaw, account.decimals),
    token: settlement.symbol,
    blockNumber: Number(head.number),
  }
}
