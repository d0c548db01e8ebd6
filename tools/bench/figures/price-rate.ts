import { createClient } from '../../../testkit/client.ts'
import type { Child } from '../child.ts'
import type { BareServerProcess } from '../processes/bare-server.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { newQuotes, sameQuote } from '../quote-path.ts'
import type { Row } from '../report.ts'
import { besideBare } from './beside-bare.ts'

const one = { connections: 1, requests: 3_000, reference: 4_000 }
const sixteen = { connections: 16, requests: 10_000, reference: 15_000 }

/** Quotes over mutual TLS: one question asked again and again, and amounts that nobody has asked for before. */
export async function priceRate(sluice: Child<SluiceProcess>, bare: Child<BareServerProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url, certsDir } = await sluice.ask('where')
  const client = createClient(url, certsDir)
  const { body, text } = await client.get(sameQuote())
  client.close()
  if (body.source !== 'memory') throw new Error(`The quote is not from memory: ${text}`)
  const cpu = () => sluice.ask('cpu')
  const same = await besideBare({ url, cpu, path: sameQuote() }, bare, load, [one, sixteen])
  const others = await besideBare({ url, cpu, path: newQuotes() }, bare, load, [sixteen])
  return [...same.map((row) => ({ ...row, name: `the same, ${row.name}` })), ...others.map((row) => ({ ...row, name: `new, ${row.name}` }))]
}
