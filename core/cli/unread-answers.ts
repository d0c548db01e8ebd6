// Answers that a client of the proxy may not have read yet. For the server they are delivered once the proxy has them: so the connection by which one came
// is used for nothing else until the client shows that it read it, and is reset where the client's own breaks before.
import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { followToItsEnd } from '../http/ending.ts'

/** Longer answers are of those that only read, and are passed on as they come. */
const maxBytes = 128 * 1024
/** A client that asks nothing more for so long has read it, as far as is known. */
const heldMs = 30_000
const maxHeld = 32

interface HeldAnswer {
  readonly client: Socket
  readonly response: ServerResponse
  end(isRead: boolean): void
}

export interface UnreadAnswers {
  /** Passes an answer on. @returns false, and does nothing, where it only reads or is too long */
  pass(incoming: IncomingMessage, response: ServerResponse): boolean
  /** The client asks more over its connection. */
  read(client: Socket): void
  /** It has ended it, or it broke. */
  ended(client: Socket): void
}

export function createUnreadAnswers(): UnreadAnswers {
  /** The newest at the end. */
  const held = new Set<HeldAnswer>()

  function hold(incoming: IncomingMessage, response: ServerResponse): void {
    const { socket } = incoming
    const timer = setTimeout(() => answer.end(true), heldMs).unref()
    const answer: HeldAnswer = {
      client: response.req.socket,
      response,
      end(isRead) {
        clearTimeout(timer)
        held.delete(answer)
        // Its end gives the connection back.
        if (isRead) incoming.resume()
        else reset(socket)
      },
    }
    held.add(answer)
    const [oldest] = held
    if (held.size > maxHeld) oldest?.end(true)
  }

  const of = (client: Socket): readonly HeldAnswer[] => [...held].filter((answer) => answer.client === client)

  function ended(client: Socket): void {
    for (const answer of of(client)) answer.end(answer.response.writableFinished && !client.errored)
  }

  return {
    pass(incoming, response) {
      const { method = 'GET', socket: client } = response.req
      const bytes = Number(incoming.headers['content-length'] ?? 0)
      if (method === 'GET' || method === 'HEAD' || !(bytes > 0 && bytes <= maxBytes)) return false
      const parts: Buffer[] = []
      let left = bytes
      incoming.once('error', () => response.destroy())
      incoming.on('data', (part: Buffer) => {
        parts.push(part)
        left -= part.length
        if (left > 0) return
        incoming.pause()
        followToItsEnd(client, heldMs)
        hold(incoming, response)
        response.end(Buffer.concat(parts))
        if (client.destroyed) ended(client)
      })
      return true
    },
    read(client) {
      for (const answer of of(client)) if (answer.response.writableFinished) answer.end(true)
    },
    ended,
  }
}

const plainOf = new WeakMap<object, Socket>()

/** The other end sees that it broke, and was not ended. */
function reset(socket: Socket): void {
  const plain = plainOf.get(socket)
  if (plain) plain.resetAndDestroy()
  else socket.destroy()
}

/** Its connections can be reset: Node.js resets none that is of TLS from its beginning. All are made with the certificate of the first. */
export class ResettableAgent extends https.Agent {
  readonly #connecting = new Set<Socket>()
  /** To read a key takes longer than a handshake. */
  #secureContext: SecureContext | undefined

  override createConnection(...[options, created]: Parameters<https.Agent['createConnection']>): undefined {
    const plain = net.connect({ host: options.host ?? 'localhost', port: Number(options.port) })
    this.#connecting.add(plain)
    plain.once('close', () => this.#connecting.delete(plain))
    const failed = (error: Error) => created?.(error, plain)
    plain.once('error', failed)
    plain.once('connect', () => {
      this.#connecting.delete(plain)
      // From now on its errors are those of the connection above it.
      plain.off('error', failed).on('error', () => {})
      const secureContext = (this.#secureContext ??= createSecureContext(options))
      const socket = super.createConnection(Object.assign({}, options, { socket: plain, secureContext }))
      if (!socket) return
      plainOf.set(socket, plain)
      created?.(null, socket)
    })
    return undefined
  }

  override destroy(): void {
    super.destroy()
    for (const plain of this.#connecting) plain.destroy()
  }
}
