import { isDeepStrictEqual } from 'node:util'
import { linkAbort, pause, withDeadline, withTimeout } from '../base/async.ts'
import type { Head, Json, Log, AttemptStatus } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import type { Broadcast } from './attempts.ts'
import { isFinal, railOf, signerOf, type Entry } from './entry.ts'
import type { Comparisons } from './comparisons.ts'
import type { OutcomeReadings } from './outcome-readings.ts'
import { OwnershipLost, type Recorder } from './journal/journal.ts'
import { restoreSigned, type LeasedQueue, type LeasedQueues } from './leases.ts'
import {
  advance,
  missedBlocks,
  updateNextInLine,
  type Action,
  type AttemptTimes,
  type CompetingTransaction,
  type NextInLine,
  type Step,
} from './lifecycle.ts'
import { mayEnd, permitOf, settlePermits } from './permits.ts'
import type { TransactionTarget } from './submit-request.ts'
import type { Upkeep } from './upkeep.ts'

const pollTimeoutMs = 30_000
/** Writes of a whole queue at once, before each entry is written alone. */
const maxBatches = 3
const pauseAfterErrorMs = 1_000
/** Without a new head for this long the last one is polled again, so that bytes that no node has are still sent again. */
const idlePollMs = 5_000

export interface WatcherParts {
  target: TransactionTarget
  recorder: Recorder
  queues: LeasedQueues
  broadcast: Broadcast
  /** Ids of attempts that wait for the steps of their plan before them: no node has them yet. */
  /** Keys of entries that are being signed. */
  signing: ReadonlySet<string>
  unsent: ReadonlySet<string>
  upkeep: Upkeep
  outcomes: OutcomeReadings
  comparisons: Comparisons
  log: Log
  closing: AbortSignal
  times: AttemptTimes
}

export interface Watcher {
  /** There is something to watch. */
  wake: () => void
  /** Settles when the loop has ended: after `closing`, or with nothing left to watch. */
  idle(): Promise<void>
}

/** What one poll observed of all open entries. */
interface PollResult {
  head: Head
  observations: ReadonlyMap<string, AttemptStatus>
  competingOf: CompetingOf
}

/** Polls at every head while our queues have open entries: one batch for all of them. Otherwise asks nothing. */
export function createWatcher({
  target,
  recorder,
  queues,
  broadcast,
  signing,
  unsent,
  upkeep,
  outcomes,
  comparisons,
  log,
  closing,
  times,
}: WatcherParts): Watcher {
  const { chain, network, connector, impl } = target
  const { rail, confirmations, bumpAfterSeconds } = impl
  let running: Promise<void> | undefined
  let isWoken = false
  let nextInLine: NextInLine = new Map()

  async function run(): Promise<void> {
    do {
      isWoken = false
      const done = new AbortController()
      const unlink = linkAbort(closing, done)
      try {
        for await (const head of repeatOnInterval(impl.heads(done.signal), idlePollMs)) {
          isWoken = false
          if (!(await onHead(head)) && !isWoken) break
        }
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'watching open transactions interrupted; tried again')
        isWoken = true
        await pause(pauseAfterErrorMs, closing)
      } finally {
        unlink()
        done.abort()
      }
    } while (isWoken && !closing.aborted)
  }

  /** Returns whether anything is left to watch. */
  async function onHead(head: Head): Promise<boolean> {
    // The leases are read before the journal, so that a write of this poll is refused if a queue has changed its owner since.
    const ours = new Map(queues.all().map((leased) => [leased.queue.address, leased]))
    const open = (await unfinished([...ours.keys()])).filter((entry) => entry.attempts.length > 0 && ours.has(signerOf(entry)))
    let isAnyOpen = false
    try {
      if (open.length > 0) isAnyOpen = await poll(open, ours, head)
    } catch (error) {
      if (!closing.aborted)
        log.warn({ open: open.length, reason: reasonOf(error) }, 'poll of open transactions failed; tried again at the next head')
      isAnyOpen = true
    }
    for (const leased of ours.values()) if (await settleAll(leased, head)) isAnyOpen = true
    return isAnyOpen
  }

  /** What became of the permits that a wallet signed. Returns whether any is still outstanding. */
  async function settleAll({ queue, lease, permits }: LeasedQueue, head: Head): Promise<boolean> {
    const { permits: ofRail } = rail
    if (!ofRail) return false
    // Those that are being signed may not be in the journal yet.
    const keys = permits.keys().filter((key) => !signing.has(key))
    if (keys.length === 0) return permits.keys().length > 0
    try {
      const found = await Promise.all(keys.map((key) => recorder.read(key)))
      for (const [index, key] of keys.entries()) if (!found[index]) permits.remove(key)
      const ending = found.flatMap((entry) => (entry && mayEnd(entry, head) ? [entry] : []))
      const asked = ending.flatMap(({ permits: own = [] }) => own.map(permitOf))
      if (asked.length === 0) return permits.keys().length > 0
      const nonces = await withDeadline(closing, pollTimeoutMs, (signal) => ofRail.nonces(queue.address, asked, { signal }))
      let from = 0
      for (const entry of ending) {
        const own = nonces.slice(from, (from += entry.permits?.length ?? 0))
        permits.set(await recorder.amend(entry, (current) => settlePermits(current, own, head, confirmations), lease))
      }
    } catch (error) {
      if (!closing.aborted && !(error instanceof OwnershipLost))
        log.warn({ address: queue.address, reason: reasonOf(error) }, 'poll of outstanding permits failed; tried again at the next head')
    }
    return permits.keys().length > 0
  }

  /** If one wallet has a damaged entry, the entries of the others are read all the same. */
  async function unfinished(addresses: readonly string[]): Promise<readonly Entry[]> {
    try {
      return await recorder.unfinished({ chain, network, connector })
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      const each = await Promise.allSettled(addresses.map((address) => recorder.unfinished({ chain, network, connector, address })))
      return each.flatMap((read) => (read.status === 'fulfilled' ? read.value : []))
    }
  }

  async function poll(open: readonly Entry[], ours: ReadonlyMap<string, LeasedQueue>, head: Head): Promise<boolean> {
    const attempts = open
      .flatMap((entry) =>
        entry.attempts.map(({ id, fees }) => ({
          id,
          from: signerOf(entry),
          step: entry.step,
          sequence: entry.sequence,
          fees,
          ...(entry.landed?.id === id && { landed: { ...entry.landed, ...(entry.reason !== undefined && { reason: entry.reason }) } }),
        })),
      )
      .filter(({ id }) => !unsent.has(id))
    const watched = [...new Set(open.map(signerOf))].flatMap((address) => ours.get(address) ?? [])
    const updates = new Map(watched.map(({ queue }) => [queue.address, queue.startSync()]))
    const { statuses, synced } = await withDeadline(closing, pollTimeoutMs, (signal) => rail.poll(attempts, head, { signal }))
    for (const [address, update] of synced) updates.get(address)?.(update)

    const observations = new Map(statuses.map((each) => [each.id, each]))
    nextInLine = updateNextInLine(nextInLine, open, observations, head.number)
    let isAnyOpen = false
    let failure: unknown
    /** An error of one wallet does not stop the others. */
    async function attempt(work: () => Promise<void>): Promise<void> {
      try {
        await work()
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        if (!(error instanceof OwnershipLost)) failure ??= error
      }
    }
    const polled: { leased: LeasedQueue; entries: readonly Entry[]; result: PollResult }[] = []
    for (const leased of watched)
      await attempt(async () => {
        const entries = open.filter((entry) => signerOf(entry) === leased.queue.address)
        const competingOf = await findCompeting(entries, observations, { recorder, confirmations })
        polled.push({ leased, entries, result: { head, observations, competingOf } })
      })
    // Those of all wallets at once: each call may wait a moment.
    await read(polled.flatMap(({ entries, result }) => entries.map((entry) => observedStep(entry, result).entry)))
    for (const { leased, entries, result } of polled)
      await attempt(async () => {
        if (await moveAll(entries, leased, result)) isAnyOpen = true
        fillGaps(leased, synced.get(leased.queue.address))
      })
    if (failure !== undefined) throw failure
    return isAnyOpen
  }

  function fillGaps({ queue }: LeasedQueue, update: Json | undefined): void {
    for (const gap of update === undefined ? [] : queue.gaps(update)) upkeep.fill(queue.address, rail.nonceOf(gap))
  }

  /** One write for all changes of a queue, whose outcomes are being read already. Returns whether any of its entries is still open. */
  async function moveAll(open: readonly Entry[], leased: LeasedQueue, result: PollResult): Promise<boolean> {
    let entries = open
    for (let tries = 0; tries < maxBatches; tries += 1) {
      const observed = entries.map((before) => ({ before, step: observedStep(before, result) }))
      if (tries > 0) await read(observed.map(({ step }) => step.entry))
      const steps = observed.map(({ before, step }) => ({ before, ...settled(before, step) }))
      const changes = steps.flatMap(({ before, entry }) => (entry === before ? [] : [{ before, after: entry }]))
      const written = changes.length === 0 ? [] : await recorder.write(changes, leased.lease)
      if (written) {
        const stored = new Map(written.map((entry) => [entry.key, entry]))
        return steps.map(({ entry, actions }) => act(stored.get(entry.key) ?? entry, actions, leased, result.head)).includes(true)
      }
      // A broadcast or a replacement changed an entry in the meantime.
      const current = await Promise.all(entries.map(({ key }) => recorder.read(key)))
      entries = current.flatMap((entry) => entry ?? [])
    }
    let isAnyOpen = false
    for (const before of entries) if (await moveOne(before, leased, result)) isAnyOpen = true
    return isAnyOpen
  }

  async function moveOne(before: Entry, leased: LeasedQueue, result: PollResult): Promise<boolean> {
    let actions: readonly Action[] = []
    await read([observedStep(before, result).entry])
    const entry = await recorder.amend(
      before,
      (current) => {
        const step = settled(current, observedStep(current, result))
        actions = step.actions
        return step.entry
      },
      leased.lease,
    )
    return act(entry, actions, leased, result.head)
  }

  /** What is to be known before they are final. */
  async function read(entries: readonly Entry[]): Promise<void> {
    await Promise.all([outcomes.begin(entries), comparisons.begin(entries)])
  }

  /** An entry that is about to be final waits until it is compared with its plan, and its outcome is read. */
  function settled(before: Entry, step: Step): Step {
    const entry = outcomes.settle(before, comparisons.settle(before, step.entry))
    return entry === step.entry ? step : { entry, actions: [] }
  }

  function observedStep(entry: Entry, { head, observations, competingOf }: PollResult): Step {
    const { replace } = rail
    const replacing = replace && {
      bumpAfterSeconds,
      mayBeWithdrawal: replace.cancelAgain !== undefined && isDeepStrictEqual(entry.step, replace.cancel(signerOf(entry))),
      cancelIsCheaper: (fees: Json) => replace.cancelIsCheaper(entry.step, fees, head),
    }
    return advance(entry, {
      observations,
      competing: competingOf(entry),
      head,
      confirmations,
      missedBlocks: missedBlocks(entry, nextInLine, head.number),
      ...(replacing && { replacing }),
      waited: (attempt) => times.of(attempt),
    })
  }

  /** Returns whether the entry is still open. */
  function act(entry: Entry, actions: readonly Action[], { queue, lease, permits }: LeasedQueue, head: Head): boolean {
    if (isFinal(entry)) {
      permits.set(entry)
      queue.markFinal(entry.sequence)
      upkeep.forget(entry)
      times.forget(entry.attempts)
      return false
    }
    // Its replacement ended without replacing it, and has left the queue.
    if (entry.signer !== undefined && !queue.pendingOn(entry.nonce)) restoreSigned(entry, queue, rail)
    for (const action of actions) {
      if (action.do === 'send') void broadcast(entry, action.attempt, lease)
      else if (action.do === 'bump') upkeep.bump(entry, action.over.id, head)
      else upkeep.cancel(entry, action.reason)
    }
    return true
  }

  return {
    wake() {
      isWoken = true
      if (closing.aborted) return
      running ??= run().finally(() => {
        running = undefined
        // `wake` may have been called between the loop's last poll and its end.
        if (isWoken && !closing.aborted) this.wake()
      })
    },
    idle: async () => running,
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown')

/** Another transaction of ours in a block with an entry's sequence; `gone` if its replacement ended without replacing it. */
export type CompetingOf = (entry: Entry) => CompetingTransaction | 'gone' | undefined

/** Searches the open entries, and the final ones that were to replace one of them. */
export async function findCompeting(
  open: readonly Entry[],
  observations: PollResult['observations'],
  { recorder, confirmations }: { recorder: Recorder; confirmations: number },
): Promise<CompetingOf> {
  const landed = new Map<string, CompetingTransaction & { key: string }>()
  for (const entry of open) {
    const { key, kind, rank, attempts } = entry
    const observed = attempts.map(({ id }) => observations.get(id)).find((each) => each?.is === 'landed')
    if (observed?.is !== 'landed' || !usesSequence(entry, observed)) continue
    landed.set(sequenceName(entry), { key, txHash: observed.id, kind, rank, final: observed.depth >= confirmations })
  }
  /** Of entries whose place was taken by what no node can name. */
  const finalOnNonce = new Map<string, CompetingTransaction>()
  for (const entry of open) {
    if (!isDeadByUnknown(entry, observations)) continue
    const found = await findFinalOnNonce(entry, recorder)
    if (found) finalOnNonce.set(entry.key, found)
  }
  const openIds = new Set(open.flatMap(({ attempts }) => attempts.map(({ id }) => id)))
  const final = new Map<string, CompetingTransaction | 'gone'>()
  for (const entry of open)
    for (const id of replacementsOf(entry, observations)) {
      if (openIds.has(id) || final.has(id)) continue
      const other = await recorder.find(entry.chain, entry.network, id)
      if (!other || !isFinal(other) || !isSameSequence(other, entry)) continue
      if (leftSequenceUnused(other)) final.set(id, 'gone')
      else if (other.landed) final.set(id, finalCompeting(other, other.landed.id))
    }
  return (entry) => {
    const competing = landed.get(sequenceName(entry))
    if (competing && competing.key !== entry.key) return competing
    const found = replacementsOf(entry, observations).flatMap((id) => final.get(id) ?? [])
    return found.find((each) => each !== 'gone') ?? found[0] ?? finalOnNonce.get(entry.key)
  }
}

const finalCompeting = ({ kind, rank }: Entry, txHash: string): CompetingTransaction => ({ txHash, kind, rank, final: true })

/** Whether polls find it dead, and none names the transaction in its place. */
function isDeadByUnknown({ attempts }: Entry, observations: PollResult['observations']): boolean {
  const dead = attempts.flatMap(({ id }) => {
    const observed = observations.get(id)
    return observed?.is === 'dead' ? observed : []
  })
  return dead.length > 0 && dead.every(({ by }) => by === undefined)
}

/** A final transaction of ours that used the entry's nonce. */
async function findFinalOnNonce(entry: Entry, recorder: Recorder): Promise<CompetingTransaction | undefined> {
  const { chain, network, connector } = railOf(entry)
  const { entries } = await recorder.list({ chain, network, on: { connector, address: signerOf(entry) }, nonce: entry.nonce })
  const other = entries.find(
    (each) => each.key !== entry.key && isFinal(each) && each.landed && usesSequence(each, each.landed) && isSameSequence(each, entry),
  )
  return other?.landed && finalCompeting(other, other.landed.id)
}

const isSameSequence = (one: Entry, other: Entry) => sequenceName(one) === sequenceName(other)

/** A reverted transaction in a block has used its nonce, too. An action that an exchange refused may not have used it. */
const usesSequence = ({ signer }: Entry, { ok }: { ok: boolean }): boolean => ok || signer === undefined

/** Whether it ended without using its nonce: only an action that an exchange did not carry out. */
const leftSequenceUnused = ({ signer, landed }: Entry): boolean => signer !== undefined && landed?.ok !== true

/** Ids of its intended replacement, and of the transactions that polls saw in its place. Those may be other replacements of it. */
function replacementsOf({ replacedBy, attempts }: Entry, observations: PollResult['observations']): readonly string[] {
  const seen = attempts.flatMap(({ id }) => {
    const observed = observations.get(id)
    return observed?.is === 'dead' ? (observed.by ?? []) : []
  })
  return replacedBy === undefined ? seen : [replacedBy, ...seen]
}

const sequenceName = (entry: Entry) => `${signerOf(entry)}/${JSON.stringify(entry.sequence)}`

/**
 * Yields the last value again if no new one comes for a while: a chain without traffic may make no blocks at all. The source ends when its
 * own signal is aborted, because a source that waits for a value cannot be told to return.
 */
export async function* repeatOnInterval<T>(source: AsyncIterable<T>, intervalMs: number): AsyncGenerator<T, void> {
  const values = source[Symbol.asyncIterator]()
  let next = values.next()
  let last: { value: T } | undefined
  try {
    for (;;) {
      const result = await withTimeout(next, intervalMs, () => undefined)
      if (result) {
        if (result.done) return
        last = { value: result.value }
        next = values.next()
      }
      if (last) yield last.value
    }
  } finally {
    // Not awaited: the next value may take long.
    next.catch(() => {})
    values.return?.().catch(() => {})
  }
}
