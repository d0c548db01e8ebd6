// What the chain says of positions that are open by the book: who has them, and whether they are there.
import { reasonOf } from '../../base/errors.ts'
import type { HeldReader, HeldReading, PositionOnChain } from '../../books/held-positions.ts'
import type { At, Head, RangePosition } from '../../contracts/index.ts'
import { tradingOf, type NetworkEntry, type Registry, type VenueEntry } from '../../plugins/index.ts'
import { proves } from './absent-positions.ts'
import { readVersion } from './range-pools.ts'

const timeoutMs = 15_000
/** Of one exchange: more are left as the journal has them. */
const maxPositions = 500

export const heldPositions =
  (registry: Pick<Registry, 'venue' | 'networkOf'>): HeldReader =>
  async ({ chain, network, connector, version: named, ids }, signal): Promise<HeldReading> => {
    if (ids.length > maxPositions) return { unknown: `${connector} has ${ids.length} of them, and at most ${maxPositions} are compared` }
    const at = { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) }
    try {
      const venue = registry.venue(connector, chain, network)
      const version = readVersion(named, venue)
      const { head, positions } = await readAll(venue, version, ids, at)
      const found = new Map<string, PositionOnChain>(
        positions.map(({ tokenId, owner, liquidity, unclaimed }) => [
          tokenId,
          { owner, isEmpty: liquidity === 0n && unclaimed.amount0Raw === 0n && unclaimed.amount1Raw === 0n },
        ]),
      )
      const on = registry.networkOf(venue, chain, network)
      for (const tokenId of ids)
        if (!found.has(tokenId) && (await isGone(venue, on, { tokenId, version }, head, at))) found.set(tokenId, 'gone')
      return { found }
    } catch (error) {
      if (signal.aborted) throw error
      return { unknown: reasonOf(error) }
    }
  }

interface Positions {
  readonly head: Head
  readonly positions: readonly RangePosition[]
}

async function readAll(venue: VenueEntry, version: string | undefined, ids: readonly string[], at: At): Promise<Positions> {
  const range = tradingOf('AMM_RANGE', venue)
  const ofVersion = { ...(version !== undefined && { version }) }
  if (range.positionsById) return range.positionsById({ tokenIds: ids, ...ofVersion }, at)
  let read: Positions | undefined
  for (const tokenId of ids) {
    const one = await (range.positionOf ? range.positionOf({ tokenId, ...ofVersion }, at) : range.position(tokenId, at))
    if (!one) continue
    const { head, position } = one
    read = {
      head: read && read.head.number < head.number ? read.head : head,
      positions: [...(read?.positions ?? []), ...(position ? [position] : [])],
    }
  }
  if (read) return read
  throw new Error(`${venue.connector} did not tell them`)
}

/** One answer of a node may be of a block that goes again, or of long ago: as for who asks for the position. */
async function isGone(
  venue: VenueEntry,
  { impl: { confirmations } }: NetworkEntry,
  { tokenId, version }: { readonly tokenId: string; readonly version: string | undefined },
  { number }: Head,
  at: At,
): Promise<boolean> {
  const range = tradingOf('AMM_RANGE', venue)
  const of = { tokenId, ...(version !== undefined && { version }) }
  const final = number - BigInt(confirmations - 1)
  const ofFinal = (await range.positionWitnesses?.(of, final, at)) ?? []
  return ofFinal.length > 0 && proves(ofFinal, [])
}
