import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isObject } from '../base/json.ts'

// Connections that end after an answer. What their clients have sent behind it is carried out by nobody.

/** What a refused client still sends is read and dropped for so long: unread data would be answered by a reset, which takes the answer with it. */
const lingerMs = 5_000

const ending = new WeakSet<Socket>()

/** Whether requests that still come of this connection are to be ignored. */
export const isEnding = (socket: Socket): boolean => ending.has(socket)

/** Drops from now on what the client sends. @returns whether nobody had asked for it */
export function dropRest(socket: Socket): boolean {
  if (ending.has(socket)) return false
  ending.add(socket)
  // It makes an object of each request that it has read already, hundreds of short ones. 2 tells it to leave the rest to somebody else:
  // https://github.com/nodejs/node/blob/v20.19.0/lib/_http_common.js#L71
  const parser: unknown = Reflect.get(socket, 'parser')
  if (isObject(parser)) Reflect.set(parser, 'onIncoming', () => 2)
  // The parser's, which would fail with every further byte.
  socket.removeAllListeners('data')
  socket.on('data', () => {}).resume()
  return true
}

/** Ends the connection with this answer, after those before it. */
export function endWith(response: ServerResponse): void {
  const { socket } = response.req
  dropRest(socket)
  response.shouldKeepAlive = false
  // Node.js calls it after an answer with `Connection: close`.
  socket.destroySoon = () => closeGently(socket)
}

/** Closes our side, and the rest when the client has closed its own. */
export function closeGently(socket: Socket, withinMs = lingerMs): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), withinMs).unref()
  socket.once('close', () => clearTimeout(timer))
}

/** Node.js closes a connection at once after an answer with `Connection: close`: then nobody hears that the answer did not arrive. */
export function followToItsEnd(socket: Socket, withinMs: number): void {
  socket.destroySoon = () => {
    dropRest(socket)
    closeGently(socket, withinMs)
  }
}
