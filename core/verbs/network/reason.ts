import type { NetworkPollResponse } from '../../api/index.ts'
import type { Entry } from '../../transactions/entry.ts'
import type { Call, On, Services } from '../../handlers/context.ts'
import { meaningOf } from '../../handlers/explain-errors.ts'
import { liquidatedBefore } from '../perp-amm/trade/liquidated-before.ts'

/** Why a transaction came to nothing: what the exchange's code means, and whether a liquidation came before it. */
export async function reasonOf(
  entry: Entry,
  { network, services, signal }: Call & { services: Services } & On<'chain'>,
): Promise<Pick<NetworkPollResponse, 'reason'>> {
  const { reason, connector } = entry
  if (reason === undefined) return {}
  const venue = services.directory.venuesOn(network.chain, network.network).find((each) => each.connector === connector)
  if (!venue) return { reason }
  const meaning = meaningOf(reason, venue)
  const told = meaning === undefined ? reason : `${meaning} (${reason})`
  // What became of the transaction is worth more than why: where the exchange does not say, the rest is told.
  const hashes = await liquidatedBefore(entry, { network, venue, services, signal }).catch(() => [])
  return { reason: hashes.length === 0 ? told : `${told}; the position was liquidated before, in ${hashes.join(', ')}` }
}
