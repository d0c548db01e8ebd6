import type { Chain, Connector } from '../contracts/index.ts'
import type { LoadedVenue } from '../loader/loaded-plugin.ts'
import type { Site } from '../transactions/submit-request.ts'
import type { Directory } from '../handlers/registry.ts'
import { guarded } from '../loader/boundary.ts'

/** An exchange's own rail, as transactions go by it: what it does not have of its own is the chain's. Undefined where it has none. */
export function venueActions(venue: LoadedVenue<Partial<Connector>>, on: Chain): Site | undefined {
  const { plugin: connector, chain, network, implementation } = venue
  const { actions } = implementation
  if (!actions) return undefined
  const own = guarded(actions, venue, 'actions.')
  return {
    chain,
    network,
    connector,
    impl: {
      rail: guarded(actions.rail, venue, 'actions.rail.'),
      heads: (signal) => own.heads(signal),
      // What an exchange says for good is final.
      confirmations: 1,
      bumpAfterSeconds: on.bumpAfterSeconds,
      nativeCurrency: on.nativeCurrency,
      address: (text) => on.address(text),
      balances: (owner, tokens, at) => on.balances(owner, tokens, at),
      head: (at) => on.head(at),
    },
  }
}

/** Where transactions are made: every network, and every exchange's own rail. */
export function sitesOf({ networks, venuesOn }: Directory): readonly Site[] {
  const venues = networks.flatMap(({ chain, network }) => venuesOn(chain, network))
  return [...networks, ...venues.flatMap(({ actions }) => actions ?? [])]
}
