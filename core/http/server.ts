import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type Server as ServerInRefuseMalformed, type ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { SluiceError } from '../api/index.ts'
import { StartError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { createTlsServer } from '../tls/tls-server.ts'
import { type App, errorBody } from './app.ts'

interface Listener {
  url: string
  /** Takes no new connection, lets requests under way end within the time, then cuts what is left. */
  stop(withinMs: number): Promise<void>
}

const pollMs = 50
/** For queries of a thousand token addresses. */
const mostHeaderBytes = 64 * 1024
/** For whoever sends a request byte by byte; one that arrived has its own, server.requestTimeoutSeconds. */
const arrivalMs = 60_000

/** The one door: HTTPS with mutual TLS. */
export async function listen(app: App, { server: { host, port }, ssl }: Settings, log: Logger): Promise<Listener> {
  const answer = app.callback()
  const server = await createTlsServer(
    {
      certsDir: ssl.certsDir,
      log,
      http: { keepAliveTimeout: 60_000, maxHeaderSize: mostHeaderBytes, headersTimeout: arrivalMs, requestTimeout: arrivalMs },
    },
    (request, response) => answer(request, response),
  )
  refuseMalformed(server, mostHeaderBytes)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new StartError(refusal(error, host, port))))
    server.listen(port, host, resolve)
  })
  const connections = connectionsOf(server)
  const address = server.address() as AddressInfo
  return {
    url: `https://${host === '127.0.0.1' || host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${address.port}`,
    async stop(withinMs) {
      const closed = new Promise((resolve) => server.close(resolve))
      app.endStreams()
      // A kept-alive connection is idle only once its answer is out.
      const idle = setInterval(() => server.closeIdleConnections(), pollMs)
      server.closeIdleConnections()
      const cut = setTimeout(() => connections.forEach((socket) => socket.destroy()), withinMs)
      await closed
      clearInterval(idle)
      clearTimeout(cut)
    },
  }
}

/** Also those that are still in their handshake, which the server does not count as its own. */
function connectionsOf(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return connections
}

function refusal(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} on ${host} is taken by another program. Stop that one, or choose another port: --port, SLUICE_SERVER_PORT or server.port in conf/server.yml.`
  if (error.code === 'EACCES')
    return `This user may not listen on port ${port}. Choose one above 1023: --port, SLUICE_SERVER_PORT or server.port in conf/server.yml.`
  if (error.code === 'EADDRNOTAVAIL')
    return `This machine has no address ${host}. Correct server.host in conf/server.yml; 127.0.0.1 is this machine alone, 0.0.0.0 every address.`
  return `Listening on ${host}:${port} failed: ${error.message}`
}

/** What never becomes a request, since HTTP itself is broken, too large or asks for the impossible, gets a body like all other errors. */
function refuseMalformed(server: ServerInRefuseMalformed, mostHeaderBytes: number): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { http, body } = errorBody(
      new SluiceError('INCOMPLETE_PARAMS', 'The header Expect asks for what this server does not do; leave it out.', { http: 417 }),
      randomUUID(),
    )
    response.writeHead(http, { 'content-type': 'application/json; charset=utf-8', connection: 'close' }).end(JSON.stringify(body))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = socket.writable ? refusalOf(error.code ?? '', mostHeaderBytes) : undefined
    // Anything else is of the connection, such as a refused handshake: nobody listens there.
    if (!refusal) return void socket.destroy()
    const { http, body } = errorBody(refusal, randomUUID())
    const json = JSON.stringify(body)
    socket.end(
      `HTTP/1.1 ${http} ${STATUS_CODES[http]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(json)}\r\nConnection: close\r\n\r\n${json}`,
    )
  })
}

function refusalOf(code: string, mostHeaderBytes: number): SluiceError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new SluiceError(
      'INCOMPLETE_PARAMS',
      `The URL and headers are over ${mostHeaderBytes} bytes together; send long lists as a JSON body by POST.`,
      { http: 431 },
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new SluiceError('TIMEOUT', 'The request did not arrive in full in time; nothing was done. Send it again.', { http: 408 })
  if (code.startsWith('HPE_')) return new SluiceError('INCOMPLETE_PARAMS', 'This is no request of HTTP/1.1.')
  return undefined
}
