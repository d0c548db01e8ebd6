import { startChild, type Child } from '../child.ts'
import type { BookServerProcess } from '../processes/book-server.ts'
import type { BooksProcess, Taker } from '../processes/books.ts'
import type { RelayProcess } from '../processes/relay.ts'
import { micros, ms, perSecond, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

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
