// The connector by itself over the devnet, without the server around it, and the exchange's own quoter on the same node.
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'
import { parse } from 'yaml'
import type { Swap } from '../../../core/contracts/index.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { at, openDevnetFixture, tokens } from '../../../test/kits/amm/devnet-fixture.ts'
import { serve } from '../child.ts'
import { amountOf, isSale, quoterCall, requireResult } from '../quote-path.ts'
import { percentile } from '../measuring.ts'

export interface QuotesRun {
  /** Absent: all of the connector's. */
  version?: string
  inFlight: number
  quotes: number
}

const { WETH, USDC } = tokens
const fixture = await openDevnetFixture()
const config = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const { AMM } = uniswap.create({ ...fixture.venue(config.contractAddresses.local), config })
if (!AMM) throw new Error('The connector trades no AMM.')
const node = new Pool(fixture.devnet.rpcUrl)

export type QuotingProcess = typeof handlers
const handlers = serve(
  {
    connector: ({ version, ...load }: QuotesRun) => measure(load, (index) => AMM.quote(swapOf(index), version ? { version } : {}, at())),
    quoterV2: (load: QuotesRun) => measure(load, askQuoter),
  },
  async () => {
    await node.close()
    await fixture.close()
  },
)

function swapOf(index: number): Swap {
  const [tokenIn, tokenOut] = isSale(index) ? [WETH, USDC] : [USDC, WETH]
  return { tokenIn, tokenOut, exact: isSale(index) ? 'in' : 'out', amountRaw: amountOf(index) }
}

async function askQuoter(index: number): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { body } = await node.request({ method: 'POST', path: '/', headers, body: quoterCall(index) })
  requireResult(await body.json())
}

async function measure({ inFlight, quotes }: QuotesRun, ask: (index: number) => Promise<unknown>) {
  const eachMs: number[] = []
  const [calls, cpu, startedAt] = [fixture.counted.rpc, process.cpuUsage(), performance.now()]
  let next = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < quotes) {
        const sentAt = performance.now()
        await ask((next += 1))
        eachMs.push(performance.now() - sentAt)
      }
    }),
  )
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (performance.now() - startedAt) / 1000
  return {
    rate: quotes / seconds,
    p50Ms: percentile(eachMs, 0.5),
    cpuMicros: (user + system) / quotes,
    calls: (fixture.counted.rpc - calls) / quotes,
  }
}
