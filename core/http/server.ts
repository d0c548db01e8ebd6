import type { Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { StartError } from '../start-error.ts'
import { createTlsServer } from '../tls/tls-server.ts'
import type { App } from './app.ts'
import { refuseMalformed } from './request/refuse-malformed.ts'

export interface Listener {
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
