import { readAddress } from '../../../handlers/wallets.ts'
import { showPosition } from '../figures/show-position.ts'
import { findMarket, perpOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const position: PerpVerb<'Position'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const read = await perpOf(venue).position(owner, await findMarket(request, venue, at), at)
  return { position: showPosition(read.position, read.account), blockNumber: Number(read.head.number) }
}
