import type { Head, Json, AttemptStatus } from '../contracts/index.ts'
import type { Cost } from './costs.ts'
import { isFinal, type Attempt, type Entry } from './entry.ts'
import { effectOf } from './stops.ts'
import { defaultTtlSeconds } from './submit-request.ts'
import { dropOldest } from '../base/oldest.ts'

/** What one poll observed of an entry. */
export interface LifecycleInput {
  /** By attempt id. Attempts without an observation are missing. */
  observations: ReadonlyMap<string, AttemptStatus>
  /** `gone`: the transaction that was to replace it is final, but did not replace it. */
  competing?: CompetingTransaction | 'gone'
  /** The block of the poll. */
  head: Pick<Head, 'number' | 'timestamp'>
  confirmations: number
  /** How many blocks did not include it while it was next in line, counted from its newest attempt. */
  missedBlocks: number
  /** Absent where signed transactions cannot be replaced. */
  replacing?: ReplacePolicy
  /** By the market of now it would pass a limit: why nothing is signed or sent for it but its cancel. */
  passesLimit?: string | undefined
  waited(attempt: Attempt): AttemptAge
  /** By its receipt. */
  costOf(landed: { readonly ok: boolean; readonly receipt: Json }): Cost | undefined
}

/** How long ago an attempt was signed, and last sent: `Infinity` if that is unknown, or never happened. */
export interface AttemptAge {
  signedMs: number
  sentMs: number
}

/** Times of attempts, by a clock of this process that nobody sets. */
export interface AttemptTimes {
  signed(id: string): void
  sent(id: string): void
  /**
   * An attempt of another process counts as signed when it was first asked about, and as sent long ago: the same bytes may always be sent
   * again, but higher fees cost something. The journal's own times are those of a machine's clock, which may be wrong: they are shown only.
   */
  of(attempt: Pick<Attempt, 'id'>): AttemptAge
  forget(attempts: readonly Pick<Attempt, 'id'>[]): void
}

/** Attempts whose queue went to another server are not forgotten otherwise. */
const maxRemembered = 100_000

export function createAttemptTimes(steadyMs: () => number): AttemptTimes {
  const times = new Map<string, { signedAt: number; sentAt: number }>()
  function timesOf(id: string): { signedAt: number; sentAt: number } {
    const known = times.get(id) ?? { signedAt: steadyMs(), sentAt: -Infinity }
    times.set(id, known)
    dropOldest(times, maxRemembered)
    return known
  }
  return {
    signed: (id) => void timesOf(id),
    sent: (id) => void (timesOf(id).sentAt = steadyMs()),
    of({ id }) {
      const { signedAt, sentAt } = timesOf(id)
      return { signedMs: steadyMs() - signedAt, sentMs: steadyMs() - sentAt }
    },
    forget(attempts) {
      for (const { id } of attempts) times.delete(id)
    },
  }
}

/** Another transaction of ours with the same sequence, in a block. */
export interface CompetingTransaction {
  txHash: string
  kind: Entry['kind']
  rank: number
  /** It has all its confirmations. */
  final: boolean
}

/** When attempts with one sequence replace each other. */
export interface ReplacePolicy {
  /** `Chain.bumpAfterSeconds` */
  bumpAfterSeconds: number
  /** A transfer of nothing that relays may have taken for the wish to withdraw what they had on the nonce: then they include neither. */
  mayBeWithdrawal?: boolean
  /** Whether a cancel ends an attempt with these fees. */
  mayCancel(fees: Json): boolean
}

export interface Step {
  /** The same object as before if nothing changed. */
  entry: Entry
  actions: readonly Action[]
}

/**
 * What is to be done now.
 * - `send`: broadcast the attempt's bytes again
 * - `bump`: another attempt with the same sequence, at fees that replace those of `over`; nothing if the fee cap leaves no room
 * - `cancel`: another entry with the same sequence that does nothing; the reason belongs to the replaced entry
 *
 * Every poll returns them again until they have happened, so an action that fails is tried again later.
 */
export type Action = { do: 'send'; attempt: Attempt } | { do: 'bump'; over: Attempt } | { do: 'cancel'; reason: string }

/**
 * Polls in a row that must find an entry dead. Nodes behind one URL differ: the account's nonce may come from one that has the block, the
 * receipt from one that lags.
 */
const minDeadPolls = 2
/** If the transaction that took the nonce is unknown, the account's nonce is the only evidence. That needs more polls and more blocks. */
const minDeadPollsByNonce = 5

/** The next state of an entry, and what is to be done. Pure. */
export function advance(before: Entry, input: LifecycleInput): Step {
  if (isFinal(before) || before.attempts.length === 0) return { entry: before, actions: [] }
  const { observations, confirmations } = input
  const [competing, entry] = input.competing === 'gone' ? [undefined, withoutReplacement(before)] : [input.competing, before]
  const observed = entry.attempts.flatMap(({ id }) => observations.get(id) ?? [])

  const [landed, ...others] = observed.filter((each) => each.is === 'landed')
  // Two transactions with one sequence cannot both be in a block: one answer is from a fork. The next poll shows which.
  if (landed) return unlessSame(asLanded(entry, landed, input, others.length > 0 || competing ? undefined : confirmations), entry)
  if (competing) return unlessSame(competing.final ? asReplaced(entry, competing) : asContested(entry), entry)
  const dead = observed.filter((each) => each.is === 'dead')
  const expired = observed.filter((each) => each.is === 'expired')
  if (dead.length + expired.length === entry.attempts.length)
    return unlessSame(dead.length > 0 ? asDead(entry, dead, input) : asExpired(entry), entry)
  const isPending = observed.some((each) => each.is === 'pending')
  // Some attempts are dead and none is pending, which proves neither.
  if (observed.length === 0 || (dead.length + expired.length > 0 && !isPending)) return { entry, actions: [] }

  const { entry: next } = unlessSame(isPending ? asPending(entry, observed) : asUnseen(entry), entry)
  return { entry: next, actions: nextActions(next, input) }
}

const withoutReplacement = (entry: Entry): Entry => (entry.replacedBy === undefined ? entry : { ...entry, replacedBy: undefined })

/** In so many blocks after its check the market moves by what honest callers cannot help: only what waits longer is valued anew. */
const freshBlocks = 2

/** Whether it is valued anew: it could be mined in the third block after its check, or later. */
export const hasWaited = ({ after, landed, signer, kind, reduces }: Entry, head: Pick<Head, 'number'>): boolean =>
  after !== undefined &&
  landed === undefined &&
  signer === undefined &&
  effectOf({ kind, ...(reduces && { reduces }) }) === 'other' &&
  Number(head.number) >= after + freshBlocks

const notDead = { deadLooks: 0, deadSince: undefined }

/** @param confirmations that make it final; undefined if nothing does yet */
function asLanded(
  entry: Entry,
  landed: AttemptStatus & { is: 'landed' },
  { costOf, head }: Pick<LifecycleInput, 'costOf' | 'head'>,
  confirmations: number | undefined,
): Entry {
  const { id, ok, blockNumber, blockHash, depth, receipt } = landed
  const cost = costOf(landed)
  const isSameBlock = entry.landed?.id === id && entry.landed.blockHash === blockHash
  const isLate = entry.after !== undefined && blockNumber > entry.after + freshBlocks
  const seenAt = isSameBlock ? entry.landed?.seenAt : isLate ? head.timestamp : undefined
  const inBlock = { id, ok, blockNumber, ...(blockHash !== undefined && { blockHash }), ...(seenAt !== undefined && { seenAt }) }
  const mined: Entry = {
    ...entry,
    ...notDead,
    landed: { ...inBlock, receipt, ...(cost && { cost }) },
    ...(confirmations !== undefined && { replacedBy: undefined }),
    reason: ok ? undefined : (landed.reason ?? (isSameBlock ? entry.reason : undefined)),
  }
  if (confirmations === undefined || depth < confirmations) return { ...mined, state: 'MINED' }
  return { ...mined, state: ok ? 'CONFIRMED' : 'REVERTED' }
}

/** A later transaction replaced it as intended. If the one that it was to replace was mined instead, this one came too late. */
function asReplaced(entry: Entry, { txHash, kind, rank }: CompetingTransaction): Entry {
  const contested = asContested(entry)
  if (rank < entry.rank)
    return {
      ...contested,
      state: 'OVERTAKEN',
      replacedBy: undefined,
      reason: `The transaction that it was to replace was mined: ${txHash}.`,
    }
  return { ...contested, state: kind === 'cancel' ? 'CANCELLED' : 'REPLACED', replacedBy: txHash }
}

/** Another transaction has its sequence, but is not final yet. */
function asContested(entry: Entry): Entry {
  return { ...withoutBlock(entry), seen: 'lost' }
}

function asDead(entry: Entry, dead: readonly (AttemptStatus & { is: 'dead' })[], { head, confirmations }: LifecycleInput): Entry {
  const by = dead.find((each) => each.by !== undefined)?.by
  const deadLooks = entry.deadLooks + 1
  const deadSince = entry.deadSince ?? Number(head.number)
  const isCertain =
    by === undefined ? deadLooks >= minDeadPollsByNonce && Number(head.number) - deadSince >= confirmations : deadLooks >= minDeadPolls
  if (!isCertain) return { ...asContested(entry), deadLooks, deadSince }
  const reason = `Another transaction took its place${by === undefined ? '' : `: ${by}`}.`
  return { ...asContested(entry), state: 'DROPPED', deadLooks, deadSince, replacedBy: undefined, reason }
}

/**
 * It expired before the chain's final block. No more blocks are needed, only a second answer, perhaps of another node behind the same URL.
 */
function asExpired(entry: Entry): Entry {
  const deadLooks = entry.deadLooks + 1
  const contested = { ...asContested(entry), deadLooks }
  if (deadLooks < minDeadPolls) return contested
  return {
    ...contested,
    state: 'EXPIRED',
    replacedBy: undefined,
    reason: 'Its time passed before it had any effect, and it never will.',
  }
}

function asPending(entry: Entry, observed: readonly AttemptStatus[]): Entry {
  const isUnderpriced = observed.every((each) => each.is !== 'pending' || each.underpriced)
  return {
    ...withoutBlock(entry),
    ...notDead,
    state: 'BROADCAST',
    seen: isUnderpriced ? 'underpriced' : 'pays',
    // An earlier error of a node is out of date. The reason for a replacement stays.
    ...(entry.replacedBy === undefined && { reason: undefined }),
  }
}

/** No node has it. If a node or a block had it until now, the backoff of sends begins anew. */
function asUnseen(entry: Entry): Entry {
  // What only a relay has is at no node; a relay that gives it up says nothing of what another one does. It is sent again all the while.
  const isHidden = entry.privateOnly === true && entry.landed === undefined
  const wasSeen = !isHidden && (entry.landed !== undefined || entry.seen === 'pays' || entry.seen === 'underpriced')
  const attempts = wasSeen ? entry.attempts.map((each) => ({ ...each, sendsSinceLost: 0 })) : entry.attempts
  return { ...withoutBlock(entry), ...notDead, attempts, seen: wasSeen ? 'lost' : entry.seen }
}

/** A reorganisation removed its block. */
export function withoutBlock(entry: Entry): Entry {
  return entry.state === 'MINED' ? { ...entry, state: 'BROADCAST', landed: undefined, reason: undefined } : entry
}

function unlessSame(next: Entry, entry: Entry): Step {
  const isSame =
    next.state === entry.state &&
    next.seen === entry.seen &&
    next.replacedBy === entry.replacedBy &&
    next.deadLooks === entry.deadLooks &&
    next.deadSince === entry.deadSince &&
    next.reason === entry.reason &&
    next.landed?.id === entry.landed?.id &&
    next.landed?.blockNumber === entry.landed?.blockNumber &&
    next.landed?.blockHash === entry.landed?.blockHash &&
    next.landed?.ok === entry.landed?.ok
  return { entry: isSame ? entry : next, actions: [] }
}

/** The fees of a transaction that pays enough are raised after this many times the usual wait, because it may only be unlucky. */
const payingWaits = 5
/** And only after this many blocks that could have included it. If no blocks come, fees are not the cause. */
const minMissedBlocks = 2
/** After this many times the usual wait without a cancel, what the chain refuses by now is sent again as well: no node may have it, and others wait behind it. */
const cancelWaits = 3
/** If the newest attempt was sent this often and no node has it, the older ones are sent too. */
const sendsBeforeOlder = 2
const maxPauseMs = 60_000
/** Where nodes keep no pending transactions, the bytes are sent again this often, until they land or expire. */
const unkeptPauseMs = 2_000

/** For an entry that is not in a block, has no competing transaction in one, and is not dead. */
function nextActions(entry: Entry, input: LifecycleInput): readonly Action[] {
  const { observations, head, replacing, waited } = input
  const newest = entry.attempts.at(-1)
  // Its replacement is an entry of its own.
  if (!newest || entry.replacedBy !== undefined) return []
  const observed = observations.get(newest.id)
  const { signedMs, sentMs } = waited(newest)
  const actions: Action[] = []
  const end = endOf(entry, input)
  // What a request pays holds for the time that it is valid for: what only takes back is sent on after that.
  const isRaised = !entry.feesGiven || head.timestamp > (entry.deadline ?? entry.ends ?? Infinity)
  const bumps = replacing !== undefined && isRaised && isStuck(entry, newest, replacing, input)
  if (replacing && end && (bumps || replacing.mayCancel(newest.fees))) {
    actions.push({ do: 'cancel', reason: end.reason })
    if (end.refusedForSeconds <= cancelWaits * replacing.bumpAfterSeconds) return actions
  } else if (replacing && isLeftOut(entry, newest, replacing, input)) {
    actions.push({ do: 'cancel', reason: 'The private relays did not include it: they may have taken it for a withdrawal.' })
  } else if (bumps) actions.push({ do: 'bump', over: newest })
  if (observed?.is === 'pending' && observed.kept === false && Math.min(signedMs, sentMs) >= unkeptPauseMs)
    actions.push({ do: 'send', attempt: newest })
  // Nodes refuse it for its fees, so it is not sent again while its fees are raised.
  if (observed?.is === 'unseen' && !(bumps && observed.underpriced))
    for (const attempt of attemptsToSend(entry, observations))
      if (isDue(attempt, replacing, waited(attempt))) actions.push({ do: 'send', attempt })
  return actions
}

/**
 * Why a transaction is to have no effect any more, and for how many seconds the chain has refused it by itself: 0 where it may still be mined, so that nothing is
 * signed or sent but its cancel. Whoever delays it would choose at which market it is mined. What only takes back goes on.
 */
function endOf(entry: Entry, { head, waited, passesLimit }: LifecycleInput): { reason: string; refusedForSeconds: number } | undefined {
  const { deadline, ends, plugin, signer, attempts } = entry
  if (passesLimit) return { reason: passesLimit, refusedForSeconds: 0 }
  if (deadline !== undefined) {
    const lateBySeconds = head.timestamp - deadline
    // A plugin of a third party may say so of a contract that takes no deadline.
    const refusedForSeconds = plugin === undefined ? lateBySeconds : 0
    return lateBySeconds > 0 ? { reason: 'Its deadline passed before it was mined.', refusedForSeconds } : undefined
  }
  const [first] = attempts
  if (!first || signer !== undefined || effectOf(entry) !== 'other') return undefined
  const isLate = ends === undefined ? waited(first).signedMs > defaultTtlSeconds * 1000 : head.timestamp > ends
  return isLate ? { reason: notInTime, refusedForSeconds: 0 } : undefined
}

const notInTime = 'It was not mined in the time that it was valid for.'

/** By the clock of the chain, of what does not only take back. */
export function hasEnded(entry: Entry, head: Pick<Head, 'timestamp'>): string | undefined {
  const until = entry.deadline ?? entry.ends
  return effectOf(entry) === 'other' && until !== undefined && head.timestamp > until ? notInTime : undefined
}

/** Whether blocks came without a private transfer of nothing that was next in line. */
function isLeftOut(entry: Entry, newest: Attempt, { mayBeWithdrawal, bumpAfterSeconds }: ReplacePolicy, input: LifecycleInput): boolean {
  if (!entry.privateOnly || !mayBeWithdrawal) return false
  return input.missedBlocks >= minMissedBlocks && input.waited(newest).signedMs / 1000 >= bumpAfterSeconds
}

/** Whether higher fees would help. */
function isStuck(entry: Entry, newest: Attempt, { bumpAfterSeconds }: ReplacePolicy, input: LifecycleInput): boolean {
  const { observations, missedBlocks, waited } = input
  const waitedSeconds = waited(newest).signedMs / 1000
  const observed = observations.get(newest.id)
  if (observed?.is !== 'pending' && observed?.is !== 'unseen') return false
  const refused = observed.is === 'unseen' ? newest.refused : undefined
  // Higher fees would not make nodes accept it.
  if (refused === 'unfunded' || refused === 'invalid') return false
  // Nodes want a tip above the base fee, and a higher one when they are full.
  if (observed.underpriced || refused === 'underpriced') return waitedSeconds >= bumpAfterSeconds
  // Its fees are the cause only if a node has it, or a relay said so at last, and nothing before it is pending.
  if (entry.privateOnly && (entry.seen !== 'pays' || entry.reason !== undefined)) return false
  return isNextInLine(entry, observations) && missedBlocks >= minMissedBlocks && waitedSeconds >= payingWaits * bumpAfterSeconds
}

/** Newest first. The older ones only if nodes did not keep the newest, and no attempt is pending. */
function attemptsToSend({ attempts }: Entry, observations: LifecycleInput['observations']): readonly Attempt[] {
  const [newest, ...older] = attempts.toReversed()
  if (!newest) return []
  const onlyNewest = sendsWithoutEffect(newest) < sendsBeforeOlder || attempts.some(({ id }) => observations.get(id)?.is === 'pending')
  return onlyNewest ? [newest] : [newest, ...older.filter(({ id }) => observations.get(id)?.is === 'unseen')]
}

/** Exponential backoff from one second to the wait of a stuck one. Nodes that refuse it are not asked at every block. */
function isDue(attempt: Attempt, replacing: ReplacePolicy | undefined, { sentMs }: AttemptAge): boolean {
  const maxMs = Math.min(maxPauseMs, (replacing?.bumpAfterSeconds ?? Infinity) * 1000)
  return sentMs >= Math.min(1000 * 2 ** Math.max(0, sendsWithoutEffect(attempt) - 1), maxMs)
}

/** Sends without effect. After a reorganisation or a restart of the nodes only those since then count. */
const sendsWithoutEffect = ({ sends, sendsSinceLost = sends }: Attempt) => sendsSinceLost

/**
 * By the id of the newest attempt: the block at which its entry became next in line at a node, so that nothing before it is still to be
 * mined.
 */
export type NextInLine = ReadonlyMap<string, bigint>

/** Whether a node has it and no transaction before it is pending. What only relays have is seen at no node. */
function isNextInLine({ attempts, privateOnly }: Entry, observations: LifecycleInput['observations']): boolean {
  return attempts.some(({ id }) => {
    const observed = observations.get(id)
    return (observed?.is === 'pending' || (privateOnly && observed?.is === 'unseen')) && observed.next === true
  })
}

/** After another poll. Entries that the poll says nothing about stay as they are. */
export function updateNextInLine(
  before: NextInLine,
  open: readonly Entry[],
  observations: LifecycleInput['observations'],
  head: bigint,
): NextInLine {
  const items = open.flatMap((entry): [string, bigint][] => {
    const newest = entry.attempts.at(-1)?.id
    if (newest === undefined) return []
    const since = before.get(newest)
    if (isNextInLine(entry, observations)) return [[newest, since ?? head]]
    return since === undefined || entry.attempts.some(({ id }) => observations.has(id)) ? [] : [[newest, since]]
  })
  return new Map(items)
}

/** How many blocks came without it since. */
export function missedBlocks({ attempts }: Entry, nextInLine: NextInLine, head: bigint): number {
  const newest = attempts.at(-1)?.id
  const since = newest === undefined ? undefined : nextInLine.get(newest)
  return since === undefined ? 0 : Math.max(0, Number(head - since))
}
