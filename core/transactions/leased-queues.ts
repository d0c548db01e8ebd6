import { type Rail, SluiceError } from '../contracts/index.ts'
import { queueName, railName, isFinal, type Entry } from './entry.ts'
import { type Lease, type Recorder, OwnershipLost, type EntryFilter } from './journal/journal.ts'
import type { Leases } from './leases.ts'
import { createNonceQueue, type NonceQueue, type PendingTransaction } from './nonce-queue.ts'
import { type TransactionTarget, timedOutBeforeSigning } from './submit-request.ts'

/** A lane as it was taken up, and the hold on it that every write shows. */
export interface LeasedQueue {
  readonly queue: NonceQueue
  readonly lease: Lease
}

/** The lanes of one network that this server owns, each as the journal has it since the last change of owner. */
export interface LeasedQueues {
  /** Counts a request of a wallet in, and out by the function that it gives. @throws SluiceError OVERLOADED */
  enter(address: string): () => void
  /** Runs work while the wallet's lane is ours; asks its owner for it. @throws Superseded; TIMEOUT; StoreUnavailable */
  use<T>(address: string, signal: AbortSignal, work: (held: LeasedQueue) => Promise<T>): Promise<T>
  /** Takes up a lane whose owner is dead, or which has none; false where it has a living owner. */
  takeIfFree(address: string): Promise<boolean>
  /** The wallet's lane, if it is ours at this moment. */
  held(address: string): LeasedQueue | undefined
  /** All that are ours at this moment. */
  all(): readonly LeasedQueue[]
}

interface QueueEntry {
  lease: Lease
  ready: Promise<LeasedQueue>
  /** Once it is ready. */
  held?: LeasedQueue
}

export function createLeasedQueues({
  site,
  recorder,
  leases,
  limit,
}: {
  site: TransactionTarget
  recorder: Recorder
  leases: Leases
  /** `limits.walletQueue` */
  limit: number
}): LeasedQueues {
  const { impl } = site
  const taken = new Map<string, QueueEntry>()
  const queues = new Map<string, RequestLimit>()
  const nameOf = (address: string) => queueName(site, address)

  /** Once for every change of owner: whatever was known before may have been overtaken. */
  function takeUp(address: string, guard: Lease): Promise<LeasedQueue> {
    const before = taken.get(address)
    if (before?.lease.fencingToken === guard.fencingToken) return before.ready
    if (before && before.lease.fencingToken > guard.fencingToken)
      return Promise.reject(new OwnershipLost(`${nameOf(address)} has had another owner meanwhile.`))
    const fresh = createNonceQueue({ rail: impl.rail, address, limit, name: `${address} on ${railName(site)}` })
    const ready = rebuildQueue({ site, recorder, lane: fresh, guard }).then(() => ({ queue: fresh, lease: guard }))
    const entry: QueueEntry = { lease: guard, ready }
    taken.set(address, entry)
    ready.then(
      (held) => (entry.held = held),
      () => taken.get(address) === entry && taken.delete(address),
    )
    return ready
  }

  function held(address: string): LeasedQueue | undefined {
    const found = taken.get(address)?.held
    return found && leases.held(nameOf(address))?.fencingToken === found.lease.fencingToken ? found : undefined
  }

  return {
    enter(address) {
      const queue = queues.get(address) ?? createRequestLimit(limit, `${address} on ${railName(site)}`)
      queues.set(address, queue)
      return queue.enter()
    },
    async use<T>(address: string, signal: AbortSignal, work: (held: LeasedQueue) => Promise<T>): Promise<T> {
      let begun = false
      const done: { value: T }[] = []
      try {
        await leases.use(nameOf(address), signal, async (guard) => {
          const mine = await takeUp(address, guard)
          begun = true
          done.push({ value: await work(mine) })
        })
      } catch (error) {
        // The signal's own reason says nothing to a caller.
        if (!begun && signal.aborted) throw timedOutBeforeSigning()
        // What was done stays done, whatever becomes of the lane afterwards.
        if (done.length === 0) throw error
      }
      const [outcome] = done
      if (!outcome) throw new Error(`The lane ${nameOf(address)} was not used.`)
      return outcome.value
    },
    async takeIfFree(address) {
      const guard = leases.held(nameOf(address)) ?? (await leases.takeIfFree(nameOf(address)))
      if (guard) await takeUp(address, guard)
      return guard !== undefined
    },
    held,
    all: () => [...taken.keys()].flatMap((address) => held(address) ?? []),
  }
}

const neverSigned = 'The server that took it ended before it was signed: nothing was sent.'

/**
 * What the journal has on a lane, after its owner changed: another server's death, a hand-over, a restart of ours. What was
 * never signed is given up, for whoever was about to sign it cannot journal any more; what was signed holds its slot.
 */
async function rebuildQueue({
  site: { chain, network, connector, impl },
  recorder,
  lane,
  guard,
}: {
  site: TransactionTarget
  recorder: Recorder
  lane: NonceQueue
  guard: Lease
}): Promise<void> {
  const on = { connector, address: lane.address }
  // The newest on a slot is what a replacement has to outbid: by its rank, for clocks differ and are set back.
  for (const entry of (await recorder.unfinished({ chain, network, ...on })).toSorted((a, b) => a.rank - b.rank)) {
    const kept = entry.attempts.length > 0 ? entry : await recorder.amend(entry, expireUnsigned(neverSigned), guard)
    if (kept.attempts.length > 0) restoreSigned(kept, lane, impl.rail)
  }
  // Where slots have an order, whatever lies before a used one is used; and where they only increase, none is used again.
  const { slots } = impl.rail
  const last = slots === 'independent' ? undefined : await newestUsed(recorder, { chain, network, on }, slots === 'increasing')
  if (last) lane.markFinal(last.slot)
}

/** A change that gives up what was never signed. */
export const expireUnsigned =
  (reason: string) =>
  (entry: Entry): Entry =>
    entry.state === 'QUEUED' ? { ...entry, state: 'EXPIRED', reason } : entry

/** What a signed entry means for its slot. */
export function restoreSigned(entry: Entry, lane: NonceQueue, rail: Rail): void {
  if (isFinal(entry)) lane.markFinal(entry.slot)
  else lane.setPending(entry.slot, pendingOf(entry, rail), entry.slotGiven)
}

/** How a signed entry holds its slot. */
export function pendingOf({ key, kind, rank, step, attempts }: Entry, rail: Rail): PendingTransaction {
  const newest = attempts.at(-1)
  if (!newest) throw new Error(`${key} was never signed.`)
  const costs = attempts.map(({ fees }) => rail.cost(step, fees))
  return { key, txHash: newest.id, kind, rank, fees: newest.fees, costRaw: costs.reduce((a, b) => (a > b ? a : b)) }
}

/**
 * Of the newest that ended with their slot used, the one with the highest. Callers may have given lower ones later; what they gave far ahead
 * says nothing of what the server assigns where slots only increase.
 */
async function newestUsed(recorder: Recorder, of: EntryFilter, isAssigned: boolean): Promise<Entry | undefined> {
  for (let cursor: string | undefined, pages = 0; pages < 10; pages += 1) {
    const page = await recorder.list({ ...of, limit: 100, cursor })
    const used = page.entries.filter((entry) => isFinal(entry) && entry.attempts.length > 0 && !(isAssigned && entry.slotGiven))
    if (used.length > 0) return used.reduce((a, b) => (b.nonce > a.nonce ? b : a))
    cursor = page.nextCursor
    if (cursor === undefined) return undefined
  }
  return undefined
}

/** How many requests of one wallet are under way. */
interface RequestLimit {
  /** Counts one in, and out by the function that it gives. @throws SluiceError OVERLOADED */
  enter(): () => void
}

/** @param limit `limits.walletQueue` */
export function createRequestLimit(limit: number, wallet: string): RequestLimit {
  let inside = 0
  return {
    enter() {
      if (inside >= limit) {
        throw new SluiceError(
          'OVERLOADED',
          `${limit} requests of ${wallet} are under way already (limits.walletQueue): try again shortly.`,
          {
            retryAfterSeconds: 1,
          },
        )
      }
      inside += 1
      return () => {
        inside -= 1
      }
    },
  }
}
