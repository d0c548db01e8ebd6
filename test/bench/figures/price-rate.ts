import type { Child } from '../child.ts'
import type { BareServerProcess } from '../processes/bare-server.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import type { Row } from '../report.ts'
import { besideBare } from './beside-bare.ts'

const loads = [
  { connections: 1, requests: 1_000, reference: 4_000 },
  { connections: 16, requests: 3_000, reference: 15_000 },
]

/** Quotes over mutual TLS. */
export async function priceRate(sluice: Child<SluiceProcess>, bare: Child<BareServerProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url } = await sluice.ask('where')
  return besideBare({ url, cpu: () => sluice.ask('cpu') }, bare, load, loads)
}
