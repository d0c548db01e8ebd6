import { createClient, type Answer } from '../../../testkit/client.ts'
import type { Child } from '../child.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { quotePath } from '../quote-path.ts'
import type { Row } from '../report.ts'
import type { RoundTrip } from '../../../testkit/round-trips.ts'

const quotes = 200
const trades = 5

/** What a warm quote and a trade ask of the node, in HTTP round trips and in JSON-RPC calls. */
export async function nodeCalls(sluice: Child<SluiceProcess>): Promise<{ rows: Row[]; note: string }> {
  const { url, certsDir, wallet } = await sluice.ask('where')
  const client = createClient(url, certsDir)
  try {
    await answered(client.get(quotePath(0)))
    await sluice.ask('recordRoundTrips')
    for (let index = 0; index < quotes; index += 1) await answered(client.get(quotePath(index)))
    const seen = await sluice.ask('takeRoundTrips')
    // Following the chain goes on beside the quotes, at its own pace.
    const asking = seen.map(({ methods }) => methods).filter((methods) => methods.includes('eth_call'))
    const beside = seen.length - asking.length

    const priced = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'ETH', quote: 'USDC', amount: '0.01', side: 'SELL' }
    const trade = { ...priced, address: wallet }
    const sequences: (readonly RoundTrip[])[] = []
    for (let index = 0; index < trades; index += 1) {
      // As bots do: the price, and then the trade.
      await answered(client.get(`/amm/price?${new URLSearchParams(priced).toString()}`))
      await sluice.ask('recordRoundTrips')
      const { txHash } = await answered(client.post('/amm/trade', trade))
      sequences.push(await sluice.ask('takeRoundTrips'))
      while ((await answered(client.get(`/network/poll?chain=ethereum&network=local&txHash=${txHash}`))).txStatus !== 1)
        await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // The first is simulated, and the chain is followed during some of them: the shortest is a trade's own.
    const [own = []] = sequences.toSorted((a, b) => a.length - b.length)
    const calls = own.flatMap(({ methods }) => methods)
    const inSequence = Math.max(...own.map(({ step }) => step))
    const rows = [
      { name: 'round trips per quote', value: (asking.length / quotes).toFixed(2), reference: 'none' },
      { name: 'calls per quote', value: (asking.flat().length / quotes).toFixed(2) },
      { name: `other round trips while ${quotes} quotes were made`, value: String(beside) },
      { name: 'round trips of a trade', value: String(own.length) },
      { name: 'of them one after the other', value: String(inSequence), reference: 'at most 1' },
      { name: 'calls of a trade', value: String(calls.length) },
    ]
    return { rows, note: `The trade's: ${own.map(({ step, methods }) => `${step}. ${methods.join(' + ')}`).join('; ')}` }
  } finally {
    client.close()
  }
}

async function answered(request: Promise<Answer>): Promise<Answer['body']> {
  const { status, text, body } = await request
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  return body
}
