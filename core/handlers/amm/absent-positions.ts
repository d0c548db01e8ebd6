// Positions that were asked for and are not there. One answer of a node may be of a block that goes again, or of long ago, so callers are told that a
// position is gone only once it has been absent for as many blocks as make a transaction final.
import type { Head } from '../../contracts/index.ts'
import type { Services, TargetContext } from '../context.ts'

const maxPositions = 10_000

interface Looks {
  /** The first block at which it was absent, with no look at which it was there since. */
  absentFrom?: bigint
  /** The newest block at which it was there. */
  presentAt?: bigint
}

interface VenueLooks {
  /** Of all looks: what a node that is behind it does not have may have come since. */
  newest: bigint
  /** By id and version; those that were looked for last are the last. */
  readonly positions: Map<string, Looks>
}

const ofVenues = new WeakMap<TargetContext<'connector'>['venue'], VenueLooks>()

type Position = { readonly tokenId: string; readonly version: string | undefined }
type Target = Pick<TargetContext<'connector'>, 'venue'>

const keyOf = ({ tokenId, version = '' }: Position) => `${version}:${tokenId}`

function newestAt(number: bigint, { venue }: Target): VenueLooks {
  const of = ofVenues.get(venue) ?? { newest: number, positions: new Map() }
  ofVenues.set(venue, of)
  if (number > of.newest) of.newest = number
  return of
}

function looksAt(position: Position, { number }: Head, { venue }: Target): { of: VenueLooks; looks: Looks } {
  const of = newestAt(number, { venue })
  const key = keyOf(position)
  const looks = of.positions.get(key) ?? {}
  of.positions.delete(key)
  of.positions.set(key, looks)
  if (of.positions.size > maxPositions) for (const oldest of [...of.positions.keys()].slice(0, 1)) of.positions.delete(oldest)
  return { of, looks }
}

/**
 * Only looks count that are of the newest block that any look had: a node that is behind, or one whose blocks are replaced, does not have a position
 * that was opened since, for any number of blocks. One whose newest block is old counts for nothing either.
 * @returns whether it is final that there is none
 */
export function noteAbsent(
  position: Position,
  head: Head,
  { venue, network }: TargetContext<'connector'>,
  { following, settings }: Pick<Services, 'following' | 'settings'>,
): boolean {
  const { of, looks } = looksAt(position, head, { venue })
  const isOld = !network.impl.local && following.ageSeconds(network, head) > settings.market.staleBlockSeconds
  if (head.number < of.newest || isOld) return false
  const { absentFrom, presentAt = -1n } = looks
  if (absentFrom === undefined || absentFrom > head.number || absentFrom <= presentAt) looks.absentFrom = head.number
  return head.number - (looks.absentFrom ?? head.number) + 1n >= BigInt(network.impl.confirmations)
}

/** A block of the network that is known from elsewhere. */
export function noteNewest(head: Head, { venue }: Target): void {
  newestAt(head.number, { venue })
}

export function notePresent(position: Position, head: Head, { venue }: Target): void {
  const { looks } = looksAt(position, head, { venue })
  delete looks.absentFrom
  if (head.number > (looks.presentAt ?? -1n)) looks.presentAt = head.number
}
