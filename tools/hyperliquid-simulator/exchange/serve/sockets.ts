import { createHash } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { opcodes, readFrame, writeFrame } from './frames.ts'

export interface Connection {
  send(text: string): void
  /** Without a word, as a cable that is pulled. */
  cut(): void
  onText?: (text: string) => void
  onClose?: () => void
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-1.3 */
const keySuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Takes websockets at /ws, as long as they are welcome. */
export function acceptSockets(server: Server, isWelcome: () => boolean, opened: (connection: Connection) => void) {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const key = request.headers['sec-websocket-key']
    if (!isWelcome() || !key || !/^\/ws\/?$/.test(request.url ?? '')) return socket.destroy()
    const accept = createHash('sha1')
      .update(key + keySuffix)
      .digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
    opened(connect(socket))
    return undefined
  })
}

function connect(socket: Duplex): Connection {
  const connection: Connection = {
    send: (text) => {
      if (socket.writable) socket.write(writeFrame(opcodes.text, Buffer.from(text, 'utf8')))
    },
    cut: () => void socket.destroy(),
  }
  let bytes: Buffer = Buffer.alloc(0)
  let parts: Buffer[] = []
  socket.on('data', (more: Buffer) => {
    bytes = Buffer.concat([bytes, more])
    for (let read = readFrame(bytes); read; read = readFrame(bytes)) {
      bytes = read.rest
      const { opcode, isFinal, payload } = read.frame
      if (opcode === opcodes.ping) socket.write(writeFrame(opcodes.pong, payload))
      else if (opcode === opcodes.close) socket.end(writeFrame(opcodes.close, payload))
      else if (opcode === opcodes.text || opcode === opcodes.continuation) {
        parts.push(payload)
        if (!isFinal) continue
        const text = Buffer.concat(parts).toString('utf8')
        parts = []
        connection.onText?.(text)
      }
    }
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => connection.onClose?.())
  return connection
}
