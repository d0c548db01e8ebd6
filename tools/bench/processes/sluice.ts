// The whole server with the devnet, in a process of its own that tells what it costs. It is the bundled one, which is what is shipped.
import { Session, type Profiler } from 'node:inspector'
import { setTimeout as sleep } from 'node:timers/promises'
import { rpcTo } from '../../../core/devnet/anvil.ts'
import { oneChain } from '../../../test/http/one-chain.ts'
import { healthy, startFaultyProxy } from '../../../test/http/trouble/faulty-proxy.ts'
import { roundTripsTo } from '../../../testkit/round-trips.ts'
import type { startServer as StartServer } from '../../../testkit/server.ts'
import { serve } from '../child.ts'
import { quotePath } from '../quote-path.ts'

const samplingMicros = 100
// What loads this file has them read for each error; bin/sluice has not.
process.setSourceMapsEnabled(false)

/** For a process of the benchmark: handlers that record where its main thread's time goes. */
function profiler() {
  const session = new Session()
  const post = (method: string, parameters: object = {}) =>
    new Promise<object>((resolve, reject) =>
      session.post(method, parameters, (error, result) => (error ? reject(error) : resolve(result ?? {}))),
    )
  return {
    async startProfile(): Promise<void> {
      session.connect()
      await post('Profiler.enable')
      await post('Profiler.setSamplingInterval', { interval: samplingMicros })
      await post('Profiler.start')
    },
    async takeProfile(): Promise<Profiler.Profile> {
      const { profile } = (await post('Profiler.stop')) as Profiler.StopReturnType
      session.disconnect()
      return profile
    },
  }
}

const bundled: { startServer: typeof StartServer } = await import(new URL('../../../dist/testkit/index.js', import.meta.url).href)

/** The home, where there is one already, stays, and has one chain: what nodes of others cost that cannot be reached is not what is measured. */
const [, , isBehindProxy, withInterfaces, home] = process.argv
let delayMs = 0
const proxy = isBehindProxy ? await startFaultyProxy() : undefined
await proxy?.become(async (exchange) => {
  await sleep(delayMs)
  await healthy(exchange)
})
const server = await bundled.startServer(
  {
    ...(home && oneChain),
    ...(withInterfaces && { conf: { 'interfaces/hummingbot.yml': { port: 0 } } }),
    ...(proxy && {
      async between(url) {
        proxy.target = url
        return `http://127.0.0.1:${proxy.port}`
      },
    }),
  },
  home,
)
const { kernel, settings, client, rpcUrl } = server
await firstQuote()
const roundTrips = roundTripsTo(rpcUrl)

export type SluiceProcess = typeof handlers
const handlers = serve(
  {
    where: () => ({
      pid: process.pid,
      url: kernel.url,
      interfaceUrls: kernel.interfaceUrls,
      rpcUrl,
      certsDir: settings.ssl.certsDir,
      wallet: kernel.services.wallets.all().find(({ devnet }) => devnet)?.address ?? '',
    }),
    /** Microseconds of processor time so far. */
    cpu: () => process.cpuUsage(),
    /** Resident set size after a garbage collection, and the heap that is in use of it. */
    memory() {
      global.gc?.()
      const { rss, heapUsed } = process.memoryUsage()
      return { rss, heapUsed }
    },
    /** What a transaction called, and with what, for whoever sends the like. */
    async callOf(txHash: string): Promise<Record<string, string>> {
      const { from, to, input, value, gas } = Object(await rpcTo(rpcUrl)('eth_getTransactionByHash', txHash))
      return { from, to, data: input, value, gas }
    },
    recordRoundTrips: () => roundTrips.record(),
    /** The methods of each HTTP request to the node since the recording began, which it ends. */
    takeRoundTrips: () => roundTrips.take(),
    /** How long each answer of the node takes longer, where it is behind a proxy. */
    delayNode: (ms: number) => void (delayMs = ms),
    ...profiler(),
  },
  async () => {
    await server.stop()
    await proxy?.stop()
  },
)

/** Networks start beside the listener: a quote is there a moment later. */
async function firstQuote(): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await client.get(quotePath(0))).status === 200) return
    await sleep(50)
  }
  throw new Error('The server gave no quote within 10 s.')
}
