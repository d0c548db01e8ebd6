import type { RequestListener, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import { Server as NetServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** A client that is about to send its next request gets so long to send it, and then an answer that says that the connection is closed. */
const idleMs = 1_000
/** After our end of an idle connection is closed, what the client had sent already is still read: unread data would be answered by a reset. */
const lingerMs = 500
const lookMs = 25

/** Ends a server's connections without losing an answer. */
interface ConnectionDrain {
  /** Handles the server's requests, and knows which connection waits for an answer. */
  listener: RequestListener
  /** Takes no new connection, and closes each one with its next answer, or when it stays idle. Resolves when all are closed. */
  close(withinMs: number): Promise<void>
}

/** @param answer has to answer every request, also while the server stops */
export function createConnectionDrain(server: Server, answer: RequestListener): ConnectionDrain {
  /** The newest response of each connection: those before it, of requests that were pipelined, are written before it. */
  const newest = new Map<Socket, ServerResponse | undefined>()
  /** With those still in their handshake. */
  const connections = new Set<Socket>()
  let isClosing = false

  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('secureConnection', (socket) => {
    newest.set(socket, undefined)
    socket.once('close', () => newest.delete(socket))
  })

  /** Node adds `Connection: close` to the answer, and closes the connection after it. */
  function closeWith(response: ServerResponse, isLast: boolean): void {
    if (!response.headersSent) response.shouldKeepAlive = !isLast
  }

  /** Closes connections that no answer closes. Those whose answer had begun with `keep-alive` before the server stopped are idle after it. */
  function closeIdle(): void {
    for (const [socket, response] of newest) {
      if (response && !response.writableFinished) continue
      newest.delete(socket)
      socket.end()
      setTimeout(() => socket.destroy(), lingerMs)
    }
  }

  return {
    listener(request, response) {
      const { socket } = request
      const before = newest.get(socket)
      if (newest.has(socket)) newest.set(socket, response)
      if (isClosing) {
        if (before && !before.writableEnded) closeWith(before, false)
        closeWith(response, true)
      }
      answer(request, response)
    },
    async close(withinMs) {
      isClosing = true
      // Not the HTTP server's own method, which destroys connections between two requests at once.
      const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
      for (const response of newest.values()) if (response) closeWith(response, true)
      const idleFrom = performance.now() + Math.min(idleMs, withinMs / 2)
      const look = setInterval(() => performance.now() >= idleFrom && closeIdle(), lookMs)
      const destroyAll = setTimeout(() => connections.forEach((socket) => socket.destroy()), withinMs)
      await closed
      clearInterval(look)
      clearTimeout(destroyAll)
      // Ends the HTTP server's own timer.
      server.close()
    },
  }
}
