import type { Sighting } from '../contracts/index.ts'
import { isFinal } from './entry.ts'
import type { Attempt, Entry } from './entry.ts'

/** Another transaction of ours on the same slot, that is in a block. */
export interface Rival {
  txHash: string
  kind: Entry['kind']
  rank: number
  /** It has all its confirmations. */
  final: boolean
}

/** What one look told about an entry. */
export interface Observation {
  /** By attempt id. An attempt that nothing is known of is missing. */
  sightings: ReadonlyMap<string, Sighting>
  rival?: Rival
  confirmations: number
  nowMs: number
}

/** What is to be done now. Fee bumps of the stuck and cancels of the late will be further ones. */
export type Action = { do: 'send'; attempt: Attempt }

export interface Step {
  /** The very entry that was given where nothing changed. */
  entry: Entry
  actions: readonly Action[]
}

/**
 * Nodes behind one address differ: one that has the block may be asked for the count, one that lags for the receipt. Only
 * twice in a row is dead.
 */
const deadLooksNeeded = 2

/** Where an entry goes with what was seen. Pure: all the hard cases are decided here. */
export function advance(entry: Entry, { sightings, rival, confirmations, nowMs }: Observation): Step {
  if (isFinal(entry) || entry.attempts.length === 0) return { entry, actions: [] }
  const seen = entry.attempts.flatMap(({ id }) => sightings.get(id) ?? [])

  const landed = seen.find((each) => each.is === 'landed')
  if (landed) return settled(land(entry, landed, confirmations), entry)
  if (rival) return settled(rival.final ? beaten(entry, rival) : contested(entry), entry)
  if (seen.length === 0) return { entry, actions: [] }
  if (seen.every(({ is }) => is === 'dead')) {
    const deadLooks = entry.deadLooks + 1
    return settled(
      { ...contested(entry), deadLooks, ...(deadLooks >= deadLooksNeeded && { state: 'DROPPED' as const, replacedBy: undefined }) },
      entry,
    )
  }
  const pending = seen.filter((each) => each.is === 'pending')
  if (pending.length > 0) {
    const underpriced = pending.every((each) => each.underpriced)
    // A stuck one is bumped here, and one whose deadline has passed is cancelled where that is cheaper.
    return settled(
      { ...unlanded(entry), state: 'BROADCAST', seen: underpriced ? 'underpriced' : 'pays', deadLooks: 0, reason: undefined },
      entry,
    )
  }
  return missing(entry, nowMs)
}

function land(entry: Entry, { id, ok, blockNumber, depth, receipt }: Sighting & { is: 'landed' }, confirmations: number): Entry {
  const mined = { ...entry, landed: { id, ok, blockNumber, receipt }, replacedBy: undefined, deadLooks: 0, reason: undefined }
  if (depth < confirmations) return { ...mined, state: 'MINED' }
  return { ...mined, state: ok ? 'CONFIRMED' : 'REVERTED' }
}

/** A later one took its place as was meant; an earlier one that came through after all makes it a transaction that lost its slot. */
function beaten(entry: Entry, { txHash, kind, rank }: Rival): Entry {
  if (rank < entry.rank) return { ...contested(entry), state: 'DROPPED', replacedBy: undefined }
  return { ...contested(entry), state: kind === 'cancel' ? 'CANCELLED' : 'REPLACED', replacedBy: txHash }
}

/** Something else is on its slot, but not for good yet. */
function contested(entry: Entry): Entry {
  return { ...unlanded(entry), seen: 'lost' }
}

/** No node has it: the same bytes are sent again, unless a later transaction is to take its place. */
function missing(entry: Entry, nowMs: number): Step {
  const seen = entry.seen === undefined && !entry.landed ? undefined : 'lost'
  const next = settled({ ...unlanded(entry), seen, deadLooks: 0 }, entry).entry
  const attempt = next.attempts.at(-1)
  const due = attempt !== undefined && next.replacedBy === undefined && nowMs - (attempt.sentAt ?? 0) >= pauseMs(attempt.sends)
  return { entry: next, actions: due ? [{ do: 'send', attempt }] : [] }
}

/** A reorganisation takes a mined one back. */
function unlanded(entry: Entry): Entry {
  return entry.state === 'MINED' ? { ...entry, state: 'BROADCAST', landed: undefined } : entry
}

/** From a second to a minute: what a node refuses for now, it is not asked at every block. */
function pauseMs(sends: number): number {
  return Math.min(1000 * 2 ** Math.max(0, sends - 1), 60_000)
}

function settled(next: Entry, entry: Entry): Step {
  return { entry: isSame(next, entry) ? entry : next, actions: [] }
}

function isSame(a: Entry, b: Entry): boolean {
  return (
    a.state === b.state &&
    a.seen === b.seen &&
    a.replacedBy === b.replacedBy &&
    a.deadLooks === b.deadLooks &&
    a.reason === b.reason &&
    a.landed?.id === b.landed?.id &&
    a.landed?.blockNumber === b.landed?.blockNumber &&
    a.landed?.ok === b.landed?.ok
  )
}
