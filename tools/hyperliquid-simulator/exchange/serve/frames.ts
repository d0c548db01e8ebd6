/** What a peer of RFC 6455 says: a text, or one of the control frames. */
export interface Frame {
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
