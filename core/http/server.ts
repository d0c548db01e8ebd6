import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import { createServer, type AddressInfo, type Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { StartError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { SluiceError } from '../errors.ts'
import { createTlsServer } from '../tls/tls-server.ts'
import { errorBody, type App } from './app.ts'
import { createDraining } from './draining.ts'

interface Listener {
  url: string
  /** Accepts no new connection and begins no new request, lets requests in flight end within the time, then closes what is left. */
  stop(withinMs: number): Promise<void>
}

/** Enough for a query of a thousand token addresses. */
const maxHeaderBytes = 64 * 1024
/** For clients that send a request byte by byte. A request that has arrived has server.requestTimeoutSeconds. */
const arrivalMs = 60_000

/** Listens for HTTPS with mutual TLS. @throws StartError if the port cannot be used */
export async function listen(app: App, { server: { host, port }, ssl }: Settings, log: Logger): Promise<Listener> {
  const server = await createTlsServer({
    certsDir: ssl.certsDir,
    log,
    http: { keepAliveTimeout: 60_000, maxHeaderSize: maxHeaderBytes, headersTimeout: arrivalMs, requestTimeout: arrivalMs },
  })
  const draining = createDraining(server, app.listener)
  server.on('request', draining.listener)
  refuseMalformed(server)
  await bind(server, { host, port })
  const address = server.address() as AddressInfo
  return {
    url: `https://${host === '127.0.0.1' || host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${address.port}`,
    async stop(withinMs) {
      app.refuseNew()
      await draining.close(withinMs)
    },
  }
}

/** @throws StartError if the server could not listen now: known before anything is made for it */
export async function refuseUnusablePort(address: Settings['server']): Promise<void> {
  const server = createServer()
  await bind(server, address)
  await new Promise((resolve) => server.close(resolve))
}

function bind(server: NetServer, { host, port }: Pick<Settings['server'], 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new StartError(listenError(error, host, port))))
    server.listen(port, host, resolve)
  })
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} on ${host} is taken by another program. Stop that one, or choose another port: --port, SLUICE_SERVER_PORT or server.port in conf/server.yml.`
  if (error.code === 'EACCES')
    return `This user may not listen on port ${port}. Choose one above 1023: --port, SLUICE_SERVER_PORT or server.port in conf/server.yml.`
  if (error.code === 'EADDRNOTAVAIL')
    return `This machine has no address ${host}. Correct server.host in conf/server.yml; 127.0.0.1 is this machine alone, 0.0.0.0 every address.`
  return `Listening on ${host}:${port} failed: ${error.message}`
}

/** Answers what Node.js refuses before it becomes a request with a body like that of all other errors. */
function refuseMalformed(server: Server): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { http, body } = errorBody(
      new SluiceError('INCOMPLETE_PARAMS', 'The header Expect asks for something that this server does not support; leave it out.', {
        http: 417,
      }),
      randomUUID(),
    )
    response.writeHead(http, { 'content-type': 'application/json; charset=utf-8', connection: 'close' }).end(JSON.stringify(body))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = socket.writable ? refusalOf(error.code ?? '') : undefined
    // Other errors are of the connection, such as a failed handshake: nobody reads an answer.
    if (!refusal) return void socket.destroy()
    const { http, body } = errorBody(refusal, randomUUID())
    const json = JSON.stringify(body)
    socket.end(
      `HTTP/1.1 ${http} ${STATUS_CODES[http]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(json)}\r\nConnection: close\r\n\r\n${json}`,
    )
  })
}

function refusalOf(code: string): SluiceError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new SluiceError(
      'INCOMPLETE_PARAMS',
      `The URL and headers are over ${maxHeaderBytes} bytes together; send long lists as a JSON body by POST.`,
      { http: 431 },
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new SluiceError('TIMEOUT', 'The request did not arrive in full in time; nothing was done. Send it again.', { http: 408 })
  if (code.startsWith('HPE_')) return new SluiceError('INCOMPLETE_PARAMS', 'This is not a valid HTTP/1.1 request.')
  return undefined
}
