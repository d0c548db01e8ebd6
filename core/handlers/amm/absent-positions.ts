// Positions that were asked for and are not there. One answer of a node may be of a block that goes again, or of long ago, so callers are told that a
// position is gone only once it has been absent for as many blocks as make a transaction final, and not by the word of one node of its newest block.
import { SluiceError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { dropOldest } from '../../base/oldest.ts'
import type { At, Head, PositionWitness, RangePosition } from '../../contracts/index.ts'
import { tradingOf, type NetworkEntry, type Registry } from '../../plugins/index.ts'
import { isFinal, type Entry } from '../../transactions/entry.ts'
import type { Services, TargetContext } from '../context.ts'
import { isOpen, mayHaveOpened, opensUnderWay } from './unsettled-opens.ts'

const maxPositions = 10_000

interface Looks {
  /** The first block at which it was absent, with no look at which it was there since. */
  absentFrom?: bigint
  /** The opens that were not final then, by the keys of the journal. */
  openingThen?: ReadonlySet<string>
  /** The newest block at which it was there. */
  presentAt?: bigint
  /** The block at which the nodes were asked for it one by one, and whether they proved that it is gone. */
  witnessedAt?: bigint
  isProven?: boolean
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

function looksAt(position: Position, { number }: Pick<Head, 'number'>, { venue }: Target): { of: VenueLooks; looks: Looks } {
  const of = newestAt(number, { venue })
  const key = keyOf(position)
  const looks = of.positions.get(key) ?? {}
  of.positions.delete(key)
  of.positions.set(key, looks)
  dropOldest(of.positions, maxPositions)
  return { of, looks }
}

/**
 * Only looks count that are of the newest block that any look had: a node that is behind, or one whose blocks are replaced, does not have a position
 * that was opened since, for any number of blocks. One whose newest block is old counts for nothing either.
 * @returns whether it is final that there is none
 */
export async function noteAbsent(
  position: Position,
  head: Head,
  { venue, network }: TargetContext<'connector'>,
  { following, settings, transactions }: Pick<Services, 'following' | 'settings' | 'transactions'>,
): Promise<boolean> {
  const { of, looks } = looksAt(position, head, { venue })
  const isOld = !network.impl.local && following.ageSeconds(network, head) > settings.market.staleBlockSeconds
  if (head.number < of.newest || isOld) return false
  const isMissed = ({ absentFrom, presentAt = -1n }: Looks) =>
    absentFrom !== undefined && absentFrom <= head.number && absentFrom > presentAt
  if (!isMissed(looks)) {
    const opens = await opensUnderWay({ venue, network }, transactions)
    // Somebody may have seen it meanwhile.
    if ((looks.presentAt ?? -1n) >= head.number) return false
    delete looks.isProven
    Object.assign(looks, { absentFrom: head.number, openingThen: new Set(opens.map(({ key }) => key)) })
  }
  return head.number - (looks.absentFrom ?? head.number) + 1n >= BigInt(network.impl.confirmations)
}

/**
 * Whether it is proven that a position is gone, which `noteAbsent` found to be final: no node has it in the newest block that had to be final, nor in a
 * block as new as this one; and one said so of the former, or two of the latter. Nodes are asked at most once for each block. Where an exchange cannot
 * ask each of them, as a contained one, nothing proves it. An open of any server on the store that is not final yet may have made it, and may come
 * again after a reorganisation.
 */
export async function isProvenGone(
  position: Position,
  head: Head,
  { venue, network }: TargetContext<'connector'>,
  { transactions }: Pick<Services, 'transactions'>,
  at: At,
): Promise<boolean> {
  const range = tradingOf('AMM_RANGE', venue)
  const { looks } = looksAt(position, head, { venue })
  const { openingThen } = looks
  if (!range.positionWitnesses || !openingThen || (looks.isProven !== true && looks.witnessedAt === head.number)) return false
  const opens = await opensUnderWay({ venue, network }, transactions)
  if (await mayHaveOpened(position.tokenId, opens, openingThen, { venue, network }, transactions)) return false
  if (looks.isProven === true) return true
  looks.witnessedAt = head.number
  const of = { tokenId: position.tokenId, ...(position.version !== undefined && { version: position.version }) }
  const final = head.number - BigInt(network.impl.confirmations - 1)
  try {
    const [ofFinal, ofNewest] = await Promise.all([range.positionWitnesses(of, final, at), range.positionWitnesses(of, undefined, at)])
    looks.isProven = proves(
      ofFinal,
      ofNewest.filter(({ number }) => number >= head.number),
    )
  } catch (error) {
    delete looks.witnessedAt
    if (!(error instanceof SluiceError) || at.signal.aborted) throw error
    return false
  }
  return looks.isProven
}

/** Pure. */
export function proves(ofFinal: readonly PositionWitness[], ofNewest: readonly PositionWitness[]): boolean {
  if ([...ofFinal, ...ofNewest].some(({ exists }) => exists)) return false
  return ofFinal.length > 0 || ofNewest.length > 1
}

/** A block of the network that is known from elsewhere. */
export function noteNewest(head: Head, { venue }: Target): void {
  newestAt(head.number, { venue })
}

export function notePresent(position: Position, head: Pick<Head, 'number'>, { venue }: Target): void {
  const { looks } = looksAt(position, head, { venue })
  delete looks.absentFrom
  delete looks.openingThen
  delete looks.isProven
  if (head.number > (looks.presentAt ?? -1n)) looks.presentAt = head.number
}

/** A list has it. One that is older than what is known of the network says nothing of those that were absent since. */
export function noteListed({ tokenId, pool }: RangePosition, head: Head, { venue }: Target): void {
  const position = { tokenId, version: lookedForAs(pool.version, venue) }
  const { newest, positions } = newestAt(head.number, { venue })
  if (head.number === newest && positions.get(keyOf(position))?.absentFrom !== undefined) notePresent(position, head, { venue })
}

/**
 * A caller is told which position its open made, by the receipt alone: looks at that id from before it prove nothing any more, as its block may go again,
 * and the open may come into another one. An open that is final cannot go again: what was seen after its block stays.
 */
export function noteOpened(
  entry: Entry,
  fill: { readonly tokenId: string },
  txBlock: number,
  { chain, network }: Pick<NetworkEntry, 'chain' | 'network'>,
  registry: Pick<Registry, 'venuesOn'>,
): void {
  const venue = registry.venuesOn(chain, network).find(({ connector }) => connector === entry.connector)
  if (!venue || txBlock < 0 || !isOpen(entry)) return
  const head = { number: BigInt(txBlock) }
  const position = { tokenId: fill.tokenId, version: lookedForAs(versionOf(entry), venue) }
  const { absentFrom } = newestAt(head.number, { venue }).positions.get(keyOf(position)) ?? {}
  if (absentFrom === undefined || (isFinal(entry) && head.number <= absentFrom)) return
  notePresent(position, head, { venue })
}

/** Of a position without a name of a version it is the first; where versions are not told apart, there is none. */
function lookedForAs(version: string | undefined, { impl }: Target['venue']): string | undefined {
  const known = impl.AMM_RANGE?.rangeVersions ?? []
  return version !== undefined && known.includes(version) ? version : known[0]
}

/** By its own words, else by what was planned: the pool of a request may say which one it is. */
function versionOf({ request, planned }: Entry): string | undefined {
  const versions = [request?.fields, planned].map((fields) => (isObject(fields) ? fields['version'] : undefined))
  return versions.find((each) => typeof each === 'string')
}
