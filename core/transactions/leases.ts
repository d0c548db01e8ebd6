import { abortable, pause, withTimeout } from '../async.ts'
import type { Log } from '../contracts/index.ts'
import type { OwnedLease, ServerLeases, Store } from '../store/store.ts'
import { OwnershipLost, type Lease } from './journal/journal.ts'

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
   * @throws OwnershipLost, or the signal's reason, before `work` has begun
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
export type LeaseChange = 'taken' | 'received' | 'given'

export interface SqlLeasesOptions {
  store: Store
  /** Of this process alone, and never used again. */
  serverId: string
  /** For people. */
  serverName: string
  log: Log
  onChange?: (change: LeaseChange) => void
}

/** Leases in the store's tables. */
export function sqlLeases({ store, serverId, serverName, log, onChange = () => {} }: SqlLeasesOptions): Leases {
  const holders = new Map<string, LeaseHolder>()
  const session = store.openLeases(
    { serverId, serverName, log },
    {
      requested: (queue) => holderOf(queue).requested(),
      granted: (queue) => holderOf(queue).granted(true),
      freed,
      owned,
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
      if (isStopped) throw new OwnershipLost('The server is stopping.')
      const holder = holderOf(queue)
      const lease = await holder.enter(signal)
      try {
        return await work(lease)
      } catch (error) {
        if (error instanceof OwnershipLost && error.lost === 'queue') holder.doubt(lease)
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
      const reason = error instanceof Error ? error.message : 'unknown'
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
