import { SluiceError, type EventsRequest } from '../../api/index.ts'
import type { Directory, NetworkEntry, VenueEntry } from '../../handlers/registry.ts'
import { networksNamed } from '../../verbs/network/networks-named.ts'

type Names = Pick<EventsRequest, 'chain' | 'network'>

/** What a connector has of what is asked for, on all networks that the request does not rule out. @throws SluiceError where it is on none */
export async function onEachNetwork<T>(
  directory: Directory,
  connector: string,
  names: Names,
  find: (network: NetworkEntry, venue: VenueEntry) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found = await Promise.allSettled(
    networksOf(directory, connector, names).map(async ({ chain, network }) => {
      await directory.woken(chain, network, connector)
      return find(directory.network(chain, network), directory.venue(connector, chain, network))
    }),
  )
  const there = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
  // That one network has no such thing, or has no nodes, is no reason to say nothing of another.
  if (there.length > 0) return there
  const failures: unknown[] = found.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  throw failures.find((error) => error instanceof SluiceError && error.http < 500) ?? failures[0]
}

function networksOf(directory: Directory, connector: string, { chain, network }: Names): readonly NetworkEntry[] {
  const networks = networksNamed(directory, { ...(chain !== undefined && { chain }), ...(network !== undefined && { network }) })
  const serving = networks.filter((each) => directory.venuesOn(each.chain, each.network).some((venue) => venue.connector === connector))
  if (serving.length > 0) return serving
  const asked = [chain, network].filter((each) => each !== undefined).join('/')
  throw new SluiceError('UNKNOWN_CHAIN_ERROR', `The connector ${connector} does not serve ${asked}; GET /connectors lists what it serves.`)
}
