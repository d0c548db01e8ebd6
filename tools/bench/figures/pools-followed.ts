import { setTimeout as sleep } from 'node:timers/promises'
import { rpcTo } from '../../../core/devnet/anvil.ts'
import { openManyPairs } from '../../../test/live-state/many-pairs.ts'
import { createClient } from '../../../testkit/client.ts'
import { startChild, type Child } from '../child.ts'
import { times, micros, median, type Row } from '../measuring.ts'
import type { BlockLogsProcess, Kind } from '../processes/block-logs.ts'
import type { SluiceProcess } from '../processes/sluice.ts'

const sizes = [10, 100, 1_000]
const blocks = 15
const [blockMs, swaps, atOnce] = [1_000, 10, 20]
/** What a feed of heads asks for, whatever is followed. */
const ofHeads = ['eth_getBlockByNumber', 'eth_maxPriorityFeePerGas']

/** What following so many real pairs costs, at a block a second with swaps in ten of them. */
export async function poolsFollowed(sluice: Child<SluiceProcess>): Promise<Row[]> {
  const { url, certsDir, rpcUrl } = await sluice.ask('where')
  const market = await openManyPairs(rpcTo(rpcUrl), Math.max(...sizes))
  const client = createClient(url, certsDir)
  const rows: Row[] = []
  // What is measured is warm code.
  await price(market.pairs[0] ?? ['', ''])
  await make([0], 25)
  let first: { cpuMs: number; asked: number } | undefined
  try {
    for (const size of sizes) {
      for (let place = 0; place < size; place += atOnce)
        await Promise.all(market.pairs.slice(place, Math.min(place + atOnce, size)).map((pair) => price(pair)))
      const places = Array.from({ length: swaps }, (_, index) => Math.floor((index * size) / swaps))
      await make(places, 3)
      await sluice.ask('recordRoundTrips')
      const before = await sluice.ask('cpu')
      await make(places, blocks)
      const after = await sluice.ask('cpu')
      const trips = (await sluice.ask('takeRoundTrips')).filter(({ methods }) => !methods.every((method) => ofHeads.includes(method)))
      const asked = trips.filter(({ methods }) => methods.includes('eth_getLogs')).length / blocks
      const cpuMs = (after.user + after.system - before.user - before.system) / 1000 / blocks
      first ??= { cpuMs, asked }
      const name = `${size.toLocaleString('en')} pools`
      rows.push(
        { name: `${name}: questions of what happened, per block`, value: asked.toFixed(2), reference: first.asked.toFixed(2) },
        { name: '  others, such as samples compared', value: ((trips.length - asked * blocks) / blocks).toFixed(2) },
        {
          name: '  CPU per block',
          value: `${cpuMs.toFixed(1)} ms`,
          reference: `${first.cpuMs.toFixed(1)} ms`,
          ratio: times(cpuMs, first.cpuMs),
        },
      )
    }
    return rows
  } finally {
    client.close()
  }

  async function price([base, quote]: readonly [string, string]): Promise<void> {
    const place = { chain: 'ethereum', network: 'local', connector: 'uniswap', version: 'v2' }
    const { status, text } = await client.get('/amm/price', { ...place, base, quote, side: 'SELL', amount: '1' })
    if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  }

  async function make(places: readonly number[], count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) {
      const startedAt = performance.now()
      await market.trade(places)
      await sleep(blockMs - (performance.now() - startedAt))
    }
  }
}

const kinds: readonly Kind[] = ['Sync', 'Swap', 'Mint and Burn']
const sources = { answer: "from the node's answer", logs: 'of logs that were read' } as const
const rounds = 7
const blocksAtOnce = 20

/** A block of a thousand logs, each of another pool: moving the pools by it beside decoding them alone, by the least that does and by ethers. */
export async function blockLogs(): Promise<Row[]> {
  const child = await startChild<BlockLogsProcess>('block-logs')
  try {
    const rows: Row[] = []
    for (const kind of kinds) {
      for (const from of ['answer', 'logs'] as const) {
        const seen = { apply: [] as number[], decode: [] as number[], decodeByLibrary: [] as number[] }
        const hows = from === 'logs' ? (['apply', 'decode', 'decodeByLibrary'] as const) : (['apply', 'decode'] as const)
        // The first are to warm the code.
        for (let round = -2; round < rounds; round += 1) {
          for (const how of hows) {
            const one = await child.ask(how, { kind, from, blocks: blocksAtOnce })
            if (round >= 0) seen[how].push(one)
          }
        }
        const beside = (name: string, reference: number): Row => {
          const value = median(seen.apply)
          return { name, value: micros(value), reference: micros(reference), ratio: times(value, reference) }
        }
        rows.push(beside(`${kind}, ${sources[from]}`, median(seen.decode)))
        if (from === 'logs') rows.push(beside(`${kind}, beside ethers`, median(seen.decodeByLibrary)))
      }
    }
    return rows
  } finally {
    await child.end()
  }
}
