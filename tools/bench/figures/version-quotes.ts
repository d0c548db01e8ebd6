import { startChild } from '../child.ts'
import type { QuotesRun, QuotingProcess } from '../processes/quoting.ts'
import { micros, ms, perSecond, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 3
const loads = [
  { inFlight: 1, quotes: 600 },
  { inFlight: 16, quotes: 2_000 },
]
const versions = [{ name: 'v2', version: 'v2' }, { name: 'v3', version: 'v3' }, { name: 'v2, v3 and v4' }] as const

type QuoteTimes = Awaited<ReturnType<QuotingProcess['connector']>>

/**
 * Quotes of the connector in one process, by its versions: the best of all routes, of pools all of which are read, beside
 * one pool's quote by QuoterV2 on the same node. They take turns, so that all see the same machine.
 */
export async function versionQuotes(): Promise<Row[]> {
  const quoting = await startChild<QuotingProcess>('quoting')
  const rows: Row[] = []
  try {
    for (const { version } of versions.map((each) => ({ version: undefined, ...each })))
      await quoting.ask('connector', asking(version, warm))
    await quoting.ask('quoterV2', warm)
    for (const load of loads) {
      const measured = new Map<string, QuoteTimes[]>()
      const reference: QuoteTimes[] = []
      for (let round = 0; round < rounds; round += 1) {
        for (const each of versions) {
          const version = 'version' in each ? each.version : undefined
          const one = await quoting.ask('connector', asking(version, load))
          measured.set(each.name, [...(measured.get(each.name) ?? []), one])
        }
        reference.push(await quoting.ask('quoterV2', load))
      }
      for (const [name, all] of measured) rows.push(...rowsOf(`${name}, ${load.inFlight} in flight`, all, reference))
    }
    return rows
  } finally {
    await quoting.end()
  }
}

const warm = { inFlight: 16, quotes: 1_500 }

const asking = (version: string | undefined, load: QuotesRun): QuotesRun => (version === undefined ? load : { ...load, version })

function rowsOf(name: string, ours: readonly QuoteTimes[], own: readonly QuoteTimes[]): Row[] {
  const middle = (all: readonly QuoteTimes[], key: keyof QuoteTimes) => median(all.map((each) => each[key]))
  const row = (what: string, key: keyof QuoteTimes, show: (value: number) => string): Row => {
    const [value, reference] = [middle(ours, key), middle(own, key)]
    return { name: `${name}: ${what}`, value: show(value), reference: show(reference), ratio: times(value, reference) }
  }
  return [
    row('rate', 'rate', perSecond),
    row('p50', 'p50Ms', ms),
    row('CPU per quote', 'cpuMicros', micros),
    { name: `${name}: calls to the node per quote`, value: middle(ours, 'calls').toFixed(2), reference: '1.00' },
  ]
}
