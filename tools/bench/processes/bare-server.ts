// What a quote is compared with: mutual TLS with the same certificates and nothing behind it.
import { serve, plainServer } from '../child.ts'

const [certsDir = '', body = ''] = process.argv.slice(2)
const port = await plainServer(certsDir, (_request, response) =>
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body),
)

export type BareServerProcess = typeof handlers
const handlers = serve({
  url: () => `https://127.0.0.1:${port}`,
  pid: () => process.pid,
  /** Microseconds of processor time so far. */
  cpu: () => process.cpuUsage(),
})
