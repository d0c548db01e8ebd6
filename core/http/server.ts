import { createServer, type AddressInfo, type Server as NetServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import { StartError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { createTlsServer } from '../tls/tls-server.ts'
import type { App } from './app.ts'
import { createConnectionDrain } from './connection-drain.ts'
import { maxHeaderBytes, refuseMalformed } from './malformed.ts'

export type Address = Pick<Settings['server'], 'host' | 'port'>

/** An interface, and where it is found. */
export interface ServedApp {
  /** Of the plugin whose interface it is; absent: Sluice's own. */
  readonly name?: string
  readonly app: App
  readonly address: Address
}

export interface Listener {
  url: string
  /** Accepts no new connection and begins no new request, lets requests in flight end within the time, then closes what is left. */
  stop(withinMs: number): Promise<void>
}

/** For clients that send a request byte by byte. A request that has arrived has server.requestTimeoutSeconds. */
const arrivalMs = 60_000

interface ListenParts {
  settings: Pick<Settings, 'ssl' | 'limits'>
  log: Logger
}

export interface Listeners extends Listener {
  /** Of the interfaces of plugins, by their names. */
  readonly urls: Readonly<Record<string, string>>
}

/** Listens for each interface on a port of its own. The URL is that of the first. @throws StartError if a port cannot be used */
export async function listenOnAll([first, ...others]: readonly [ServedApp, ...ServedApp[]], parts: ListenParts): Promise<Listeners> {
  const { url, stop } = await listen(first.app, first.address, parts)
  const urls: Record<string, string> = {}
  const listeners = [{ stop }]
  const stopAll = async (withinMs: number) => void (await Promise.all(listeners.map((each) => each.stop(withinMs))))
  try {
    for (const { name, app, address } of others) {
      const listener = await listen(app, address, parts, name)
      listeners.push(listener)
      if (name === undefined) continue
      urls[name] = listener.url
      parts.log.info({ plugin: name, url: listener.url }, 'interface of a plugin listens')
    }
  } catch (error) {
    await stopAll(0)
    throw error
  }
  return { url, urls, stop: stopAll }
}

/** Listens for HTTPS with mutual TLS. @param plugin whose interface it is @throws StartError if the port cannot be used */
export async function listen(
  app: App,
  { host, port }: Address,
  { settings: { ssl, limits }, log }: ListenParts,
  plugin?: string,
): Promise<Listener> {
  const server = await createTlsServer({
    certsDir: ssl.certsDir,
    log,
    http: {
      keepAliveTimeout: 60_000,
      maxHeaderSize: maxHeaderBytes,
      requireHostHeader: false,
      headersTimeout: arrivalMs,
      requestTimeout: arrivalMs,
    },
    handshakes: { handshakes: limits.handshakes, handshakesOfAddress: limits.addressHandshakes },
    onRefused: app.connectionRefused,
  })
  const drain = createConnectionDrain(server, refuseMalformed(server, app.listener))
  server.on('request', drain.listener)
  server.on('secureConnection', readWholePipeline)
  server.on('secureConnection', app.connected)
  await bind(server, { host, port }, plugin)
  const address = server.address() as AddressInfo
  return {
    url: `https://${shownAddress(host)}:${address.port}`,
    async stop(withinMs) {
      app.refuseNew()
      await drain.close(withinMs)
    },
  }
}

/**
 * Node.js stops reading from a client that sends many requests and takes no answer. Where its parser reads the TLS connection by itself, it gets what
 * was decrypted already all the same, and fails (HPE_PAUSED). A listener for data makes it read by the stream, which keeps that data. The stream
 * waits for a read that the parser has stopped, where nothing was left to decrypt: an empty push ends that read.
 */
function readWholePipeline(socket: TLSSocket): void {
  socket.once('pause', () => socket.on('data', () => {}).push(''))
}

/** @throws StartError if the server could not listen now: known before anything is made for it */
export async function refuseUnusablePort(address: Address): Promise<void> {
  const server = createServer()
  await bind(server, address)
  await new Promise((resolve) => server.close(resolve))
}

function bind(server: NetServer, { host, port }: Address, plugin?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new StartError(listenError(error, host, port, plugin))))
    server.listen(port, host, resolve)
  })
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number, plugin: string | undefined): string {
  const own = '--port, SLUICE_SERVER_PORT or server.port in conf/server.yml'
  const file = plugin === undefined ? 'conf/server.yml' : `conf/interfaces/${plugin}.yml`
  const settings = plugin === undefined ? own : `port in ${file}`
  if (error.code === 'EADDRINUSE')
    return `Port ${port} on ${host} is taken by another program. Stop that one, or choose another port: ${settings}.`
  if (error.code === 'EACCES') return `This user may not listen on port ${port}. Choose one above 1023: ${settings}.`
  if (error.code === 'EADDRNOTAVAIL')
    return `This machine has no address ${host}. Correct ${plugin === undefined ? 'server.host' : 'host'} in ${file}; 127.0.0.1 is this machine alone, 0.0.0.0 every address.`
  return `Listening on ${host}:${port} failed: ${error.message}`
}

/** The name that the server's certificate has for this machine, or the address as it stands in a URL. */
function shownAddress(host: string): string {
  if (host === '127.0.0.1' || host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
