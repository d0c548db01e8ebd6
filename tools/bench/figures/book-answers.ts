import { createClient } from '../../../testkit/client.ts'
import { startChild, type Child } from '../child.ts'
import type { BareServerProcess } from '../processes/bare-server.ts'
import type { BookServerProcess } from '../processes/book-server.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { Row } from '../report.ts'
import { besideBare } from './beside-bare.ts'

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
