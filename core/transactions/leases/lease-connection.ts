import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { StoreUnavailable } from '../../store/store-unavailable.ts'

/** Longer than a working database takes, and shorter than a session lives. */
const patienceMs = 2_000

/** A connection of its own: what a session needs must not stand in a queue behind the work of hundreds of requests. */
export interface LeaseConnection {
  /** Connects where it has to. @throws StoreUnavailable */
  query(text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

/** @param heard told what others say on the channel */
export function leaseConnection(url: string, channel: string, heard: (text: string) => void): LeaseConnection {
  let current: Promise<Client> | undefined
  let newest: Client | undefined

  async function connect(): Promise<Client> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: patienceMs,
      query_timeout: patienceMs,
      keepAlive: true,
      application_name: 'sluice lanes',
    })
    newest = client
    // An idle connection that broke: the next question makes another.
    client.on('error', () => drop(client))
    client.on('notification', ({ payload }) => heard(payload ?? ''))
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      return client
    } catch (error) {
      drop(client)
      throw error
    }
  }

  function drop(client: Client): void {
    // Of one that was given up before, news may come late.
    if (client === newest) current = undefined
    // A database that hangs answers no farewell either.
    client.end().catch(() => {})
  }

  return {
    async query(text, values) {
      let client: Client | undefined
      try {
        client = await (current ??= connect())
        const { rows }: { rows: Record<string, unknown>[] } = await client.query(text, [...values])
        return rows
      } catch (cause) {
        if (client) drop(client)
        throw new StoreUnavailable('the database does not answer', { cause })
      }
    },
    async close() {
      const client = await current?.catch(() => undefined)
      current = undefined
      // A database that hangs would never see it off.
      if (client) await Promise.race([client.end(), sleep(patienceMs, undefined, { ref: false })])
    },
  }
}
