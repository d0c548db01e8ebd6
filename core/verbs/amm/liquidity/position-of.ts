import { SluiceError } from '../../../api/index.ts'
import type { At, Head, RangePosition } from '../../../contracts/index.ts'
import type { NetworkEntry, VenueEntry } from '../../../handlers/registry.ts'
import { rangeOf } from './range-of.ts'

export interface Found {
  head: Head
  position: RangePosition
}

/** Ids are words of 256 bits. */
const idsEnd = 2n ** 256n

/** @throws SluiceError UNKNOWN_POSITION */
export async function findPosition(idText: string, venue: VenueEntry, at: At): Promise<Found> {
  const range = rangeOf(venue)
  const tokenId = BigInt(idText)
  const found = tokenId < idsEnd ? await range.position(tokenId, at) : undefined
  if (found) return found
  throw new SluiceError(
    'UNKNOWN_POSITION',
    `There is no position ${tokenId} on ${venue.connector}, or none any more (burnt); GET /amm/liquidity/positions lists a wallet's.`,
  )
}

/** One that the wallet may do something with. @throws SluiceError UNKNOWN_POSITION */
export async function findOwnPosition(
  { tokenId, address }: { tokenId: string; address: string },
  venue: VenueEntry,
  { impl }: NetworkEntry,
  at: At,
): Promise<Found> {
  const found = await findPosition(tokenId, venue, at)
  const { owner } = found.position
  if (impl.address(owner) === address) return found
  throw new SluiceError(
    'UNKNOWN_POSITION',
    `The position ${found.position.tokenId} on ${venue.connector} belongs to ${owner}, not to ${address}: nothing was sent.`,
    { details: { owner } },
  )
}
