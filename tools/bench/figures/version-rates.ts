import type { Child } from '../child.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { newQuotes, sameQuote } from '../quote-path.ts'
import { ms, perSecond, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 3
const [connections, requests] = [16, 3_000]
const versions = ['v2', 'v3'] as const

/** What is seen from outside: the best route through the pools of a version, beside its own contract's view at the server's own node. */
export async function versionRates(sluice: Child<SluiceProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url, rpcUrl } = await sluice.ask('where')
  const rows: Row[] = []
  for (const version of versions) {
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
