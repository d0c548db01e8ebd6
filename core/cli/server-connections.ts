// The proxy's connections to the server. Each is used by one client at a time: it is another's once its client has read the answer that came by it.
import https from 'node:https'
import { createSecureContext } from 'node:tls'

export interface Upstream {
  readonly host: string
  readonly port: number
  readonly servername: string
  readonly ca: Buffer
  readonly cert: Buffer
  readonly key: Buffer
}

/** A connection, or one that is made by its first request. One request at a time. */
export interface ServerConnection {
  readonly options: https.RequestOptions
  readonly isOpen: boolean
  /** Its answer was read: it may be used again. */
  release(): void
  /** It is closed, and used no more. */
  end(): void
}

export interface ServerConnections {
  take(): ServerConnection
  stop(): void
}

/** Of those that nobody uses. */
const maxFree = 32
/** Of one that nobody uses, shorter than the server's own. */
const idleMs = 30_000

export function createServerConnections({ host, port, servername, ca, cert, key }: Upstream): ServerConnections {
  // To read a key takes longer than a handshake.
  const secureContext = createSecureContext({ ca, cert, key })
  let session: Buffer | undefined
  const all = new Set<https.Agent>()
  /** Used last at the end. */
  const free: ServerConnection[] = []

  function create(): ServerConnection {
    // An agent keeps a connection alive that no request has; with this one it is always the same.
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, timeout: idleMs })
    all.add(agent)
    agent.on('free', (socket: { getSession?(): Buffer | undefined }) => (session = socket.getSession?.() ?? session))
    const connection: ServerConnection = {
      get options() {
        return { host, port, servername, secureContext, agent, ...(session && { session }) }
      },
      get isOpen() {
        return Object.values(agent.freeSockets).some((sockets) => (sockets?.length ?? 0) > 0)
      },
      release() {
        if (!all.has(agent)) return
        free.push(connection)
        if (free.length > maxFree) free.shift()?.end()
      },
      end() {
        all.delete(agent)
        agent.destroy()
      },
    }
    return connection
  }

  return {
    take() {
      while (free.length > 0) {
        const connection = free.pop()
        if (connection?.isOpen) return connection
        connection?.end()
      }
      return create()
    },
    stop() {
      for (const agent of all) agent.destroy()
      all.clear()
    },
  }
}
