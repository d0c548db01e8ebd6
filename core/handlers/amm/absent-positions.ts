// Positions that were asked for and are not there. One answer of a node may be of a block that goes again, so callers are told that a position is gone
// only once it has been absent for as many blocks as make a transaction final.
import type { Head } from '../../contracts/index.ts'
import type { TargetContext } from '../context.ts'

const maxPositions = 1_000

/** By id and version, the first block at which it was absent, with no look at which it was there since. */
const firstAbsent = new WeakMap<TargetContext<'connector'>['venue'], Map<string, bigint>>()

type Position = { readonly tokenId: string; readonly version: string | undefined }

const keyOf = ({ tokenId, version = '' }: Position) => `${version}:${tokenId}`

/** @returns whether it is final that there is none */
export function noteAbsent(position: Position, head: Head, { venue, network }: TargetContext<'connector'>): boolean {
  const ofVenue = firstAbsent.get(venue) ?? new Map<string, bigint>()
  firstAbsent.set(venue, ofVenue)
  const key = keyOf(position)
  const known = ofVenue.get(key)
  // After a node that is behind, or a reorganisation.
  const first = known !== undefined && known <= head.number ? known : head.number
  if (first !== known) {
    if (ofVenue.size >= maxPositions) for (const oldest of [...ofVenue.keys()].slice(0, 1)) ofVenue.delete(oldest)
    ofVenue.set(key, first)
  }
  return head.number - first + 1n >= BigInt(network.impl.confirmations)
}

export function notePresent(position: Position, { venue }: Pick<TargetContext<'connector'>, 'venue'>): void {
  firstAbsent.get(venue)?.delete(keyOf(position))
}
