// Who owns a queue of nonces: the leases of this server, and the queues that it rebuilt from the journal under them.
import { abortable, pause, withTimeout } from '../base/async.ts'
import { type Log, SluiceError, type Rail } from '../contracts/index.ts'
import type { LeaseEvents, OwnedLease, ServerLeases, Store } from '../store/store.ts'
import { isFinal, mayBeHeldBack, queueName, railName, type Entry } from './entry.ts'
import { OwnershipLostError, type Lease, type EntryFilter, type Recorder } from './journal/journal.ts'
import { createNonceQueue, type NonceQueue, type PendingTransaction } from './nonce-queue.ts'
import { createOutstandingPermits, type OutstandingPermits } from './permits.ts'
import { keysFollow, timedOutBeforeSigning, type TransactionTarget } from './submit-request.ts'
import { reasonOf } from '../base/errors.ts'

/** A lease is kept at least this long even if others wait, so that two busy servers do not only pass it back and forth. */
const minTenureMs = 50
/** A waiting server asks again this often if no notice comes. */
const pollMs = 250

/**
 * The leases of this server: one for each queue of nonces. A queue has one owner at a time among all servers, and its fencing token rises
 * with every change of owner. A server that cannot renew its session in time stops, by its own clock, before another may take over.
 */
export interface Leases {
  /**
   * Runs work while this server holds the lease. If another server holds it, requests it and waits. Keeps it afterwards until another
   * server requests it. Several calls may share one lease; it is handed over when all of them have ended.
   * @throws OwnershipLostError, or the signal's reason, before `work` has begun
   */
  use<T>(queue: string, signal: AbortSignal, work: (lease: Lease) => Promise<T>): Promise<T>
  /** The lease if it is ours now, from memory. */
  held(queue: string): Lease | undefined
  /** Takes a lease that is free or expired; undefined if its owner is alive. Returns a lease that is ours unchanged. */
  takeIfFree(queue: string): Promise<Lease | undefined>
  /** Releases every lease, so that other servers need not wait. After the last `use`. */
  stop(): Promise<void>
}

/** How a lease changed owner: `taken` while it was free or expired; `received` from its owner; `given` to another server. */
type LeaseChange = 'taken' | 'received' | 'given'

interface SqlLeasesOptions {
  store: Store
  /** Of this process alone, and never used again. */
  serverId: string
  /** For people. */
  serverName: string
  log: Log
  onChange?: (change: LeaseChange) => void
  beforeRenewal?: NonNullable<LeaseEvents['beforeRenewal']>
}

/** Leases in the store's tables. */
export function sqlLeases({ store, serverId, serverName, log, onChange = () => {}, beforeRenewal }: SqlLeasesOptions): Leases {
  const holders = new Map<string, LeaseHolder>()
  const session = store.openLeases(
    { serverId, serverName, log },
    {
      requested: (queue) => holderOf(queue).requested(),
      granted: (queue) => holderOf(queue).granted(true),
      freed,
      owned,
      ...(beforeRenewal && { beforeRenewal }),
    },
  )
  let isStopped = false

  function holderOf(queue: string): LeaseHolder {
    const holder = holders.get(queue) ?? createLeaseHolder({ queue, session, log, onChange })
    holders.set(queue, holder)
    return holder
  }

  function freed(): void {
    for (const holder of holders.values()) holder.granted(false)
  }

  /** Corrects the holders where a notice was missed. */
  function owned(leases: readonly OwnedLease[], askedAt: number): void {
    const tokens = new Map(leases.map(({ queue, fencingToken }) => [queue, fencingToken]))
    for (const [queue, holder] of holders) holder.confirm(tokens.get(queue), askedAt)
    for (const { queue, requested } of leases) if (requested) holderOf(queue).requested()
  }

  return {
    async use(queue, signal, work) {
      if (isStopped) throw new OwnershipLostError('The server is stopping.')
      const holder = holderOf(queue)
      const lease = await holder.enter(signal)
      try {
        return await work(lease)
      } catch (error) {
        if (error instanceof OwnershipLostError && error.lost === 'queue') holder.doubt(lease)
        throw error
      } finally {
        holder.leave()
      }
    },
    held: (queue) => (isStopped ? undefined : holders.get(queue)?.held()),
    takeIfFree: async (queue) => (isStopped ? undefined : holderOf(queue).takeIfFree()),
    async stop() {
      isStopped = true
      freed()
      await session.stop()
    },
  }
}

/** The lease of one queue, as this server sees it. */
interface LeaseHolder {
  held(): Lease | undefined
  /** Waits until the lease is ours and may be used, and counts one use. */
  enter(signal: AbortSignal): Promise<Lease>
  leave(): void
  takeIfFree(): Promise<Lease | undefined>
  /** Another server asks for the lease. */
  requested(): void
  /** The lease was handed to us (`toUs`), or may be free. */
  granted(toUs: boolean): void
  /** The store's state at some moment after `askedAt`: the fencing token if the lease was ours. */
  confirm(fencingToken: number | undefined, askedAt: number): void
  /** A write with this lease was refused: the store must be asked again. */
  doubt(lease: Lease): void
}

interface HeldLease {
  lease: Lease
  /** The session's term when the lease was taken. */
  term: number
  /** `performance.now()` */
  since: number
}

interface HolderParts {
  queue: string
  session: ServerLeases
  log: Log
  onChange: (change: LeaseChange) => void
}

function createLeaseHolder({ queue, session, log, onChange }: HolderParts): LeaseHolder {
  let current: HeldLease | undefined
  let lastToken: number | undefined
  let isGranted = false
  let users = 0
  let waiting = 0
  let isLeaving = false
  let handingOver: Promise<void> | undefined
  let acquiring: Promise<void> | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let wake = () => {}
  let onUnused = () => {}

  const isWanted = () => waiting > 0
  const valid = () => (current && current.term === session.term() && session.isAlive() ? current : undefined)

  /** Runs statements in sequence, so that the last answer is the newest. */
  function inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const answer = turn.then(ask)
    turn = answer.catch(() => {})
    return answer
  }

  const take = () =>
    inTurn(async () => {
      if (valid()) return true
      current = undefined
      const term = session.term()
      const fencingToken = await session.take(queue)
      if (fencingToken === undefined) return false
      current = { lease: { queue, fencingToken }, term, since: performance.now() }
      if (fencingToken !== lastToken) onChange(isGranted ? 'received' : 'taken')
      lastToken = fencingToken
      isGranted = false
      return true
    })

  /** Runs once for all callers that wait. */
  async function acquire(): Promise<void> {
    while (isWanted()) {
      await handingOver
      await session.revive()
      const notified = new Promise<void>((resolve) => (wake = resolve))
      if (await take()) return
      await session.request(queue)
      await withTimeout(notified, pollMs, () => {})
    }
  }

  async function handOver(): Promise<void> {
    try {
      if (current) await pause(Math.max(0, current.since + minTenureMs - performance.now()))
      // New calls wait behind the other server. Otherwise it would never get the lease.
      isLeaving = true
      if (users > 0) await new Promise<void>((resolve) => (onUnused = resolve))
      await inTurn(async () => {
        current = undefined
        if (await session.handOver(queue)) onChange('given')
      })
    } catch (error) {
      const reason = reasonOf(error)
      log.warn({ lane: queue, reason }, 'lease not handed over; tried again')
    } finally {
      isLeaving = false
      handingOver = undefined
    }
  }

  return {
    held: () => valid()?.lease,
    async enter(signal) {
      for (;;) {
        signal.throwIfAborted()
        const held = isLeaving ? undefined : valid()
        if (held) {
          users += 1
          return held.lease
        }
        waiting += 1
        try {
          await abortable((acquiring ??= acquire().finally(() => (acquiring = undefined))), signal)
        } finally {
          waiting -= 1
        }
      }
    },
    leave() {
      users -= 1
      if (users === 0) onUnused()
    },
    async takeIfFree() {
      if (!valid()) {
        await session.revive()
        await take()
      }
      return valid()?.lease
    },
    requested() {
      // Our own work waits for the lease, which is not ours yet. The other server will ask again.
      if (!valid() && isWanted()) return
      handingOver ??= handOver()
    },
    granted(toUs) {
      isGranted = toUs
      wake()
    },
    confirm(fencingToken, askedAt) {
      if (current && current.since < askedAt && current.lease.fencingToken !== fencingToken) current = undefined
    },
    doubt(lease) {
      if (current?.lease === lease) current = undefined
    },
  }
}

/** A nonce queue, and the lease that every write carries. */
export interface LeasedQueue {
  readonly queue: NonceQueue
  readonly lease: Lease
  /** Of the wallet whose queue it is. */
  readonly permits: OutstandingPermits
}

/** The nonce queues of one target that this server owns. Each is rebuilt from the journal whenever its owner changes. */
export interface LeasedQueues {
  /** Counts a request of a wallet; call the returned function when it ends. @throws SluiceError OVERLOADED */
  enter(address: string): () => void
  /**
   * Runs work while this server owns the wallet's queue, which it requests from another owner. @throws OwnershipLostError; TIMEOUT;
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
      return Promise.reject(new OwnershipLostError(`${nameOf(address)} has had another owner in the meantime.`))
    const queue = createNonceQueue({ rail: target.impl.rail, address, limit, name: displayName(address) })
    const leased = { queue, lease, permits: createOutstandingPermits() }
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
          { retryAfterSeconds: 1, bound: 'walletQueue' },
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
  { queue, lease, permits }: LeasedQueue,
  { target: { chain, network, connector, impl }, recorder }: { target: TransactionTarget; recorder: Recorder },
): Promise<void> {
  const on = { connector, address: queue.address }
  const open = await recorder.unfinished({ chain, network, ...on })
  // Where nonces are consecutive, everything below a used one is used. Where they only increase, none is used again.
  const { sequences } = impl.rail
  let last: Entry | undefined
  if (sequences !== 'independent') {
    const {
      entries: [newest],
    } = await recorder.list({ chain, network, on, limit: 1 })
    if (newest) keysFollow(newest.key)
    last = await highestUsed(recorder, { chain, network, on }, sequences === 'increasing')
    // Before those that are pending: one may have its nonce again.
    if (last) queue.markFinal(last.sequence)
  }
  const signed: Entry[] = []
  // A replacement has to outbid the newest with its sequence: by rank, since clocks differ and are set back.
  for (const entry of open.toSorted((a, b) => a.rank - b.rank)) {
    const expire = expireUnsigned('The server that accepted it ended before it was signed: nothing was sent.')
    const stored = entry.attempts.length > 0 ? entry : await recorder.amend(entry, expire, lease)
    permits.set(stored)
    if (stored.attempts.length === 0) continue
    restoreSigned(stored, queue, impl.rail)
    signed.push(stored)
  }
  if (last && sequences === 'ordered') {
    const reopened = await firstReopened(signed, last.nonce, recorder, { chain, network, on })
    if (reopened !== undefined) queue.reopen(reopened)
  }
  if (impl.rail.permits) for (const entry of await recorder.outstanding({ chain, network, address: queue.address })) permits.set(entry)
}

/**
 * The lowest nonce that was taken again after the chain had gone back behind final transactions. One that is pending below them may also just be seen late: only
 * beside a final one it was taken again.
 */
async function firstReopened(
  pending: readonly Entry[],
  highest: number,
  recorder: Pick<Recorder, 'list'>,
  filter: EntryFilter,
): Promise<number | undefined> {
  const nonces = pending.flatMap(({ nonce }) => (nonce <= highest ? [nonce] : [])).toSorted((a, b) => a - b)
  for (const nonce of nonces) {
    const { entries } = await recorder.list({ ...filter, nonce })
    if (entries.some((entry) => isFinal(entry) && entry.landed)) return nonces[0]
  }
  return undefined
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
export function pendingOf(entry: Entry, rail: Rail): PendingTransaction {
  const { key, kind, rank, step, attempts, privateOnly } = entry
  const newest = attempts.at(-1)
  if (!newest) throw new Error(`${key} was never signed.`)
  const costs = attempts.map(({ fees }) => rail.cost(step, fees))
  const costRaw = costs.reduce((a, b) => (a > b ? a : b))
  return {
    key,
    txHash: newest.id,
    kind,
    rank,
    fees: newest.fees,
    costRaw,
    ...(privateOnly && { privateOnly }),
    ...(mayBeHeldBack(entry) && { mayBeHeldBack: true as const }),
  }
}

/**
 * The entry with the highest nonce among signed, final ones, on the newest page that has any. Callers may have chosen lower nonces later.
 * @param isAssigned leaves out nonces that callers chose: where nonces only increase, those may be far ahead of what the server assigned
 */
export async function highestUsed(recorder: Pick<Recorder, 'list'>, filter: EntryFilter, isAssigned: boolean): Promise<Entry | undefined> {
  for (let cursor: string | undefined, pages = 0; pages < 10; pages += 1) {
    const page = await recorder.list({ ...filter, limit: 100, cursor })
    const used = page.entries.filter((entry) => isFinal(entry) && entry.attempts.length > 0 && !(isAssigned && entry.sequenceGiven))
    if (used.length > 0) return used.reduce((a, b) => (b.nonce > a.nonce ? b : a))
    cursor = page.nextCursor
    if (cursor === undefined) return undefined
  }
  return undefined
}
