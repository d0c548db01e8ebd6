import type { Head, Sighting } from '../contracts/index.ts'
import { isFinal } from './entry.ts'
import type { Entry } from './entry.ts'
import { nextActions } from './watch/next-actions.ts'
import type { Action, Replacing } from './watch/next-actions.ts'

export type { Action, Replacing } from './watch/next-actions.ts'

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
  /** `gone`: what was to take its place ended without doing so. */
  rival?: Rival | 'gone'
  /** The head that was looked at. */
  head: Pick<Head, 'number' | 'timestamp'>
  confirmations: number
  /** How many blocks came without it while it was first in line, with its newest attempt signed already. */
  leftOutOf: number
  /** Absent where nothing signed can be replaced. */
  replacing?: Replacing
  nowMs: number
}

export interface Step {
  /** The very entry that was given where nothing changed. */
  entry: Entry
  actions: readonly Action[]
}

/**
 * Nodes behind one address differ: one that has the block may be asked for the count, one that lags for the receipt. Only
 * twice in a row is dead.
 */
const provenDeadLooks = 2
/** Where nobody could see what took the slot there are only counts, which have to say so for longer, and at further blocks. */
const countedDeadLooks = 5

/** Where an entry goes with what was seen. Pure: all the hard cases are decided here. */
export function advance(before: Entry, observation: Observation): Step {
  if (isFinal(before) || before.attempts.length === 0) return { entry: before, actions: [] }
  const { sightings, confirmations } = observation
  const [rival, entry] = observation.rival === 'gone' ? [undefined, standingAlone(before)] : [observation.rival, before]
  const seen = entry.attempts.flatMap(({ id }) => sightings.get(id) ?? [])

  const [landed, ...others] = seen.filter((each) => each.is === 'landed')
  // Two on one slot cannot both be in a block: one answer is of a fork, and the next look tells which.
  if (landed) return settled(land(entry, landed, others.length > 0 || rival ? undefined : confirmations), entry)
  if (rival) return settled(rival.final ? beaten(entry, rival) : contested(entry), entry)
  const dead = seen.filter((each) => each.is === 'dead')
  const over = seen.filter((each) => each.is === 'expired')
  if (dead.length + over.length === entry.attempts.length)
    return settled(dead.length > 0 ? dying(entry, dead, observation) : expiring(entry), entry)
  const isPending = seen.some((each) => each.is === 'pending')
  // Part of what would be needed to call it dead, and nothing that says that it lives.
  if (seen.length === 0 || (dead.length + over.length > 0 && !isPending)) return { entry, actions: [] }

  const { entry: next } = settled(isPending ? waiting(entry, seen) : missing(entry), entry)
  return { entry: next, actions: nextActions(next, observation) }
}

const standingAlone = (entry: Entry): Entry => (entry.replacedBy === undefined ? entry : { ...entry, replacedBy: undefined })

const notDead = { deadLooks: 0, deadSince: undefined }

/** @param confirmations that make it final; undefined where nothing does yet */
function land(entry: Entry, landed: Sighting & { is: 'landed' }, confirmations: number | undefined): Entry {
  const { id, ok, blockNumber, blockHash, depth, receipt } = landed
  const isSameBlock = entry.landed?.id === id && entry.landed.blockHash === blockHash
  const mined: Entry = {
    ...entry,
    ...notDead,
    landed: { id, ok, blockNumber, ...(blockHash !== undefined && { blockHash }), receipt },
    ...(confirmations !== undefined && { replacedBy: undefined }),
    reason: ok ? undefined : (landed.reason ?? (isSameBlock ? entry.reason : undefined)),
  }
  if (confirmations === undefined || depth < confirmations) return { ...mined, state: 'MINED' }
  return { ...mined, state: ok ? 'CONFIRMED' : 'REVERTED' }
}

/** A later one took its place as was meant; an earlier one that came through after all makes it a transaction that lost its slot. */
function beaten(entry: Entry, { txHash, kind, rank }: Rival): Entry {
  const lost = contested(entry)
  if (rank < entry.rank) return { ...lost, state: 'DROPPED', replacedBy: undefined, reason: `What it was to replace was mined: ${txHash}.` }
  return { ...lost, state: kind === 'cancel' ? 'CANCELLED' : 'REPLACED', replacedBy: txHash }
}

/** Something else is on its slot, but not for good yet. */
function contested(entry: Entry): Entry {
  return { ...unlanded(entry), seen: 'lost' }
}

function dying(entry: Entry, dead: readonly (Sighting & { is: 'dead' })[], { head, confirmations }: Observation): Entry {
  const by = dead.find((each) => each.by !== undefined)?.by
  const deadLooks = entry.deadLooks + 1
  const deadSince = entry.deadSince ?? Number(head.number)
  const isCertain =
    by === undefined ? deadLooks >= countedDeadLooks && Number(head.number) - deadSince >= confirmations : deadLooks >= provenDeadLooks
  if (!isCertain) return { ...contested(entry), deadLooks, deadSince }
  const reason = `Another transaction took its place${by === undefined ? '' : `: ${by}`}.`
  return { ...contested(entry), state: 'DROPPED', deadLooks, deadSince, replacedBy: undefined, reason }
}

/** What is final is past its time: no count of looks at further blocks is needed, only another node behind the same address. */
function expiring(entry: Entry): Entry {
  const deadLooks = entry.deadLooks + 1
  const left = { ...contested(entry), deadLooks }
  if (deadLooks < provenDeadLooks) return left
  return {
    ...left,
    state: 'EXPIRED',
    replacedBy: undefined,
    reason: 'Its time passed before it had any effect, and it never will.',
  }
}

function waiting(entry: Entry, seen: readonly Sighting[]): Entry {
  const underpriced = seen.every((each) => each.is !== 'pending' || each.underpriced)
  return {
    ...unlanded(entry),
    ...notDead,
    state: 'BROADCAST',
    seen: underpriced ? 'underpriced' : 'pays',
    // What a node said against it does not matter any more; why it is to be replaced does.
    ...(entry.replacedBy === undefined && { reason: undefined }),
  }
}

/** No node has it. One that was at a node or in a block until now is as easily sent as it was the first time. */
function missing(entry: Entry): Entry {
  const wasThere = entry.landed !== undefined || entry.seen === 'pays' || entry.seen === 'underpriced'
  const attempts = wasThere ? entry.attempts.map((each) => ({ ...each, sendsSinceLost: 0 })) : entry.attempts
  return { ...unlanded(entry), ...notDead, attempts, seen: wasThere ? 'lost' : entry.seen }
}

/** A reorganisation takes a mined one back. */
function unlanded(entry: Entry): Entry {
  return entry.state === 'MINED' ? { ...entry, state: 'BROADCAST', landed: undefined, reason: undefined } : entry
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
    a.deadSince === b.deadSince &&
    a.reason === b.reason &&
    a.landed?.id === b.landed?.id &&
    a.landed?.blockNumber === b.landed?.blockNumber &&
    a.landed?.blockHash === b.landed?.blockHash &&
    a.landed?.ok === b.landed?.ok
  )
}
