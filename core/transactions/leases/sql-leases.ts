import type { Log } from '../../contracts/index.ts'
import type { Store } from '../../store/store.ts'
import { databaseSession } from '../../store/postgres/leases.ts'
import { createLaneSeat } from './lane-seat.ts'
import type { LaneChange, LaneSeat } from './lane-seat.ts'
import { soleSession } from './lease-session.ts'
import type { LeaseSession, OwnedLane } from './lease-session.ts'
import { leaseTable } from './lease-table.ts'
import type { Leases } from '../leases.ts'
import { Superseded } from '../journal/superseded.ts'

export interface SqlLeasesOptions {
  store: Store
  /** The database that the store is in; absent where it is embedded. */
  url?: string
  /** Of this process alone, and never used again. */
  serverId: string
  /** For people. */
  serverName: string
  log: Log
  onChange?: (change: LaneChange) => void
}

/** Leases in the store's tables. In an embedded store every lane is there for the taking; in PostgreSQL servers ask each other. */
export function sqlLeases({ store, url, serverId, serverName, log, onChange = () => {} }: SqlLeasesOptions): Leases {
  const table = leaseTable(store, serverId)
  const seats = new Map<string, LaneSeat>()
  const session = sessionOf(store, url)
  let isStopped = false

  function sessionOf({ kind }: Store, database: string | undefined): LeaseSession {
    if (kind === 'embedded') return soleSession
    if (database === undefined) throw new Error('Leases in PostgreSQL need its url: they have a connection of their own.')
    return databaseSession(
      { url: database, serverId, serverName, log },
      {
        wished: (lane) => seatOf(lane).wished(),
        given: (lane) => seatOf(lane).given(true),
        freed,
        ours,
      },
    )
  }

  function seatOf(lane: string): LaneSeat {
    const seat = seats.get(lane) ?? createLaneSeat({ lane, table, session, log, onChange })
    seats.set(lane, seat)
    return seat
  }

  function freed(): void {
    for (const seat of seats.values()) seat.given(false)
  }

  /** The net under the notices, and under what we believed without a reason. */
  function ours(lanes: readonly OwnedLane[], askedAt: number): void {
    const fences = new Map(lanes.map(({ lane, fence }) => [lane, fence]))
    for (const [lane, seat] of seats) seat.seen(fences.get(lane), askedAt)
    for (const { lane, wished } of lanes) if (wished) seatOf(lane).wished()
  }

  return {
    async use(lane, signal, work) {
      if (isStopped) throw new Superseded('The server is stopping.')
      const seat = seatOf(lane)
      const guard = await seat.enter(signal)
      try {
        return await work(guard)
      } catch (error) {
        if (error instanceof Superseded && error.lost === 'lane') seat.doubt(guard)
        throw error
      } finally {
        seat.leave()
      }
    },
    held: (lane) => (isStopped ? undefined : seats.get(lane)?.held()),
    adopt: async (lane) => (isStopped ? undefined : seatOf(lane).adopt()),
    async stop() {
      isStopped = true
      freed()
      await session.stop()
    },
  }
}
