import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import path from 'node:path'

/** What Node itself has of a server with mutual TLS, by the certificates of a folder. Gives its port. */
export async function plainServer(certsDir: string, answer: RequestListener): Promise<number> {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  const credentials = { ca: read('ca_cert.pem'), cert: read('server_cert.pem'), key: read('server_key.pem') }
  const server = createServer({ ...credentials, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' }, answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The reference server has no port.')
  return address.port
}
