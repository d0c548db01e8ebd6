// What the wallets of clients hold in listed tokens, by the hour: of it the default of maxDailyLoss is a share.
import { withDeadline } from '../base/async.ts'
import { isObject } from '../base/json.ts'
import type { Log } from '../contracts/index.ts'
import { storeTime } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'
import { reasonOf } from '../base/errors.ts'
import { networkPath, type NetworkName } from '../base/networks.ts'
import { lockRow } from './reservations.ts'

/** By network and the number of the hour in the store's time: the least that was read in it, in millionths of the reference token. */
export type Holdings = ReadonlyMap<string, ReadonlyMap<number, bigint>>

const hourMs = 3_600_000
const hoursOfDay = 24

export const hourOf = (storeMs: number): number => Math.floor(storeMs / hourMs)

/**
 * The least of an hour counts, so that a price that is pushed for a moment raises nothing. Hours that no rolling day begins in any more are left
 * out.
 */
export function withReading(before: Holdings, network: string, hour: number, micros: bigint): Holdings {
  const hours = before.get(network) ?? new Map<number, bigint>()
  const least = hours.get(hour)
  const added = new Map(hours).set(hour, least !== undefined && least < micros ? least : micros)
  const first = firstHour(added, hour)
  return new Map(before).set(network, new Map([...added].filter(([each]) => each >= first)))
}

/**
 * When the rolling day began that ends in this hour; on networks that were not read yet then, the first time that they were. Where the last reading before
 * it is of an older day, nobody knows what left since, so the least of it and of all later ones: alone it counts, since a node may be away.
 */
export function heldAtStart(holdings: Holdings, hour: number): bigint {
  return [...holdings.values()].reduce((sum, hours) => sum + heldIn(hours, hour), 0n)
}

function heldIn(hours: ReadonlyMap<number, bigint>, hour: number): bigint {
  const first = firstHour(hours, hour)
  const isOld = first < hour - hoursOfDay - 1
  const counted = [...hours].flatMap(([each, micros]) => (each === first || (isOld && each > first) ? micros : []))
  return counted.reduce((least, micros) => (micros < least ? micros : least), counted[0] ?? 0n)
}

/** The last hour before the rolling day, else the oldest. */
function firstHour(hours: ReadonlyMap<number, bigint>, hour: number): number {
  const sorted = [...hours.keys()].toSorted((a, b) => a - b)
  return sorted.findLast((each) => each <= hour - hoursOfDay) ?? sorted[0] ?? hour
}

export const writeHoldings = (holdings: Holdings): string =>
  JSON.stringify(
    Object.fromEntries(
      [...holdings].map(([network, hours]) => [network, Object.fromEntries([...hours].map(([hour, micros]) => [hour, micros.toString()]))]),
    ),
  )

/** Empty where it is not what `writeHoldings` makes: then the least bound counts until it is read anew. */
export function readHoldings(text: string): Holdings {
  try {
    const stored: unknown = JSON.parse(text)
    const entries = (value: unknown) => (isObject(value) ? Object.entries(value) : [])
    return new Map(
      entries(stored).map(([network, hours]) => [
        network,
        new Map(entries(hours).map(([hour, micros]) => [Number(hour), BigInt(String(micros))])),
      ]),
    )
  } catch {
    return new Map()
  }
}

export interface HoldingsReader {
  /** On all networks at the start of the rolling day, in millionths of the reference token; 0 until they are read. */
  heldMicros(client: string): bigint
  /** Reads what the client's wallets hold on the network from now on. */
  follow(client: string, place: NetworkName): void
  /** Reads what is due. Runs by itself. Never rejects. */
  read(): Promise<void>
  stop(): Promise<void>
}

interface HoldingsOptions {
  store: Pick<Store, 'read' | 'write'>
  /** Of these clients, as they are now. */
  clients(): readonly string[]
  /** Of all wallets of the client on the network, in millionths of the reference token; undefined where it cannot be told now. */
  valueOf(client: string, place: NetworkName, signal: AbortSignal): Promise<bigint | undefined>
  /** Whether the server has the network, ready or not: what was held on others counts no more, since it may have gone to one that counts. */
  isServed(place: NetworkName): boolean
  log: Log
  /** A clock that is never set. */
  steadyMs?: () => number
}

const lookEveryMs = 30_000
const readEveryMs = 5 * 60_000
/** For one client on one network. */
const readWithinMs = 20_000
const ownerPrefix = 'holdings '

export function createHoldings(options: HoldingsOptions): HoldingsReader {
  const { store, clients, valueOf, isServed, log, steadyMs = () => performance.now() } = options
  const known = new Map<string, Holdings>()
  /** By client, the networks on which it has signed, and when its wallets were read there. */
  const readAt = new Map<string, Map<string, NetworkName & { atMs?: number }>>()
  let hour = 0
  const stopping = new AbortController()
  let reading: Promise<void> | undefined
  const interval = setInterval(() => void read(), lookEveryMs)
  interval.unref()

  /** @returns whether it is new */
  function add(client: string, { chain, network }: NetworkName): boolean {
    const places = readAt.get(client) ?? new Map<string, NetworkName & { atMs?: number }>()
    readAt.set(client, places)
    const key = networkPath({ chain, network })
    if (places.has(key)) return false
    places.set(key, { chain, network })
    return true
  }

  async function loadStored(): Promise<void> {
    const rows = await store.read((db) =>
      db
        .selectFrom('budgets')
        .select(['owner', 'body', storeTime.as('now')])
        .where('owner', 'in', clients().map(ownerOf))
        .execute(),
    )
    for (const { owner, body, now } of rows) {
      hour = hourOf(now)
      const client = owner.slice(ownerPrefix.length)
      known.set(client, readHoldings(body))
      for (const network of known.get(client)?.keys() ?? []) add(client, placeOf(network))
    }
  }

  const read = (): Promise<void> => (reading ??= readDue().finally(() => (reading = undefined)))

  async function readDue(): Promise<void> {
    const now = clients()
    if (stopping.signal.aborted || now.length === 0) return
    try {
      await loadStored()
      for (const client of now)
        for (const place of readAt.get(client)?.values() ?? [])
          if (place.atMs === undefined || steadyMs() - place.atMs >= readEveryMs) await readPlace(client, place)
    } catch (error) {
      log.info({ reason: reasonOf(error) }, 'holdings of wallets not read; read again in seconds')
    }
  }

  async function readPlace(client: string, place: NetworkName & { atMs?: number }): Promise<void> {
    try {
      const micros = await withDeadline(stopping.signal, readWithinMs, (signal) => valueOf(client, place, signal))
      if (micros === undefined || stopping.signal.aborted) return
      await keep(client, place, micros)
      place.atMs = steadyMs()
    } catch (error) {
      log.info({ client, ...place, reason: reasonOf(error) }, 'holdings of wallets not read; read again in seconds')
    }
  }

  async function keep(client: string, place: NetworkName, micros: bigint): Promise<void> {
    const owner = ownerOf(client)
    await store.write(async (tx) => {
      const row = await lockRow(owner, tx, '{}')
        .returning(['body', storeTime.as('now')])
        .executeTakeFirstOrThrow()
      const holdings = withReading(readHoldings(row.body), networkPath(place), hourOf(row.now), micros)
      await tx
        .updateTable('budgets')
        .set({ body: writeHoldings(holdings) })
        .where('owner', '=', owner)
        .execute()
      hour = hourOf(row.now)
      known.set(client, holdings)
    })
  }

  return {
    heldMicros(client) {
      const all = known.get(client) ?? new Map()
      return heldAtStart(new Map([...all].filter(([network]) => isServed(placeOf(network)))), hour)
    },
    follow(client, place) {
      if (add(client, place)) void read()
    },
    read,
    async stop() {
      clearInterval(interval)
      stopping.abort()
      await reading
    },
  }
}

const ownerOf = (client: string): string => `${ownerPrefix}${client}`

/** Of its path. */
function placeOf(path: string): NetworkName {
  const [chain = '', ...rest] = path.split('/')
  return { chain, network: rest.join('/') }
}
