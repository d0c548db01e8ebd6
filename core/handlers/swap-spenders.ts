// The spender `any`: what swaps by the best of all connectors of a network need, of those that the caller may use.
import { anyConnector } from '../api/endpoint.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { At } from '../contracts/index.ts'
import type { NetworkEntry, VenueEntry } from '../plugins/index.ts'
import type { Caller, Services } from './context.ts'
import { readSpenders, type Spenders } from './spenders.ts'
import { touchedVenue } from './touches.ts'

interface SpenderContext {
  readonly network: NetworkEntry
  readonly caller: Pick<Caller, 'id'>
  readonly services: Pick<Services, 'registry' | 'allowLists'>
}

interface SpendersOfMany extends Spenders {
  /** The connectors whose spenders these are, where there may be several. */
  readonly venues?: readonly VenueEntry[]
}

/**
 * Reads `spender`, which may be `any`.
 * @throws SluiceError INCOMPLETE_PARAMS; of `any` UNSUPPORTED, and LIMIT_EXCEEDED where the caller may use no connector
 */
export async function readEverySpender(text: string, context: SpenderContext, at: At): Promise<SpendersOfMany> {
  const { network, services } = context
  const [name, ...label] = text.split('/')
  if (name !== anyConnector) return readSpenders(text, network, services.registry, at)
  if (label.length > 0)
    throw badFields([
      { field: 'spender', problem: `"${anyConnector}" is what swaps need, and has no labels: leave "/${label.join('/')}" out` },
    ])
  const venues = usableVenues(context)
  const each = await Promise.all(venues.map(async ({ connector }) => readSpenders(connector, network, services.registry, at)))
  const union = (of: (spenders: Spenders) => readonly string[]) => [...new Set(each.flatMap(of))]
  return {
    venues,
    addresses: union(({ addresses }) => addresses),
    all: union(({ all }) => all),
    registered: true,
    permit2: new Map(each.flatMap(({ permit2 }) => [...permit2])),
  }
}

/** Those that `connector: any` asks, and that the lists of the caller have. */
function usableVenues(context: SpenderContext): readonly VenueEntry[] {
  const { chain, network } = context.network
  const known = context.services.registry.venuesOn(chain, network).filter(({ builtIn, impl }) => builtIn && impl.AMM)
  const refusals = known.map((venue) => refusalOf(venue, context))
  const venues = known.filter((_, i) => refusals[i] === undefined)
  if (venues.length > 0) return venues
  throw (
    refusals[0] ?? new SluiceError('UNSUPPORTED', `No built-in connector on ${chain}/${network} has the trading type AMM: name a spender.`)
  )
}

/** What else may stand against it is said of the whole request. */
function refusalOf(venue: VenueEntry, { network, caller, services }: SpenderContext): SluiceError | undefined {
  try {
    services.allowLists.require(caller.id, () => ({ action: 'approve', tokens: [], connectors: touchedVenue(venue) }), network)
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    if (isObject(error.details) && error.details['limit'] === 'allowed.connectors') return error
  }
  return undefined
}
