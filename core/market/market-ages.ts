// For how long tokens have had a market, in the store. One that was made just now may be of one hand, and say what it likes: a token counts once it had a market for a day.
import { isObject } from '../base/json.ts'
import { networkPath, type NetworkName } from '../base/networks.ts'
import type { Log } from '../contracts/index.ts'
import { reasonOf } from '../base/errors.ts'
import { lockRow } from '../limits/reservations.ts'
import { storeTime } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
/** What has a market so long after the first that was read on the network had one before Sluice came. */
const firstMs = hourMs
/** What was not read for so long begins anew. */
const keptMs = 30 * dayMs
const writeEveryMs = 5 * minuteMs
/** Of a longer time without a reading no more counts. */
const maxGapMs = 2 * writeEveryMs

/** Of one token; by the store's time. */
interface TokenAge {
  /** So long it has had a market, less the time without one; at most a day. */
  readonly heldMs: number
  /** Until then. */
  readonly atMs: number
  /** From a day with a market on, until all of that is lost again. */
  readonly counts: boolean
}

/** Of one network. */
export interface NetworkAges {
  /** When the first market was read. */
  readonly sinceMs: number
  /** By address. */
  readonly tokens: ReadonlyMap<string, TokenAge>
}

/** How many readings there were of a token, and how many of them with a market. */
interface Readings {
  all: number
  valued: number
}

/** As the whole window does, it takes three of four readings. */
const hadMarket = ({ all, valued }: Readings): boolean => 4 * valued >= 3 * all

/** Pure. @param before undefined: nothing was read yet @param read since the last write, by address */
export function withReadings(before: NetworkAges | undefined, read: ReadonlyMap<string, Readings>, nowMs: number): NetworkAges | undefined {
  const tokens = new Map([...(before?.tokens ?? [])].filter(([, { atMs }]) => nowMs - atMs <= keptMs))
  // It stays when all of that is forgotten: nobody may begin a second first hour with a market of his own.
  const sinceMs = before?.sinceMs ?? nowMs
  for (const [token, readings] of read) {
    const known = tokens.get(token)
    if (!known) {
      const isFirst = nowMs - sinceMs <= firstMs
      if (hadMarket(readings)) tokens.set(token, { heldMs: isFirst ? dayMs : 0, atMs: nowMs, counts: isFirst })
      continue
    }
    const passedMs = Math.min(Math.max(0, nowMs - known.atMs), maxGapMs)
    const heldMs = Math.min(Math.max(0, known.heldMs + (hadMarket(readings) ? passedMs : -passedMs)), dayMs)
    tokens.set(token, { heldMs, atMs: Math.max(known.atMs, nowMs), counts: heldMs === dayMs || (known.counts && heldMs > 0) })
  }
  return before || tokens.size > 0 ? { sinceMs, tokens } : undefined
}

const writeAges = ({ sinceMs, tokens }: NetworkAges): string =>
  JSON.stringify({
    sinceMs,
    tokens: Object.fromEntries([...tokens].map(([token, { heldMs, atMs, counts }]) => [token, [heldMs, atMs, Number(counts)]])),
  })

/** Undefined where it is not what `writeAges` makes: then all tokens but those of the first hour wait for a day. */
function readAges(text: string): NetworkAges | undefined {
  try {
    const stored: unknown = JSON.parse(text)
    if (!isObject(stored) || typeof stored['sinceMs'] !== 'number' || !isObject(stored['tokens'])) return undefined
    const tokens = Object.entries(stored['tokens']).map(([token, of]): [string, TokenAge] => {
      const [heldMs, atMs, counts] = Array.isArray(of) ? of.map(Number) : []
      return [token, { heldMs: heldMs ?? 0, atMs: atMs ?? 0, counts: counts === 1 }]
    })
    return { sinceMs: stored['sinceMs'], tokens: new Map(tokens) }
  } catch {
    return undefined
  }
}

/** Of the row of budgets. */
export const agesOwner = (network: NetworkName): string => `market ${networkPath(network)}`

export interface MarketAges {
  /** Milliseconds until the token's market counts; 0 where it does. */
  leftMs(network: NetworkName, token: string): number
  /** Whether it is known which markets count. */
  isRead(network: NetworkName): boolean
  /**
   * What one reading found. The store has it where something is new, and every few minutes. Never rejects.
   * @param read tokens that were looked for
   */
  note(network: NetworkName, read: readonly string[], hasMarket: (token: string) => boolean): Promise<void>
}

interface Options {
  readonly store: Pick<Store, 'write'>
  readonly log: Pick<Log, 'info'>
  /** A clock that is never set. */
  readonly steadyMs: () => number
}

/** Of one network, in memory. */
interface NetworkState {
  ages?: NetworkAges | undefined
  writtenAt?: number
  /** Since then. */
  readings: Map<string, Readings>
}

export function createMarketAges({ store, log, steadyMs }: Options): MarketAges {
  const networks = new Map<string, NetworkState>()

  async function write(owner: string, noted: NetworkState): Promise<void> {
    const { readings } = noted
    noted.ages = await store.write(async (tx) => {
      const row = await lockRow(owner, tx)
        .returning(['body', storeTime.as('now')])
        .executeTakeFirstOrThrow()
      const ages = withReadings(readAges(row.body), readings, row.now)
      if (ages)
        await tx
          .updateTable('budgets')
          .set({ body: writeAges(ages) })
          .where('owner', '=', owner)
          .execute()
      return ages
    })
    noted.writtenAt = steadyMs()
    noted.readings = new Map()
  }

  return {
    leftMs(network, token) {
      const { heldMs = 0, counts = false } = networks.get(agesOwner(network))?.ages?.tokens.get(token) ?? {}
      return counts ? 0 : Math.max(dayMs - heldMs, minuteMs)
    },
    isRead: (network) => networks.get(agesOwner(network))?.ages !== undefined,
    async note(network, read, hasMarket) {
      const owner = agesOwner(network)
      const noted = networks.get(owner) ?? { readings: new Map<string, Readings>() }
      networks.set(owner, noted)
      for (const token of read) {
        const { all, valued } = noted.readings.get(token) ?? { all: 0, valued: 0 }
        noted.readings.set(token, { all: all + 1, valued: valued + Number(hasMarket(token)) })
      }
      const { ages, writtenAt = -Infinity } = noted
      const isNew = read.some((token) => hasMarket(token) && !ages?.tokens.has(token))
      if (!isNew && steadyMs() - writtenAt < writeEveryMs) return
      try {
        await write(owner, noted)
      } catch (error) {
        log.info({ ...network, reason: reasonOf(error) }, 'ages of markets not written; written again in seconds')
      }
    },
  }
}
