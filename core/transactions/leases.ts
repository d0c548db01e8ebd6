import { pause, withTimeout } from '../async.ts'
import type { Log } from '../contracts/index.ts'
import { postgresSession, leaseTable, type LeaseTable } from '../store/postgres/leases.ts'
import { type Store, embeddedSession, type LeaseSession, type OwnedQueue } from '../store/store.ts'
import { type Lease, OwnershipLost } from './journal/journal.ts'

/**
 * Which lanes this server owns. A lane has one owner at a time, everywhere; with every change of owner its fence rises by one.
 * A server that cannot renew its own life in time holds nothing, by its own clock, before another may take over.
 */
export interface Leases {
  /**
   * Runs work while this server owns the lane. Asks its owner for it where that is another one, and waits; keeps it afterwards until
   * another server asks. Several may use one lane at once; it is handed over when all of them have ended.
   * @throws Superseded, or the signal's reason, before `work` has begun
   */
  use<T>(lane: string, signal: AbortSignal, work: (guard: Lease) => Promise<T>): Promise<T>
  /** The hold on a lane that is ours now, without asking anybody. */
  held(lane: string): Lease | undefined
  /** Takes a lane whose owner is dead or which has none; undefined where it has a living owner. Ours already: as it is. */
  takeIfFree(lane: string): Promise<Lease | undefined>
  /** Gives every lane back, so that others need not wait. After the last `use`. */
  stop(): Promise<void>
}

interface SqlLeasesOptions {
  store: Store
  /** The database that the store is in; absent where it is embedded. */
  url?: string
  /** Of this process alone, and never used again. */
  serverId: string
  /** For people. */
  serverName: string
  log: Log
  onChange?: (change: LeaseChange) => void
}

/** Leases in the store's tables. In an embedded store every lane is there for the taking; in PostgreSQL servers ask each other. */
export function sqlLeases({ store, url, serverId, serverName, log, onChange = () => {} }: SqlLeasesOptions): Leases {
  const table = leaseTable(store, serverId)
  const seats = new Map<string, LeaseHolder>()
  const session = sessionOf(store, url)
  let isStopped = false

  function sessionOf({ kind }: Store, database: string | undefined): LeaseSession {
    if (kind === 'embedded') return embeddedSession
    if (database === undefined) throw new Error('Leases in PostgreSQL need its url: they have a connection of their own.')
    return postgresSession(
      { url: database, serverId, serverName, log },
      {
        requested: (lane) => seatOf(lane).requested(),
        granted: (lane) => seatOf(lane).granted(true),
        freed,
        owned: ours,
      },
    )
  }

  function seatOf(lane: string): LeaseHolder {
    const seat = seats.get(lane) ?? createLeaseHolder({ lane, table, session, log, onChange })
    seats.set(lane, seat)
    return seat
  }

  function freed(): void {
    for (const seat of seats.values()) seat.granted(false)
  }

  /** The net under the notices, and under what we believed without a reason. */
  function ours(lanes: readonly OwnedQueue[], askedAt: number): void {
    const fences = new Map(lanes.map(({ queue: lane, fencingToken: fence }) => [lane, fence]))
    for (const [lane, seat] of seats) seat.confirm(fences.get(lane), askedAt)
    for (const { queue: lane, requested: wished } of lanes) if (wished) seatOf(lane).requested()
  }

  return {
    async use(lane, signal, work) {
      if (isStopped) throw new OwnershipLost('The server is stopping.')
      const seat = seatOf(lane)
      const guard = await seat.enter(signal)
      try {
        return await work(guard)
      } catch (error) {
        if (error instanceof OwnershipLost && error.lost === 'lane') seat.doubt(guard)
        throw error
      } finally {
        seat.leave()
      }
    },
    held: (lane) => (isStopped ? undefined : seats.get(lane)?.held()),
    takeIfFree: async (lane) => (isStopped ? undefined : seatOf(lane).takeIfFree()),
    async stop() {
      isStopped = true
      freed()
      await session.stop()
    },
  }
}

/** So long a lane is kept after it came, though others wait: two busy servers would else only pass it to and fro. */
const tenureMs = 50
/** Who waits asks again this often, if no news come before. */
const pollMs = 250

interface HeldLease {
  lease: Lease
  /** The session's, when it was asked for. */
  term: number
  /** `performance.now()` */
  since: number
}

/** One lane, as this server stands to it. */
interface LeaseHolder {
  held(): Lease | undefined
  /** Waits until the lane is ours and may be used, and counts a use of it. */
  enter(signal: AbortSignal): Promise<Lease>
  leave(): void
  /** Takes it where nobody living has it. */
  takeIfFree(): Promise<Lease | undefined>
  /** Another server asks for it. */
  requested(): void
  /** It was given to us, or else may be free. */
  granted(toUs: boolean): void
  /** What the store said of it at some moment after `askedAt`: its fence where it is ours. */
  confirm(fence: number | undefined, askedAt: number): void
  /** A write under this guard was refused: the store must be asked. */
  doubt(guard: Lease): void
}

/** Why a lane's owner is another one: nobody living had it; its owner gave it to us; we gave it away. */
type LeaseChange = 'taken' | 'received' | 'given'

interface SeatParts {
  lane: string
  table: LeaseTable
  session: LeaseSession
  log: Log
  onChange: (change: LeaseChange) => void
}

function createLeaseHolder({ lane, table, session, log, onChange }: SeatParts): LeaseHolder {
  let hold: HeldLease | undefined
  let lastFence: number | undefined
  let wasGiven = false
  let users = 0
  let waiting = 0
  let isLeaving = false
  let handingOver: Promise<void> | undefined
  let gaining: Promise<void> | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let wake = () => {}
  let emptied = () => {}

  const isWanted = () => waiting > 0
  const current = () => (hold && hold.term === session.term() && session.isAlive() ? hold : undefined)

  /** One statement after the other: of two answers the later is the newer. */
  function inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const answer = turn.then(ask)
    turn = answer.catch(() => {})
    return answer
  }

  const take = () =>
    inTurn(async () => {
      if (current()) return true
      hold = undefined
      const term = session.term()
      const fence = await table.take(lane)
      if (fence === undefined) return false
      hold = { lease: { queue: lane, fencingToken: fence }, term, since: performance.now() }
      if (fence !== lastFence) onChange(wasGiven ? 'received' : 'taken')
      lastFence = fence
      wasGiven = false
      return true
    })

  /** For all that wait at once. */
  async function gain(): Promise<void> {
    while (isWanted()) {
      await handingOver
      await session.revive()
      const news = new Promise<void>((resolve) => (wake = resolve))
      if (await take()) return
      await table.request(lane)
      await withTimeout(news, pollMs, () => {})
    }
  }

  async function handOver(): Promise<void> {
    try {
      if (hold) await pause(Math.max(0, hold.since + tenureMs - performance.now()))
      // Who comes now waits behind the other server, which would else never get it.
      isLeaving = true
      if (users > 0) await new Promise<void>((resolve) => (emptied = resolve))
      await inTurn(async () => {
        hold = undefined
        if (await table.handOver(lane)) onChange('given')
      })
    } catch (error) {
      log.warn({ lane, reason: error instanceof Error ? error.message : 'unknown' }, 'a lane could not be handed over; it is tried again')
    } finally {
      isLeaving = false
      handingOver = undefined
    }
  }

  return {
    held: () => current()?.lease,
    async enter(signal) {
      for (;;) {
        signal.throwIfAborted()
        const now = isLeaving ? undefined : current()
        if (now) {
          users += 1
          return now.lease
        }
        waiting += 1
        try {
          await orAbort((gaining ??= gain().finally(() => (gaining = undefined))), signal)
        } finally {
          waiting -= 1
        }
      }
    },
    leave() {
      users -= 1
      if (users === 0) emptied()
    },
    async takeIfFree() {
      if (!current()) {
        await session.revive()
        await take()
      }
      return current()?.lease
    },
    requested() {
      // On its way to us, for work that waits: who asks will ask again.
      if (!current() && isWanted()) return
      handingOver ??= handOver()
    },
    granted(toUs) {
      wasGiven = toUs
      wake()
    },
    confirm(fence, askedAt) {
      if (hold && hold.since < askedAt && hold.lease.fencingToken !== fence) hold = undefined
    },
    doubt(guard) {
      if (hold?.lease === guard) hold = undefined
    },
  }
}

function orAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
