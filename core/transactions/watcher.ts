// Follows the open transactions of one target until they are final.
import { linkAbort, pause, withDeadline, withTimeout } from '../base/async.ts'
import type { Head, Json } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { findCompeting } from './competing.ts'
import { mayBeHeldBack, signerOf, type Entry } from './entry.ts'
import { createEntryMover, type MoverParts, type PollResult } from './entry-mover.ts'
import { OwnershipLostError } from './journal/journal.ts'
import type { LeasedQueue, LeasedQueues } from './leases.ts'
import { hasEnded, hasWaited, updateNextInLine, type NextInLine } from './lifecycle.ts'
import { mayEnd, permitOf, settlePermits } from './permits.ts'
import { stepsInTurn } from './plan-steps.ts'
import { reasonOf } from '../base/errors.ts'
import { effectOf } from './stops.ts'
import { createUndoneNonces, type UndoneNoncesParts } from './undone-nonces.ts'

const pollTimeoutMs = 30_000
const pauseAfterErrorMs = 1_000
/** Without a new head for this long the last one is polled again, so that bytes that no node has are still sent again. */
const idlePollMs = 5_000

const nothingPassing: ReadonlyMap<string, string> = new Map()

export interface WatcherParts extends MoverParts, Omit<UndoneNoncesParts, keyof MoverParts> {
  queues: LeasedQueues
  /** Called for an entry that ends without a poll. */
  onFinal: (entry: Entry) => void
  /** Keys of entries that are being signed. */
  signing: ReadonlySet<string>
  /** Ids of attempts that wait for the steps of their plan before them: no node has them yet. */
  unsent: ReadonlySet<string>
}

export interface Watcher {
  /** There is something to watch. */
  wake: () => void
  /** Settles when the loop has ended: after `closing`, or with nothing left to watch. */
  idle(): Promise<void>
}

/** Polls at every head while our queues have open entries: one batch for all of them. Otherwise asks nothing. */
export function createWatcher(parts: WatcherParts): Watcher {
  const { target, recorder, queues, unsent, upkeep, log, closing } = parts
  const { chain, network, connector, impl } = target
  const { rail, confirmations } = impl
  const mover = createEntryMover(parts)
  const undone = createUndoneNonces(parts)
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
    const signed = (await unfinished([...ours.keys()])).filter((entry) => entry.attempts.length > 0 && ours.has(signerOf(entry)))
    const open = connector === undefined ? signed : await stepsInTurn(signed, ours, parts)
    let isAnyOpen = open.length < signed.length
    try {
      if (open.length > 0 && (await poll(open, ours, head))) isAnyOpen = true
    } catch (error) {
      if (!closing.aborted)
        log.warn({ open: open.length, reason: reasonOf(error) }, 'poll of open transactions failed; tried again at the next head')
      isAnyOpen = true
    }
    for (const leased of ours.values()) if (await settlePermitsOf(leased, head, parts)) isAnyOpen = true
    return isAnyOpen
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
        if (!(error instanceof OwnershipLostError)) failure ??= error
      }
    }
    const polled: { leased: LeasedQueue; entries: readonly Entry[]; result: PollResult }[] = []
    for (const leased of watched)
      await attempt(async () => {
        // The cancel of the lowest nonce comes first: nothing behind it is mined before, and its fees may be the last that there are.
        const own = open.filter((entry) => signerOf(entry) === leased.queue.address)
        const entries = own.toSorted((one, other) => one.nonce - other.nonce)
        const competingOf = await findCompeting(entries, observations, { recorder, confirmations })
        const waiting = entries.filter((entry) => hasWaited(entry, blockOf(entry, observations) ?? head))
        const passing = waiting.length > 0 ? await recorder.revalue(waiting, leased.lease) : nothingPassing
        polled.push({ leased, entries, result: { head, observations, competingOf, nextInLine, passing } })
      })
    await Promise.all(polled.map(({ entries, result }) => mover.prepare(entries, result)))
    for (const { leased, entries, result } of polled)
      await attempt(async () => {
        if (await mover.moveAll(entries, leased, result)) isAnyOpen = true
        // A fill would have what is behind it mined: its cancel comes first.
        if (!entries.some((entry) => lacksCancel(entry, result))) fillGaps(leased, synced.get(leased.queue.address), head)
      })
    if (failure !== undefined) throw failure
    return isAnyOpen
  }

  function fillGaps({ queue }: LeasedQueue, update: Json | undefined, head: Head): void {
    if (update === undefined) return
    undone.note(queue, update, head)
    for (const gap of queue.gaps(update)) upkeep.fill(queue.address, rail.nonceOf(gap))
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

/** Where one of its attempts is mined. */
function blockOf({ attempts }: Entry, observations: PollResult['observations']): { number: bigint } | undefined {
  const landed = attempts.map(({ id }) => observations.get(id)).find((each) => each?.is === 'landed')
  // As if by the head before it: in that block it would have been the first that is valued anew.
  return landed?.is === 'landed' ? { number: BigInt(landed.blockNumber) - 1n } : undefined
}

/** Whether it has to end, and nothing is signed yet that takes its place. */
const lacksCancel = (entry: Entry, { head, passing }: PollResult): boolean =>
  entry.replacedBy === undefined &&
  entry.landed === undefined &&
  (passing.has(entry.key) || hasEnded(entry, head) !== undefined || (mayBeHeldBack(entry) && effectOf(entry) === 'other'))

/** What became of the permits that a wallet signed. Returns whether any is still outstanding. */
async function settlePermitsOf(
  { queue, lease, permits }: LeasedQueue,
  head: Head,
  { target: { impl }, recorder, signing, log, closing }: WatcherParts,
): Promise<boolean> {
  const { permits: ofRail } = impl.rail
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
      permits.set(await recorder.amend(entry, (current) => settlePermits(current, own, head, impl.confirmations), lease))
    }
  } catch (error) {
    if (!closing.aborted && !(error instanceof OwnershipLostError))
      log.warn({ address: queue.address, reason: reasonOf(error) }, 'poll of outstanding permits failed; tried again at the next head')
  }
  return permits.keys().length > 0
}

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
