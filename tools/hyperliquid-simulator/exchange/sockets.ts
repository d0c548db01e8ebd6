import { createHash } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

export interface Connection {
  send(text: string): void
  /** Without a word, as a cable that is pulled. */
  cut(): void
  onText?: (text: string) => void
  onClose?: () => void
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-1.3 */
const keySuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Takes websockets at this path, as long as they are welcome. */
export function acceptSockets(
  server: Server,
  isWelcome: () => boolean,
  opened: (connection: Connection) => void,
  path: RegExp = /^\/ws\/?$/,
) {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const key = request.headers['sec-websocket-key']
    if (!isWelcome() || !key || !path.test(request.url ?? '')) return socket.destroy()
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

/** What a peer of RFC 6455 says: a text, or one of the control frames. */
interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly payload: Buffer
}

export const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const

/** The first frame of what came, and what came after it; undefined where it is not complete. */
export function readFrame(bytes: Buffer): { frame: Frame; rest: Buffer } | undefined {
  if (bytes.length < 2) return undefined
  const [first, second] = [bytes[0]!, bytes[1]!]
  let [length, at] = [second & 0x7f, 2]
  if (length === 126) {
    if (bytes.length < 4) return undefined
    ;[length, at] = [bytes.readUInt16BE(2), 4]
  } else if (length === 127) {
    if (bytes.length < 10) return undefined
    ;[length, at] = [Number(bytes.readBigUInt64BE(2)), 10]
  }
  const isMasked = (second & 0x80) !== 0
  const start = at + (isMasked ? 4 : 0)
  if (bytes.length < start + length) return undefined
  const payload = Buffer.from(bytes.subarray(start, start + length))
  if (isMasked) for (let i = 0; i < payload.length; i++) payload[i]! ^= bytes[at + (i & 3)]!
  return { frame: { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload }, rest: bytes.subarray(start + length) }
}

/** A whole frame, as servers send them: without a mask. */
export function writeFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = 0x80 | opcode
  if (length < 126) head[1] = length
  else if (length < 65_536) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([head, payload])
}
