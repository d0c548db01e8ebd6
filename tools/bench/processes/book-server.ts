// The whole server on the simulated exchange, in a process of its own that tells what it costs.
import { startServer, venuesReady, type ServerOptions } from '../../../testkit/server.ts'
import { serve } from '../child.ts'

const [options = '{}'] = process.argv.slice(2)
const server = await startServer(JSON.parse(options) as ServerOptions)
await venuesReady(server.kernel, { chain: 'hyperliquid', network: 'testnet' })

export type BookServerProcess = typeof handlers
const handlers = serve(
  {
    where: () => ({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir }),
    /** Microseconds of processor time so far. */
    cpu: () => process.cpuUsage(),
  },
  () => server.stop(),
)
