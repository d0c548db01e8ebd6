import type { Head, Sighting, Json } from '../contracts/index.ts'
import { isFinal, type Entry, type Attempt } from './entry.ts'

/** Another transaction of ours on the same slot, that is in a block. */
export interface CompetingTransaction {
  txHash: string
  kind: Entry['kind']
  rank: number
  /** It has all its confirmations. */
  final: boolean
}

/** What one look told about an entry. */
export interface LifecycleInput {
  /** By attempt id. An attempt that nothing is known of is missing. */
  observations: ReadonlyMap<string, Sighting>
  /** `gone`: what was to take its place ended without doing so. */
  competing?: CompetingTransaction | 'gone'
  /** The head that was looked at. */
  head: Pick<Head, 'number' | 'timestamp'>
  confirmations: number
  /** How many blocks came without it while it was first in line, with its newest attempt signed already. */
  missedBlocks: number
  /** Absent where nothing signed can be replaced. */
  replacing?: ReplacePolicy
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
export function advance(before: Entry, observation: LifecycleInput): Step {
  if (isFinal(before) || before.attempts.length === 0) return { entry: before, actions: [] }
  const { observations: sightings, confirmations } = observation
  const [rival, entry] = observation.competing === 'gone' ? [undefined, standingAlone(before)] : [observation.competing, before]
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
function beaten(entry: Entry, { txHash, kind, rank }: CompetingTransaction): Entry {
  const lost = contested(entry)
  if (rank < entry.rank) return { ...lost, state: 'DROPPED', replacedBy: undefined, reason: `What it was to replace was mined: ${txHash}.` }
  return { ...lost, state: kind === 'cancel' ? 'CANCELLED' : 'REPLACED', replacedBy: txHash }
}

/** Something else is on its slot, but not for good yet. */
function contested(entry: Entry): Entry {
  return { ...unlanded(entry), seen: 'lost' }
}

function dying(entry: Entry, dead: readonly (Sighting & { is: 'dead' })[], { head, confirmations }: LifecycleInput): Entry {
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

/**
 * What is to be done now.
 * - `send`: the attempt's bytes go to the nodes again
 * - `bump`: another attempt on the same slot, at fees that replace those of `over`; nothing where the fee cap leaves no room
 * - `cancel`: another entry on the same slot that does nothing; the reason belongs to what it replaces
 *
 * They are said again at every look until they have come about, so that one that fails is simply tried later.
 */
export type Action = { do: 'send'; attempt: Attempt } | { do: 'bump'; over: Attempt } | { do: 'cancel'; reason: string }

/** How attempts on one slot take each other's place. */
interface ReplacePolicy {
  /** `Chain.bumpAfterSeconds` */
  bumpAfterSeconds: number
  /** Whether nothing in its place costs less than letting an attempt with these fees be mined too late. */
  cancelIsCheaper(fees: Json): boolean
}

/** One that pays enough may only be unlucky: its fees are raised after so many times the usual wait. */
const patience = 5
/** And after so many blocks that could have had it: where none come, fees hold up nothing. */
const leastBlocks = 2
/** After so many times the usual wait a cancel that did not come about holds up nobody any longer. */
const cancelPatience = 3
/** When the newest was sent so often and no node has it, an older one may be what nodes take. */
const sendsBeforeOlder = 2
const longestPauseMs = 60_000
/** What no node keeps is sent again so often, until it is in a block or its time is over. */
const unkeptPauseMs = 2_000

/** Of an entry that is in no block, has no rival in one and is not dead. */
function nextActions(entry: Entry, observation: LifecycleInput): readonly Action[] {
  const { observations: sightings, head, replacing, nowMs } = observation
  const newest = entry.attempts.at(-1)
  // Whatever is to take its place goes its own way.
  if (!newest || entry.replacedBy !== undefined) return []
  const sighting = sightings.get(newest.id)
  const lateBySeconds = entry.deadline === undefined ? 0 : head.timestamp - entry.deadline
  const actions: Action[] = []
  const bumps = replacing !== undefined && !entry.feesGiven && isStuck(entry, newest, replacing, observation)
  // To raise the fees of what can only fail costs more than to raise those of nothing.
  if (replacing && lateBySeconds > 0 && (bumps || replacing.cancelIsCheaper(newest.fees))) {
    actions.push({ do: 'cancel', reason: 'Its deadline passed before it was mined.' })
    if (lateBySeconds <= cancelPatience * replacing.bumpAfterSeconds) return actions
  } else if (bumps) actions.push({ do: 'bump', over: newest })
  if (sighting?.is === 'pending' && sighting.kept === false && elapsedMs(newest.sentAt ?? newest.signedAt, nowMs) >= unkeptPauseMs)
    actions.push(send(newest))
  // What nodes refuse for its fees is not offered again beside one that pays more.
  if (sighting?.is === 'unseen' && !(bumps && sighting.underpriced))
    actions.push(
      ...unseenFirst(entry, sightings)
        .filter((attempt) => isDue(attempt, replacing, nowMs))
        .map((attempt) => send(attempt)),
    )
  return actions
}

const send = (attempt: Attempt): Action => ({ do: 'send', attempt })

function isStuck(
  entry: Entry,
  newest: Attempt,
  { bumpAfterSeconds }: ReplacePolicy,
  { observations: sightings, missedBlocks: leftOutOf, nowMs }: LifecycleInput,
): boolean {
  const waitedSeconds = elapsedMs(newest.signedAt, nowMs) / 1000
  const sighting = sightings.get(newest.id)
  if (sighting?.is !== 'pending' && sighting?.is !== 'unseen') return false
  const refused = sighting.is === 'unseen' ? newest.refused : undefined
  // What pays even more is refused for that all the more.
  if (refused === 'unfunded' || refused === 'invalid') return false
  // Nodes want more than the base fee: a tip, and more of it when they are full.
  if (sighting.underpriced || refused === 'underpriced') return waitedSeconds >= bumpAfterSeconds
  // Only one that a node has, and that nothing before it keeps waiting, is held up by its fees.
  return isFirstInLine(entry, sightings) && leftOutOf >= leastBlocks && waitedSeconds >= patience * bumpAfterSeconds
}

/** Newest first; the older ones only when the newest did not get through, and none of them waits at a node. */
function unseenFirst({ attempts }: Entry, sightings: ReadonlyMap<string, Sighting>): readonly Attempt[] {
  const newestFirst = attempts.toReversed()
  const [newest, ...older] = newestFirst
  if (!newest) return []
  const isOnlyOlder = inVain(newest) < sendsBeforeOlder || attempts.some(({ id }) => sightings.get(id)?.is === 'pending')
  return isOnlyOlder ? [newest] : [newest, ...older.filter(({ id }) => sightings.get(id)?.is === 'unseen')]
}

/** From a second up to what a stuck one waits: what nodes refuse for now they are not asked at every block. */
function isDue(attempt: Attempt, replacing: ReplacePolicy | undefined, nowMs: number): boolean {
  const longestMs = Math.min(longestPauseMs, (replacing?.bumpAfterSeconds ?? Infinity) * 1000)
  return elapsedMs(attempt.sentAt ?? 0, nowMs) >= Math.min(1000 * 2 ** Math.max(0, inVain(attempt) - 1), longestMs)
}

/** A reorganisation or a restarted node takes away what was at nodes: what was sent before says nothing of the next sending. */
const inVain = ({ sends, sendsSinceLost = sends }: Attempt) => sendsSinceLost

/** What lies ahead was written by another clock, or by this one before it was set back: nobody knows how long ago that was. */
function elapsedMs(sinceMs: number, nowMs: number): number {
  return sinceMs > nowMs ? Infinity : nowMs - sinceMs
}

/** By the newest attempt: the newest block when its entry was first in line at a node, with nothing before it still to be mined. */
export type NextInLine = ReadonlyMap<string, bigint>

/** Whether a node has it, and only its fees or the chain hold it up. */
function isFirstInLine({ attempts }: Entry, sightings: ReadonlyMap<string, Sighting>): boolean {
  return attempts.some(({ id }) => {
    const each = sightings.get(id)
    return each?.is === 'pending' && each.next === true
  })
}

/** After another look. What the look says nothing of is as it was. */
export function firstInLine(
  before: NextInLine,
  open: readonly Entry[],
  sightings: ReadonlyMap<string, Sighting>,
  head: bigint,
): NextInLine {
  const now = open.flatMap((entry): [string, bigint][] => {
    const newest = entry.attempts.at(-1)?.id
    if (newest === undefined) return []
    const since = before.get(newest)
    if (isFirstInLine(entry, sightings)) return [[newest, since ?? head]]
    return since === undefined || entry.attempts.some(({ id }) => sightings.has(id)) ? [] : [[newest, since]]
  })
  return new Map(now)
}

/** How many blocks came without it since. */
export function missedBlocks({ attempts }: Entry, since: NextInLine, head: bigint): number {
  const newest = attempts.at(-1)?.id
  const first = newest === undefined ? undefined : since.get(newest)
  return first === undefined ? 0 : Math.max(0, Number(head - first))
}
