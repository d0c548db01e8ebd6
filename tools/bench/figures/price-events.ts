import { createClient } from '../../../testkit/client.ts'
import { startChild, type Child } from '../child.ts'
import type { PriceFollowersProcess } from '../processes/price-followers.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { ms, type Row } from '../measuring.ts'

const subscriptions = 5_000
const streams = 5
const blocks = 10
const tokens = ['WETH', 'USDC', 'USDT', 'DAI', 'WBTC']
const local = { chain: 'ethereum', network: 'local' } as const
/** Of each token, what is worth about as much as of the others. */
const worth: Readonly<Record<string, number>> = { WETH: 1, WBTC: 0.05, USDC: 3_000, USDT: 3_000, DAI: 3_000 }

interface Case {
  name: string
  connector: string
  pairs: readonly (readonly [string, string])[]
  /** How many of the subscriptions ask different things. */
  different: number
  swaps: boolean
}

const all = tokens.flatMap((base, index) => tokens.slice(index + 1).map((quote) => [base, quote] as const))
const one = [['WETH', 'USDC']] as const
const cases: readonly Case[] = [
  { name: 'one pair of v2, a swap in every block', connector: 'quickswap', pairs: one, different: subscriptions, swaps: true },
  { name: 'ten pairs of v2 and v3, a swap in every block', connector: 'uniswap', pairs: all, different: subscriptions, swaps: true },
  { name: 'the same, a fifth of them different', connector: 'uniswap', pairs: all, different: subscriptions / 5, swaps: true },
  { name: 'the same, all different, empty blocks', connector: 'uniswap', pairs: all, different: subscriptions, swaps: false },
]

/** Prices pushed to five streams, at a block a second. */
export async function priceEvents(sluice: Child<SluiceProcess>): Promise<Row[]> {
  const { url, certsDir, rpcUrl, wallet } = await sluice.ask('where')
  const rows: Row[] = []
  for (const { name, connector, pairs, different, swaps } of cases) {
    const followers = await startChild<PriceFollowersProcess>('price-followers')
    try {
      const swap = swaps ? await swapOf(connector) : undefined
      await followers.ask('follow', { url, certsDir, connector, streams: streamsOf(pairs, different) })
      // What is measured is warm code.
      await followers.ask('make', { rpcUrl, blocks: 3, swap })
      const before = { cpu: await sluice.ask('cpu'), at: performance.now() }
      const told = await followers.ask('make', { rpcUrl, blocks, swap })
      const cpu = await sluice.ask('cpu')
      const share = (cpu.user + cpu.system - before.cpu.user - before.cpu.system) / 10 / (performance.now() - before.at)
      rows.push(
        { name: `${name}: CPU`, value: `${share.toFixed(0)} % of a core` },
        { name: '  events a block', value: String(Math.round(told.events)) },
      )
      // Of empty blocks nothing is told.
      if (told.events === 0) continue
      rows.push(
        { name: '  p50 from the block to its events', value: ms(told.p50Ms), reference: ms(told.headP50Ms) },
        { name: '  p99', value: ms(told.p99Ms), reference: ms(told.headP99Ms) },
        { name: '  p50 to the last event of a block', value: ms(told.lastP50Ms) },
      )
    } finally {
      await followers.end()
    }
  }
  return rows

  /** A trade is made once, and sent again and again as it was. */
  async function swapOf(connector: string): Promise<Record<string, string>> {
    const client = createClient(url, certsDir)
    const trade = {
      ...local,
      connector,
      base: 'ETH',
      quote: 'USDC',
      side: 'SELL',
      amount: '0.05',
      allowedSlippage: '1/100',
      address: wallet,
    }
    const { status, body, text } = await client.post('/amm/trade', trade)
    client.close()
    if (status !== 200) throw new Error(`answered ${status}: ${text}`)
    return sluice.ask('callOf', body.txHash)
  }
}

function streamsOf(pairs: Case['pairs'], different: number): string[][] {
  const perStream = subscriptions / streams
  const questions = Array.from({ length: different }, (_, index) => {
    const [base = '', quote = ''] = pairs[index % pairs.length] ?? []
    const amount = ((worth[base] ?? 1) * (1 + index / different)).toFixed(6)
    return [base, quote, Math.floor(index / pairs.length) % 2 ? 'BUY' : 'SELL', amount].join(':')
  })
  return Array.from({ length: streams }, (_, stream) =>
    Array.from({ length: perStream }, (__, index) => questions[(stream * perStream + index) % different] ?? ''),
  )
}
