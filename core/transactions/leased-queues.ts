import { SluiceError, type Rail } from '../contracts/index.ts'
import { isFinal, queueName, railName, type Entry } from './entry.ts'
import { OwnershipLost, type EntryFilter, type Lease, type Recorder } from './journal/journal.ts'
import type { Leases } from './leases.ts'
import { createNonceQueue, type NonceQueue, type PendingTransaction } from './nonce-queue.ts'
import { timedOutBeforeSigning, type TransactionTarget } from './submit-request.ts'

/** A nonce queue, and the lease that every write carries. */
export interface LeasedQueue {
  readonly queue: NonceQueue
  readonly lease: Lease
}

/** The nonce queues of one target that this server owns. Each is rebuilt from the journal whenever its owner changes. */
export interface LeasedQueues {
  /** Counts a request of a wallet; call the returned function when it ends. @throws SluiceError OVERLOADED */
  enter(address: string): () => void
  /**
   * Runs work while this server owns the wallet's queue, which it requests from another owner. @throws OwnershipLost; TIMEOUT;
   * StoreUnavailable
   */
  use<T>(address: string, signal: AbortSignal, work: (leased: LeasedQueue) => Promise<T>): Promise<T>
  /** Takes a queue whose lease is free or expired; false if its owner is alive. */
  takeIfFree(address: string): Promise<boolean>
  /** The wallet's queue, if it is ours at this moment. */
  held(address: string): LeasedQueue | undefined
  /** All that are ours at this moment. */
  all(): readonly LeasedQueue[]
}

interface LeasedQueuesParts {
  target: TransactionTarget
  recorder: Recorder
  leases: Leases
  /** `limits.walletQueue`: requests that one wallet may have under way. */
  limit: number
}

interface RebuiltQueue {
  lease: Lease
  ready: Promise<LeasedQueue>
  /** Set once it is ready. */
  leased?: LeasedQueue
}

export function createLeasedQueues({ target, recorder, leases, limit }: LeasedQueuesParts): LeasedQueues {
  const rebuilt = new Map<string, RebuiltQueue>()
  const requests = new Map<string, number>()
  const nameOf = (address: string) => queueName(target, address)
  const displayName = (address: string) => `${address} on ${railName(target)}`

  /** Once for every change of owner, because what is in memory may be out of date. */
  function rebuild(address: string, lease: Lease): Promise<LeasedQueue> {
    const before = rebuilt.get(address)
    if (before?.lease.fencingToken === lease.fencingToken) return before.ready
    if (before && before.lease.fencingToken > lease.fencingToken)
      return Promise.reject(new OwnershipLost(`${nameOf(address)} has had another owner in the meantime.`))
    const queue = createNonceQueue({ rail: target.impl.rail, address, limit, name: displayName(address) })
    const leased = { queue, lease }
    const ready = rebuildQueue(leased, { target, recorder }).then(() => leased)
    const entry: RebuiltQueue = { lease, ready }
    rebuilt.set(address, entry)
    ready.then(
      () => (entry.leased = leased),
      () => rebuilt.get(address) === entry && rebuilt.delete(address),
    )
    return ready
  }

  function held(address: string): LeasedQueue | undefined {
    const leased = rebuilt.get(address)?.leased
    return leased && leases.held(nameOf(address))?.fencingToken === leased.lease.fencingToken ? leased : undefined
  }

  return {
    enter(address) {
      const underWay = requests.get(address) ?? 0
      if (underWay >= limit)
        throw new SluiceError(
          'OVERLOADED',
          `${limit} requests of ${displayName(address)} are under way already (limits.walletQueue): try again shortly.`,
          { retryAfterSeconds: 1 },
        )
      requests.set(address, underWay + 1)
      return () => void requests.set(address, (requests.get(address) ?? 1) - 1)
    },
    async use<T>(address: string, signal: AbortSignal, work: (leased: LeasedQueue) => Promise<T>): Promise<T> {
      let hasBegun = false
      const done: { value: T }[] = []
      try {
        await leases.use(nameOf(address), signal, async (lease) => {
          const leased = await rebuild(address, lease)
          hasBegun = true
          done.push({ value: await work(leased) })
        })
      } catch (error) {
        // The signal's own reason tells a caller nothing.
        if (!hasBegun && signal.aborted) throw timedOutBeforeSigning()
        // The work is done even if the lease is lost afterwards.
        if (done.length === 0) throw error
      }
      const [outcome] = done
      if (!outcome) throw new Error(`The queue ${nameOf(address)} was not used.`)
      return outcome.value
    },
    async takeIfFree(address) {
      const lease = leases.held(nameOf(address)) ?? (await leases.takeIfFree(nameOf(address)))
      if (lease) await rebuild(address, lease)
      return lease !== undefined
    },
    held,
    all: () => [...rebuilt.keys()].flatMap((address) => held(address) ?? []),
  }
}

/**
 * Loads a queue from the journal after its owner changed: by a hand-over, another server's death or our restart. Unsigned entries expire,
 * because the server that was signing them can no longer write to the journal. Signed ones keep their sequence.
 */
async function rebuildQueue(
  { queue, lease }: LeasedQueue,
  { target: { chain, network, connector, impl }, recorder }: { target: TransactionTarget; recorder: Recorder },
): Promise<void> {
  const on = { connector, address: queue.address }
  const open = await recorder.unfinished({ chain, network, ...on })
  // A replacement has to outbid the newest with its sequence: by rank, since clocks differ and are set back.
  for (const entry of open.toSorted((a, b) => a.rank - b.rank)) {
    const expire = expireUnsigned('The server that accepted it ended before it was signed: nothing was sent.')
    const stored = entry.attempts.length > 0 ? entry : await recorder.amend(entry, expire, lease)
    if (stored.attempts.length > 0) restoreSigned(stored, queue, impl.rail)
  }
  // Where nonces are consecutive, everything below a used one is used. Where they only increase, none is used again.
  const { slots } = impl.rail
  const last = slots === 'independent' ? undefined : await highestUsed(recorder, { chain, network, on }, slots === 'increasing')
  if (last) queue.markFinal(last.sequence)
}

/** Expires an entry that was never signed. */
export const expireUnsigned =
  (reason: string) =>
  (entry: Entry): Entry =>
    entry.state === 'QUEUED' ? { ...entry, state: 'EXPIRED', reason } : entry

/** Updates a queue with a signed entry. */
export function restoreSigned(entry: Entry, queue: NonceQueue, rail: Rail): void {
  if (isFinal(entry)) queue.markFinal(entry.sequence)
  else queue.setPending(entry.sequence, pendingOf(entry, rail), entry.sequenceGiven)
}

/** A signed entry as its queue knows it. */
export function pendingOf({ key, kind, rank, step, attempts }: Entry, rail: Rail): PendingTransaction {
  const newest = attempts.at(-1)
  if (!newest) throw new Error(`${key} was never signed.`)
  const costs = attempts.map(({ fees }) => rail.cost(step, fees))
  return { key, txHash: newest.id, kind, rank, fees: newest.fees, costRaw: costs.reduce((a, b) => (a > b ? a : b)) }
}

/**
 * The entry with the highest nonce among signed, final ones, on the newest page that has any. Callers may have chosen lower nonces later.
 * @param isAssigned leaves out nonces that callers chose: where nonces only increase, those may be far ahead of what the server assigned
 */
async function highestUsed(recorder: Recorder, filter: EntryFilter, isAssigned: boolean): Promise<Entry | undefined> {
  for (let cursor: string | undefined, pages = 0; pages < 10; pages += 1) {
    const page = await recorder.list({ ...filter, limit: 100, cursor })
    const used = page.entries.filter((entry) => isFinal(entry) && entry.attempts.length > 0 && !(isAssigned && entry.sequenceGiven))
    if (used.length > 0) return used.reduce((a, b) => (b.nonce > a.nonce ? b : a))
    cursor = page.nextCursor
    if (cursor === undefined) return undefined
  }
  return undefined
}
