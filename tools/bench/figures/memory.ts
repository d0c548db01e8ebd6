import type { Child } from '../child.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { megabytes, perSecond, times, type Row } from '../report.ts'

const fewQuotes = 10_000
const manyQuotes = 100_000
const mostSeconds = 90

/** What the server holds after many quotes against what it held after few: a leak shows as a ratio well above 1. */
export async function memory(sluice: Child<SluiceProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url } = await sluice.ask('where')
  const few = await load.ask('run', { url, connections: 16, requests: fewQuotes, mostSeconds })
  const before = await sluice.ask('memory')
  const many = await load.ask('run', { url, connections: 16, requests: manyQuotes - few.requests, mostSeconds })
  const after = await sluice.ask('memory')
  const [first, last] = [few.requests, few.requests + many.requests].map((count) => count.toLocaleString('en'))
  const row = (name: string, held: number, reference: number): Row => ({
    name: `${name} after ${last} quotes`,
    value: megabytes(held),
    reference: `${megabytes(reference)} after ${first}`,
    ratio: times(held, reference),
  })
  return [
    row('resident', after.rss, before.rss),
    row('heap in use', after.heapUsed, before.heapUsed),
    { name: 'rate meanwhile', value: perSecond(many.requests / many.seconds) },
  ]
}
