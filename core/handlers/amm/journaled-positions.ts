// The ids of positions that this server's own transactions made: for exchanges that do not list a wallet's positions.
import * as json from '../../base/json.ts'
import { orUndefined, type Services, type TargetContext } from '../context.ts'
import type { NetworkEntry, VenueEntry } from '../../plugins/index.ts'

/** Of a wallet, the newest entries of the journal that are read. */
const maxEntries = 5_000
const pageEntries = 500
/** The journal is not read again while nothing is written to it, nor for so long: streams ask at every block. */
const cachedMs = 5_000
const maxCached = 1_000

interface CachedIds {
  readonly ids: readonly string[]
  /** The journal's newest event before they were read. */
  readonly lastEvent: number
  readonly expires: number
}

const cache = new WeakMap<VenueEntry, Map<string, CachedIds>>()

/** They may be of any version, and belong to somebody else by now: whoever asks checks that. */
export async function journaledIds(
  owner: string,
  { network: { chain, network }, venue }: TargetContext<'connector'>,
  { transactions }: Pick<Services, 'transactions'>,
): Promise<readonly string[]> {
  const ofVenue = cache.get(venue) ?? new Map<string, CachedIds>()
  cache.set(venue, ofVenue)
  const cached = ofVenue.get(owner)
  if (cached && cached.expires > performance.now()) return cached.ids
  const lastEvent = await transactions.events.lastId()
  if (cached?.lastEvent === lastEvent) return cached.ids

  const ids = new Set<string>()
  let cursor: string | undefined
  for (let read = 0; read < maxEntries; read += pageEntries) {
    const page = await transactions.list({ chain, network, address: owner, limit: pageEntries, ...(cursor !== undefined && { cursor }) })
    for (const { kind, connector, memo, landed, outcome } of page.entries) {
      if (kind !== 'liquidity' || connector !== venue.connector || !landed?.ok) continue
      const fill = outcome ?? (await orUndefined(() => venue.impl.AMM_RANGE?.rangeFill(landed.receipt, memo)))
      const tokenId = idIn(fill)
      if (tokenId !== undefined) ids.add(tokenId)
    }
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  if (ofVenue.size >= maxCached) ofVenue.clear()
  ofVenue.set(owner, { ids: [...ids], lastEvent, expires: performance.now() + cachedMs })
  return [...ids]
}

/** The same of all exchanges of a network, each under the contracts that it may be a token of. */
export async function journaledPositions(
  owner: string,
  network: NetworkEntry,
  { transactions, registry }: Pick<Services, 'transactions' | 'registry'>,
): Promise<readonly { readonly collection: string; readonly tokenId: bigint }[]> {
  const venues = registry.venuesOn(network.chain, network.network).filter(({ impl }) => impl.AMM_RANGE?.positionsOf)
  const all = await Promise.all(
    venues.map(async (venue) => {
      const ids = await journaledIds(owner, { network, venue }, { transactions })
      const collections = Object.values(venue.impl.AMM_RANGE?.positionManagers ?? {})
      const numbers = ids.filter((id) => /^\d+$/.test(id)).map(BigInt)
      return collections.flatMap((collection) => numbers.map((tokenId) => ({ collection, tokenId })))
    }),
  )
  return all.flat()
}

/** The position that an open made. */
export function idIn(fill: unknown): string | undefined {
  const tokenId = json.isObject(fill) ? fill['tokenId'] : undefined
  return typeof tokenId === 'string' ? tokenId : undefined
}
