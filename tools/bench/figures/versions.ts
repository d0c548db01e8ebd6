import { startChild, type Child } from '../child.ts'
import { micros, ms, perSecond, times, median, type Row } from '../measuring.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { QuotesRun, QuotingProcess } from '../processes/quoting.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { newQuotes, sameQuote } from '../quote-path.ts'

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

const [connections, requests] = [16, 3_000]
const ratedVersions = ['v2', 'v3'] as const

/** What is seen from outside: the best route through the pools of a version, beside its own contract's view at the server's own node. */
export async function versionRates(sluice: Child<SluiceProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url, rpcUrl } = await sluice.ask('where')
  const rows: Row[] = []
  for (const version of ratedVersions) {
    const runs = {
      'the same': () => load.ask('run', { url, connections, requests, path: sameQuote(version) }),
      new: () => load.ask('run', { url, connections, requests, path: newQuotes(version) }),
      node: () => load.ask('askNode', { url: rpcUrl, connections, requests, version }),
    }
    const seen: Record<keyof typeof runs, { rate: number; p50Ms: number }[]> = { 'the same': [], new: [], node: [] }
    for (let round = 0; round < rounds + 1; round += 1) {
      for (const who of ['the same', 'new', 'node'] as const) {
        const { requests: made, seconds, p50Ms } = await runs[who]()
        // The first warms up.
        if (round > 0) seen[who].push({ rate: made / seconds, p50Ms })
      }
    }
    const middle = (who: keyof typeof runs, key: 'rate' | 'p50Ms') => median(seen[who].map((each) => each[key]))
    for (const who of ['the same', 'new'] as const) {
      const [rate, nodeRate] = [middle(who, 'rate'), middle('node', 'rate')]
      const [p50, nodeP50] = [middle(who, 'p50Ms'), middle('node', 'p50Ms')]
      rows.push(
        { name: `${version}, ${who}: rate`, value: perSecond(rate), reference: perSecond(nodeRate), ratio: times(rate, nodeRate) },
        { name: `${version}, ${who}: p50`, value: ms(p50), reference: ms(nodeP50), ratio: times(p50, nodeP50) },
      )
    }
  }
  return rows
}
