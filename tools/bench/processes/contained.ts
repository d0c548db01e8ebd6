// A server with a connector that runs in a host, and the built-in one for the same exchange, in a process of its own.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Swap } from '../../../core/contracts/index.ts'
import type { QuoteVenue } from '../../../core/live-state/quotes.ts'
import type { startServer as StartServer } from '../../../testkit/server.ts'
import { roundTripsTo } from '../../../testkit/round-trips.ts'
import { descendants } from '../../../test/devnet/run-server.ts'
import { serve } from '../child.ts'
import { cpuMsOf, inTurns } from '../measuring.ts'

const bundled: { startServer: typeof StartServer } = await import(new URL('../../../dist/testkit/index.js', import.meta.url).href)
const plugin = fileURLToPath(new URL('../../../test/fixtures/plugins/contained/plain-swap', import.meta.url))
const [chain, name] = ['ethereum', 'local']
const connectors = { contained: 'plain-swap', builtIn: 'uniswap' } as const
type Kind = keyof typeof connectors

const server = await bundled.startServer({ plugins: [plugin] })
const { kernel, client, rpcUrl } = server
const { registry, quotes } = kernel.services
const isHost = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('host-process.js')
const host = descendants(process.pid).find(({ pid, command }) => command.startsWith('node') && isHost(pid))?.pid
if (host === undefined) throw new Error(`The plugin runs in no host: ${JSON.stringify(kernel.plugins.refused)}`)
const network = registry.network(chain, name)
const at = () => ({ signal: AbortSignal.timeout(30_000) })
const [tokenIn, tokenOut] = await network.tokens.resolveAll(['WETH', 'USDC'], 'tokens', at())
if (!tokenIn || !tokenOut) throw new Error('The devnet lacks tokens.')
const wallet = kernel.services.wallets.all().find(({ devnet }) => devnet)?.address ?? ''
const roundTrips = roundTripsTo(rpcUrl)
let lastAmountRaw = 10n ** 15n

export type ContainedProcess = typeof handlers
const handlers = serve({ quote, hostMemory, trade }, () => server.stop())

function asker(kind: Kind) {
  const { impl } = registry.venue(connectors[kind], chain, name)
  const { AMM } = impl
  if (!AMM) throw new Error(`${connectors[kind]} has no pools.`)
  const { followed } = AMM
  if (kind === 'contained' || !followed) return (amountRaw: bigint) => AMM.quote(swapOf(amountRaw), {}, at())
  const venue: QuoteVenue = { chain, network: name, connector: connectors[kind], chainImpl: network.impl, pricing: followed }
  // The same pools as the other one has.
  return async (amountRaw: bigint) => await quotes.quote(venue, swapOf(amountRaw), { version: 'v2' }, at())
}

const swapOf = (amountRaw: bigint): Swap => ({ tokenIn, tokenOut, exact: 'in', amountRaw })

/** Microseconds of processor time for each quote of an amount that nobody asked for before. */
async function quote({ kind, count, inFlight }: { kind: Kind; count: number; inFlight: number }) {
  const ask = asker(kind)
  global.gc?.()
  const [before, hostBeforeMs] = [process.cpuUsage(), cpuMsOf(host)]
  await inTurns(Array.from({ length: inFlight }), count, () => ask((lastAmountRaw += 1_000_003n)))
  const { user, system } = process.cpuUsage(before)
  return { serverMicros: (user + system) / count, hostMicros: ((cpuMsOf(host) - hostBeforeMs) * 1000) / count }
}

/** Resident. */
function hostMemory(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${host}/status`, 'utf8'))?.[1]) * 1024
}

/** From the request to the `txHash`, a moment after its price was asked. */
async function trade(kind: Kind) {
  const asked = {
    chain,
    network: name,
    connector: connectors[kind],
    base: 'ETH',
    quote: 'USDC',
    amount: '0.01',
    side: 'SELL',
    version: 'v2',
  }
  const { version: _, ...unversioned } = asked
  const swap = kind === 'contained' ? unversioned : asked
  await answered(client.get('/amm/price', swap))
  roundTrips.record()
  const before = process.cpuUsage()
  const { txHash } = await answered(client.post('/amm/trade', { ...swap, address: wallet }))
  const { user, system } = process.cpuUsage(before)
  const methods = roundTrips.take().flatMap((each) => each.methods)
  while ((await answered(client.get('/network/poll', { chain, network: name, txHash }))).txStatus !== 1) await sleep(20)
  return { micros: user + system, methods }
}

async function answered(request: ReturnType<typeof client.get>) {
  const { status, text, body } = await request
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  return body
}
