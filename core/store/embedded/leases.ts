import { sql } from 'kysely'
import { takeLease } from '../sql-store.ts'
import type { ServerLeases, Store } from '../store.ts'

/** SQL: this process has the database to itself, so any other server that a row names is dead. */
export const noOtherServer = () => sql<boolean>`1 = 0`

/** Leases where no other server can exist: every one is free, none is requested, and this server never counts as dead. */
export function embeddedLeases(store: Store, serverId: string): ServerLeases {
  return {
    take: (queue) => takeLease(store, queue, serverId),
    request: async () => {},
    handOver: async () => false,
    isAlive: () => true,
    term: () => 1,
    revive: async () => {},
    stop: async () => {},
  }
}
