// What a quote is compared with: mutual TLS with the same certificates and nothing behind it.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import path from 'node:path'
import { serve } from '../child.ts'

const [certsDir = '', body = ''] = process.argv.slice(2)
const read = (file: string) => readFileSync(path.join(certsDir, file))
const server = createServer(
  {
    ca: read('ca_cert.pem'),
    cert: read('server_cert.pem'),
    key: read('server_key.pem'),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  },
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body),
)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
if (address === null || typeof address === 'string') throw new Error('The reference server has no port.')

export type BareServerProcess = typeof handlers
const handlers = serve({
  url: () => `https://127.0.0.1:${address.port}`,
  /** Microseconds of processor time so far. */
  cpu: () => process.cpuUsage(),
})
