import { expect } from 'chai'
import * as fc from 'fast-check'
import { opcodes, readFrame, writeFrame } from './exchange/serve/frames.ts'

/** As clients send them: the bytes after the head are changed by a mask. */
function masked(frame: Buffer, mask: Buffer): Buffer {
  const length = frame[1]! & 0x7f
  const at = length === 127 ? 10 : length === 126 ? 4 : 2
  const head = Buffer.from(frame.subarray(0, at))
  head[1]! |= 0x80
  return Buffer.concat([head, mask, frame.subarray(at).map((byte, index) => byte ^ mask[index & 3]!)])
}

describe('the frames of the websocket that the simulator of Hyperliquid speaks', () => {
  const text = fc.oneof(
    fc.string(),
    fc.nat(70_000).map((length) => 'x'.repeat(length)),
  )

  it('hold any text, masked or not, and what comes after it', () => {
    const run = fc.property(text, fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array(), (said, mask, more) => {
      const frame = writeFrame(opcodes.text, Buffer.from(said))
      for (const bytes of [frame, masked(frame, Buffer.from(mask))]) {
        const read = readFrame(Buffer.concat([bytes, more]))
        expect(read?.frame.payload.toString('utf8')).to.equal(Buffer.from(said).toString('utf8'))
        expect(read?.frame).to.include({ opcode: opcodes.text, isFinal: true })
        expect(Buffer.from(more).equals(read!.rest)).to.equal(true)
      }
    })
    fc.assert(run)
  })

  it('are read when all of them is there', () => {
    const frame = masked(writeFrame(opcodes.text, Buffer.from('x'.repeat(300))), Buffer.from('mask'))
    for (const length of [0, 1, 3, 7, frame.length - 1]) expect(readFrame(frame.subarray(0, length))).to.equal(undefined)
    expect(readFrame(frame)?.frame.payload).to.have.length(300)
  })
})
