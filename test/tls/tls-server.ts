import { once } from 'node:events'
import type { Server } from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { createTlsServer, peerIdentity, type TlsServerOptions } from '../../core/tls/tls-server.ts'
import type { CertificatePair } from '../../core/tls/authority.ts'
import { pem } from './certificates.ts'

/** A listening server on `certsDir`, with what it logged. */
export interface RunningServer {
  certsDir: string
  server: Server
  port: number
  lines: string[]
  refusals: { code: string | undefined; verification: unknown }[]
}

export interface Call {
  pair?: CertificatePair
  version?: tls.SecureVersion
  /** One cipher of TLS 1.2. */
  cipher?: string
  /** Of 127.0.0.0/8: refusals of one address are soon counted instead of logged. */
  localAddress?: string
  session?: Buffer | undefined
}

/** How a connection went, seen from the client. */
export interface Outcome {
  answer: string
  resumed: boolean
  error?: string
  session?: Buffer
}

const running: Server[] = []
const sockets: net.Socket[] = []

/** Starts a server that answers with the client's common name. */
export async function startServer(
  certsDir: string,
  options: Pick<TlsServerOptions, 'maxConnections' | 'handshakes' | 'onRefused'> = {},
): Promise<RunningServer> {
  const lines: string[] = []
  const refusals: RunningServer['refusals'] = []
  const write = (_fields: object, message: string) => void lines.push(message)
  // An idle connection that ends here was cut for its certificate.
  const http = { keepAliveTimeout: 0 }
  const server = await createTlsServer({ certsDir, log: { info: write, warn: write }, http, ...options }, (request, response) => {
    response.end(`hello ${request.socket instanceof tls.TLSSocket ? peerIdentity(request.socket).commonName : 'nobody'}`)
  })
  server.on('tlsClientError', (error: Error & { code?: string }, socket) =>
    refusals.push({ code: error.code, verification: socket.authorizationError }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  running.push(server)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { certsDir, server, port: address.port, lines, refusals }
}

export async function stopServers(): Promise<void> {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of running.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

/** Opens a connection that stays open; `ask` sends a request over it, `closed` tells when it is gone. */
export async function connect({ certsDir, port }: RunningServer, { pair, version, session, cipher, localAddress }: Call) {
  // OpenSSL has to be told before it speaks a version older than 1.2 at all.
  const versions =
    version === undefined
      ? {}
      : { minVersion: version, maxVersion: version, ...(version === 'TLSv1.1' ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}) }
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    servername: 'localhost',
    ca: await pem(certsDir, 'ca_cert.pem'),
    ...(pair ? { cert: pair.certPem, key: pair.keyPem } : {}),
    ...(session ? { session } : {}),
    ...versions,
    ...(cipher === undefined ? {} : { ciphers: `${cipher}:@SECLEVEL=0` }),
    ...(localAddress === undefined ? {} : { localAddress }),
  })
  sockets.push(socket)
  const outcome: Outcome = { answer: '', resumed: false }
  socket.on('secureConnect', () => (outcome.resumed = socket.isSessionReused()))
  socket.on('session', (data: Buffer) => (outcome.session = data))
  socket.on('error', (error: Error & { code?: string }) => (outcome.error = error.code ?? error.message))
  const ready = new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()))
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  let received = ''
  let answered: (() => void) | undefined
  socket.on('data', (data: Buffer) => {
    received += data.toString()
    if (received.includes('hello')) answered?.()
  })

  async function ask(): Promise<Outcome> {
    received = ''
    await Promise.race([ready, closed])
    const answer = new Promise<void>((resolve) => (answered = resolve))
    if (!socket.destroyed) socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await Promise.race([answer, closed])
    return { ...outcome, answer: /hello .*/.exec(received)?.[0] ?? received }
  }
  return { socket, ask, closed }
}

/** One request on a connection of its own. */
export async function call(server: RunningServer, how: Call): Promise<Outcome> {
  const { ask, socket } = await connect(server, how)
  const outcome = await ask()
  socket.destroy()
  return outcome
}

/** Waits until `condition` holds; fails after a bounded time. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`did not happen: ${what}`)
}
