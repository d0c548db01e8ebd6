import { createClient } from '../../../testkit/client.ts'
import { startChild, type Child } from '../child.ts'
import { micros, ms, perSecond, times, median, type Row } from '../measuring.ts'
import type { BareServerProcess } from '../processes/bare-server.ts'
import type { BookServerProcess } from '../processes/book-server.ts'
import type { BooksProcess, Taker } from '../processes/books.ts'
import type { IncrementsProcess } from '../processes/increments.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { RelayProcess } from '../processes/relay.ts'
import { besideBare } from './price-rate.ts'

const path = '/clob/perp/orderBook?chain=hyperliquid&network=testnet&connector=hyperliquid&market=COIN0-USD'
const loads = [
  { connections: 1, requests: 4_000, reference: 4_000 },
  { connections: 16, requests: 15_000, reference: 15_000 },
]

/** A book of twenty levels of each side from memory. */
export async function bookAnswers(server: Child<BookServerProcess>): Promise<Row[]> {
  const { url, certsDir } = await server.ask('where')
  const client = createClient(url, certsDir)
  const { status, text } = await client.get(path)
  client.close()
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  const bare = await startChild<BareServerProcess>('bare-server', [certsDir, text])
  const load = await startChild<LoadProcess>('load', [certsDir])
  try {
    return await besideBare({ url, path, cpu: () => server.ask('cpu') }, bare, load, loads)
  } finally {
    await Promise.all([bare.end(), load.end()])
  }
}

const rounds = 3
const counts = [1, 50, 200]
const flooded = 10_000
const pacedSeconds = 3
/** The exchange tells a book at most twice a second; of one market that is too little to measure. */
const perSecondOf = (markets: number) => Math.max(100, 2 * markets)

interface Measure {
  rate: number
  cpuMicros: number
  p50Ms: number
  p99Ms: number
  /** Where there are several to tell at once. */
  atOnceMs?: number
}

/** From the message of a websocket to the line of `/events`, through books in memory, beside a program that passes messages on. */
export async function bookEvents(server: Child<BookServerProcess>, books: Child<BooksProcess>): Promise<Row[]> {
  const { url, certsDir } = await server.ask('where')
  const relay = await startChild<RelayProcess>('relay', [certsDir, (await books.ask('wsUrls')).relay])
  const takers = {
    sluice: { url, cpu: () => server.ask('cpu') },
    relay: { url: await relay.ask('url'), cpu: () => relay.ask('cpu') },
  }

  async function measure(who: Taker['who'], markets: number): Promise<Measure> {
    const taker = { who, url: takers[who].url, certsDir, markets }
    const before = await takers[who].cpu()
    const { seconds } = await books.ask('flood', { ...taker, books: flooded })
    const after = await takers[who].cpu()
    const { p50Ms, p99Ms } = await books.ask('pace', { ...taker, perSecond: perSecondOf(markets), seconds: pacedSeconds })
    const atOnce = markets > 1 ? await books.ask('pace', { ...taker, perSecond: 'at once', seconds: pacedSeconds }) : undefined
    return {
      rate: flooded / seconds,
      cpuMicros: (after.user + after.system - before.user - before.system) / flooded,
      p50Ms,
      p99Ms,
      ...(atOnce && { atOnceMs: atOnce.p99Ms }),
    }
  }

  try {
    // What is measured are warm programs.
    for (const who of ['sluice', 'relay'] as const)
      await books.ask('flood', { who, url: takers[who].url, certsDir, markets: 50, books: flooded })
    const rows: Row[] = []
    for (const markets of counts) {
      const measured = { sluice: [] as Measure[], relay: [] as Measure[] }
      for (let round = 0; round < rounds; round += 1)
        for (const who of ['sluice', 'relay'] as const) measured[who].push(await measure(who, markets))
      rows.push(...rowsOf(`${markets} market${markets === 1 ? '' : 's'}`, middle(measured.sluice), middle(measured.relay)))
    }
    return rows
  } finally {
    await relay.end()
  }
}

const middle = (measures: readonly Measure[]): Measure => ({
  rate: median(measures.map(({ rate }) => rate)),
  cpuMicros: median(measures.map(({ cpuMicros }) => cpuMicros)),
  p50Ms: median(measures.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(measures.map(({ p99Ms }) => p99Ms)),
  ...(measures[0]?.atOnceMs !== undefined && { atOnceMs: median(measures.map(({ atOnceMs = Number.NaN }) => atOnceMs)) }),
})

function rowsOf(name: string, ours: Measure, relay: Measure): Row[] {
  const row = (what: string, key: keyof Measure, show: (value: number) => string): Row[] => {
    const [value, reference] = [ours[key], relay[key]]
    if (value === undefined || reference === undefined) return []
    return [{ name: `${name}: ${what}`, value: show(value), reference: show(reference), ratio: times(value, reference) }]
  }
  return [
    ...row('books taken', 'rate', perSecond),
    ...row('CPU per book', 'cpuMicros', micros),
    ...row('p50 to the line', 'p50Ms', ms),
    ...row('p99 to the line', 'p99Ms', ms),
    ...row('p99, all at once', 'atOnceMs', ms),
  ]
}

const changes = 50_000

/** Changes taken into books in memory, from their text to who follows. */
export async function bookIncrements(): Promise<Row[]> {
  const child = await startChild<IncrementsProcess>('increments')
  try {
    // What is measured is warm code.
    for (const how of ['books', 'maps'] as const) await child.ask(how, { markets: 50, changes })
    const rows: Row[] = []
    for (const markets of counts) {
      const seen = { books: [] as number[], maps: [] as number[] }
      for (let round = 0; round < rounds; round += 1)
        for (const how of ['books', 'maps'] as const) seen[how].push((await child.ask(how, { markets, changes })).rate)
      const [books, maps] = [median(seen.books), median(seen.maps)]
      const name = `${markets} market${markets === 1 ? '' : 's'}`
      rows.push({ name, value: perSecond(books), reference: perSecond(maps), ratio: times(books, maps) })
    }
    return rows
  } finally {
    await child.end()
  }
}
