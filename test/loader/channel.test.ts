import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { SluiceError } from '../../core/errors.ts'
import { openChannel, type Channel } from '../../core/loader/host/channel.ts'

/** The server's end of a channel, and the bare socket of a host that may write anything. */
async function ends(answer: (method: string, args: readonly unknown[]) => unknown = () => undefined) {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  const host = connect({ port: typeof address === 'object' && address ? address.port : 0, host: '127.0.0.1' })
  const [socket]: Socket[] = await once(listener, 'connection')
  listener.close()
  if (!socket) throw new Error('no connection')
  let close: (why: Error) => void = () => {}
  const closed = new Promise<Error>((resolve) => (close = resolve))
  const options = {
    onTold: () => {},
    maxFrameBytes: 1_000,
    maxQuestions: 2,
    perSecond: { bytes: 10_000, messages: 20 },
    maxUnaskedBytes: 2_000,
    maxUnreadBytes: 2 ** 20,
  }
  const channel = openChannel({ ...options, socket, answer, onClosed: (why) => close(why) })
  return { channel, host, closed }
}

/** A channel at each end. */
async function pair(answer: (method: string, args: readonly unknown[]) => unknown): Promise<Channel> {
  const { host, channel } = await ends()
  openChannel({ socket: host, answer, onTold: () => {}, onClosed: () => {}, maxFrameBytes: 10_000, maxQuestions: 10 })
  return channel
}

function frame(messages: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(messages))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text])
}

describe('the channel between the server and a host', () => {
  it('gives plain data back as it was, amounts and text that looks like one too', async () => {
    const data = { amountRaw: 2n ** 200n, below: -1n, text: '#12', more: '##', list: [1n, null, 'x', { deep: 0n }], flag: true }
    const channel = await pair((_, [first]) => first)
    expect(await channel.ask('echo', [data])).to.deep.equal(data)
    expect(await channel.ask('echo', [undefined])).to.equal(undefined)
    expect(await channel.ask('echo', [[undefined, null, '#-', { absent: undefined }]])).to.deep.equal([undefined, null, '#-', {}])
  })

  it('asks any number of questions with one signal, without a warning of Node', async () => {
    const warnings: Error[] = []
    const keep = (warning: Error) => void warnings.push(warning)
    process.on('warning', keep)
    const { host, channel } = await ends()
    openChannel({ socket: host, answer: () => 1, onTold: () => {}, onClosed: () => {}, maxFrameBytes: 10_000, maxQuestions: 100 })
    const { signal } = new AbortController()

    const answers = await Promise.all(Array.from({ length: 12 }, () => channel.ask('read', [], signal)))

    await setImmediate()
    process.off('warning', keep)
    expect(answers).to.have.length(12)
    expect(warnings).to.deep.equal([])
  })

  it('gives errors for callers with all that callers see, and others with their words', async () => {
    const channel = await pair((method) => {
      if (method === 'told') throw new SluiceError('PRICE_FAILED', 'No pool.', { details: { pool: 1 }, retryAfterSeconds: 3 })
      if (method === 'waited') AbortSignal.abort().throwIfAborted()
      throw new TypeError('not a function')
    })
    const waited = await channel.ask('waited', []).catch((error: unknown) => error)
    expect(waited).to.have.property('name', 'AbortError')
    const told = await channel.ask('told', []).catch((error: unknown) => error)
    expect(told).to.be.instanceOf(SluiceError)
    expect(told).to.deep.include({ name: 'PRICE_FAILED', message: 'No pool.', details: { pool: 1 }, retryAfterSeconds: 3 })
    const other = await channel.ask('other', []).catch((error: unknown) => error)
    expect(other).to.not.be.instanceOf(SluiceError)
    expect(other).to.have.property('message', 'TypeError: not a function')
  })

  const never = () => new Promise(() => {})
  for (const { what, bytes, why } of [
    { what: 'a frame over its bound', bytes: Buffer.from([0, 1, 0, 0]), why: /frame of 65536 bytes is over the bound/ },
    { what: 'what is no JSON', bytes: Buffer.from([0, 0, 0, 1, 0x7b]), why: /JSON/ },
    { what: 'a message of no kind', bytes: frame([[9, 1]]), why: /no known kind/ },
    { what: 'an answer that nobody asked for', bytes: frame([[1, 7, 'x']]), why: /nobody asked for/ },
    { what: 'a number of too many digits', bytes: frame([[0, 1, 'x', [`#${'9'.repeat(800)}`]]]), why: /too large/ },
    { what: 'too many questions at once', bytes: frame([1, 2, 3].map((id) => [0, id, 'x', []])), why: /more than 2 questions/ },
    {
      what: 'too much that nobody asked for',
      bytes: Buffer.concat([1, 2, 3].map(() => frame([[3, 'log', ['x'.repeat(900)]]]))),
      why: /more than 2000 bytes within ten seconds that nobody asked for/,
    },
    { what: 'too many messages', bytes: frame(Array.from({ length: 30 }, () => [3, 'log', []])), why: /more than 20 messages/ },
  ])
    it(`is closed by ${what}, and who waits is told`, async () => {
      const { channel, host, closed } = await ends(never)
      const waiting = what.startsWith('an answer') ? undefined : channel.ask('quote', []).catch((error: unknown) => error)
      host.write(bytes)
      expect((await closed).message).to.match(why)
      if (waiting) expect(await waiting).to.equal(await closed)
    })

  it('is closed where the other end asks and does not read, and an answer is taken for what was asked only', async () => {
    const { host, channel, closed } = await ends(() => 'x'.repeat(2 ** 20))
    // It is cut off while it writes.
    host.pause().on('error', () => {})
    const asked = channel.ask('ping', ['a word'])
    host.write(frame([[1, 1, 'another']]))
    expect(await asked).to.equal('another')
    const ask = (id: number) => host.write(frame([[0, id, 'fetch', []]]))
    for (let id = 1; id <= 16; id += 1) {
      ask(id)
      await setImmediate()
    }
    expect((await closed).message).to.match(/has not read \d+ bytes that were said to it/)
  })

  it('rejects a question whose answer cannot be read', async () => {
    const { host, channel } = await ends()
    const asked = channel.ask('quote', []).then(String, String)
    host.write(frame([[1, 1, '#not a number']]))
    expect(await asked).to.match(/a number that is none/)
  })
})
