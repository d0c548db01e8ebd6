// Samples of markets in the store, for the next start of a server. Each has the block that it was read by, and times by several clocks: of the
// database, of the chain, and the store's own. What was read before a restart counts after it only where none of them says that more has passed
// than a running server accepts between two readings.
import { createHash, randomUUID } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import { isObject } from '../base/json.ts'
import type { NetworkName } from '../base/networks.ts'
import { lagMs } from '../limits/reservations.ts'
import { storeTime } from '../store/store-time.ts'
import type { Store } from '../store/store.ts'
import { maxGapMs } from './exchange-values.ts'
import type { SourceValues, TokenValue } from './token-values.ts'

type Values = SourceValues['values']

/** The newest block when a sample was made. */
export interface SampleBlock {
  readonly number: bigint
  readonly hash: string
  /** Seconds since the Unix epoch, by the chain. */
  readonly timestamp: number
}

/** Of one server, oldest first. */
export interface KeptSeries {
  readonly series: string
  readonly samples: readonly { readonly beforeLastMs: number; readonly values: Values }[]
  /** Of the last one. */
  readonly block: SampleBlock
  /** How long ago the last one was when this was read: by the database's time of day, and by the store's time. */
  readonly ago: { readonly clockMs: number; readonly elapsedMs: number }
}

/** What has to be the same before and after a restart for samples to mean the same. */
export interface SampleTerms {
  readonly reference: { readonly address: string; readonly decimals: number }
  readonly minDepth: number
  readonly tokens: readonly { readonly address: string; readonly symbol: string; readonly decimals: number }[]
  /** What values are read from. */
  readonly connectors: readonly { readonly connector: string; readonly contracts: readonly string[] }[]
}

export function termsHash({ reference, minDepth, tokens, connectors }: SampleTerms): string {
  const parts = [
    [reference.address, reference.decimals, minDepth],
    tokens.map(({ address, symbol, decimals }) => `${address} ${decimals} ${symbol}`).toSorted(),
    connectors.map(({ connector, contracts }) => `${connector} ${contracts.toSorted().join(' ')}`).toSorted(),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/**
 * How long ago the last sample was at the first new reading; undefined where it is too long, or the clocks disagree. The time of day may be set, and a chain
 * may stand still: each has to say so by itself.
 * @param passedMs since the series was read
 * @param now the newest block at that reading
 */
export function gapOf({ block, ago }: KeptSeries, passedMs: number, now: SampleBlock): number | undefined {
  const [clockMs, chainMs] = [ago.clockMs + passedMs, (now.timestamp - block.timestamp) * 1000]
  const isWithin = (ms: number) => ms >= 0 && ms <= maxGapMs
  if (ago.clockMs < 0 || !isWithin(clockMs) || !isWithin(chainMs) || now.number < block.number) return undefined
  // It stands still while no server runs, and is behind by up to two counts.
  return ago.elapsedMs + passedMs <= maxGapMs + lagMs ? Math.max(clockMs, chainMs) : undefined
}

export interface KeptSamples {
  /** The longest series that has these terms and goes on until now, of any server on the store. @throws StoreUnavailable */
  read(network: NetworkName, terms: string): Promise<KeptSeries | undefined>
  /** Whether there are any, of any network. @throws StoreUnavailable */
  isEmpty(): Promise<boolean>
  /** @param atMs of a clock that is never set @throws StoreUnavailable */
  write(
    network: NetworkName,
    sample: { readonly terms: string; readonly atMs: number; readonly values: Values; readonly block: SampleBlock },
  ): Promise<void>
  /** Has the samples of a series counted as this server's own, which the next start reads. @throws StoreUnavailable */
  adopt(network: NetworkName, kept: KeptSeries, lastAtMs: number): Promise<void>
}

/** @param windowMs what is older is deleted */
export function createKeptSamples(store: Pick<Store, 'kind' | 'read' | 'write'>, windowMs: number): KeptSamples {
  // A series is of one run of a server: its steady clock begins anew with the next.
  const series = randomUUID()
  const clock = (): RawBuilder<number> =>
    store.kind === 'postgres' ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql<number>`${Date.now()}`

  return {
    async read({ chain, network }, terms) {
      const rows = await store.read(async (db) => {
        const ofTerms = db.selectFrom('market_samples').where('chain', '=', chain).where('network', '=', network).where('terms', '=', terms)
        // A start that ended again before this one has a short series, which is newer. Several servers have one each.
        const longest = await ofTerms
          .select('series')
          .groupBy('series')
          .having(sql<boolean>`max(clock) >= ${clock()} - ${maxGapMs}`)
          .orderBy(sql`max(at) - min(at)`, 'desc')
          .limit(1)
          .executeTakeFirst()
        return longest === undefined
          ? []
          : ofTerms
              .selectAll()
              .select([sql<number>`${clock()} - clock`.as('clock_ago'), sql<number>`${storeTime} - elapsed`.as('elapsed_ago')])
              .where('series', '=', longest.series)
              .orderBy('at')
              .execute()
      })
      const last = rows.at(-1)
      if (!last) return undefined
      const samples = rows.map((row) => ({ beforeLastMs: last.at - row.at, values: readValues(row.body) }))
      // One that cannot be read ends what is known before it.
      const known = samples.slice(samples.findLastIndex(({ values }) => values === undefined) + 1)
      return {
        series: last.series,
        samples: known.flatMap(({ beforeLastMs, values }) => (values ? [{ beforeLastMs, values }] : [])),
        block: { number: BigInt(last.block_number), hash: last.block_hash, timestamp: last.block_time },
        ago: { clockMs: last.clock_ago, elapsedMs: last.elapsed_ago },
      }
    },
    isEmpty: () =>
      store.read(async (db) => (await db.selectFrom('market_samples').select('series').limit(1).executeTakeFirst()) === undefined),
    write: ({ chain, network }, { terms, atMs, values, block }) =>
      store.write(async (tx) => {
        await tx
          .deleteFrom('market_samples')
          .where('chain', '=', chain)
          .where('network', '=', network)
          .where(sql<boolean>`elapsed < ${storeTime} - ${windowMs + lagMs}`)
          .execute()
        const row = { series, chain, network, terms, at: Math.round(atMs), clock: clock(), elapsed: storeTime, body: writeValues(values) }
        const of = { block_number: Number(block.number), block_hash: block.hash, block_time: block.timestamp }
        await tx
          .insertInto('market_samples')
          .values({ ...row, ...of })
          .onConflict((conflict) => conflict.columns(['chain', 'network', 'series', 'at']).doNothing())
          .execute()
      }),
    adopt: ({ chain, network }, kept, lastAtMs) =>
      store.write(async (tx) => {
        const rows = await tx
          .selectFrom('market_samples')
          .selectAll()
          .where('chain', '=', chain)
          .where('network', '=', network)
          .where('series', '=', kept.series)
          .orderBy('at', 'desc')
          .limit(kept.samples.length)
          .execute()
        const last = rows[0]?.at ?? 0
        for (const row of rows)
          await tx
            .insertInto('market_samples')
            .values({ ...row, series, at: Math.round(lastAtMs) - (last - row.at) })
            .onConflict((conflict) => conflict.columns(['chain', 'network', 'series', 'at']).doNothing())
            .execute()
      }),
  }
}

const writeValues = (values: Values): string =>
  JSON.stringify(
    Object.fromEntries([...values].map(([token, { lowX, highX, sources }]) => [token, [lowX.toString(16), highX.toString(16), sources]])),
  )

/** Undefined where it is not what `writeValues` makes. */
function readValues(text: string): Values | undefined {
  try {
    const stored: unknown = JSON.parse(text)
    if (!isObject(stored)) return undefined
    return new Map(Object.entries(stored).map(([token, of]): [string, TokenValue] => [token, readValue(of)]))
  } catch {
    return undefined
  }
}

/** @throws SyntaxError */
function readValue(stored: unknown): TokenValue {
  const [low, high, sources]: readonly unknown[] = Array.isArray(stored) ? stored : []
  if (typeof low !== 'string' || typeof high !== 'string' || typeof sources !== 'number') throw new SyntaxError('no value')
  const [lowX, highX] = [BigInt(`0x${low}`), BigInt(`0x${high}`)]
  if (lowX > highX) throw new SyntaxError('no value')
  return { lowX, highX, sources }
}
