import type { Json, Sighting } from '../../contracts/index.ts'
import type { Attempt, Entry } from '../entry.ts'
import { isFirstInLine } from './first-in-line.ts'
import type { Observation } from '../lifecycle.ts'

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
export interface Replacing {
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
export function nextActions(entry: Entry, observation: Observation): readonly Action[] {
  const { sightings, head, replacing, nowMs } = observation
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

function isStuck(entry: Entry, newest: Attempt, { bumpAfterSeconds }: Replacing, { sightings, leftOutOf, nowMs }: Observation): boolean {
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
function isDue(attempt: Attempt, replacing: Replacing | undefined, nowMs: number): boolean {
  const longestMs = Math.min(longestPauseMs, (replacing?.bumpAfterSeconds ?? Infinity) * 1000)
  return elapsedMs(attempt.sentAt ?? 0, nowMs) >= Math.min(1000 * 2 ** Math.max(0, inVain(attempt) - 1), longestMs)
}

/** A reorganisation or a restarted node takes away what was at nodes: what was sent before says nothing of the next sending. */
const inVain = ({ sends, sendsSinceLost = sends }: Attempt) => sendsSinceLost

/** What lies ahead was written by another clock, or by this one before it was set back: nobody knows how long ago that was. */
function elapsedMs(sinceMs: number, nowMs: number): number {
  return sinceMs > nowMs ? Infinity : nowMs - sinceMs
}
