import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { openChannel, type Channel } from '../../core/plugins/isolate/channel.ts'
import type { Bounds } from '../../core/plugins/isolate/frames.ts'

const bounds: Bounds = {
  perSecond: { bytes: 10_000, messages: 20 },
  maxUnaskedFrameBytes: 1_000,
  maxUnaskedBytes: 2_000,
  maxFrameMs: 60_000,
  maxParts: { ofServing: 250, perByte: 0 },
  processor: { burstMs: 60_000, perSecondMs: 0, perAnswerMs: 0 },
}

/** The server's end of a channel, and the bare socket of a host that may write anything. */
async function ends(
  answer: (method: string, args: readonly unknown[]) => unknown = () => undefined,
  changed: Partial<Bounds> = {},
  more: { readonly plugin?: string; readonly maxFrameBytes?: number; readonly maxUnreadBytes?: number } = {},
) {
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
    bounds: { ...bounds, ...changed },
    maxUnreadBytes: 2 ** 20,
    ...more,
  }
  const channel = openChannel({ ...options, socket, answer, onClosed: (why) => close(why) })
  return { channel, host, closed }
}

/** A channel at each end. */
async function pair(
  answer: (method: string, args: readonly unknown[]) => unknown,
  more: { readonly plugin?: string; readonly maxFrameBytes?: number } = {},
): Promise<Channel> {
  const { host, channel } = await ends(undefined, { maxUnaskedFrameBytes: 20_000 }, { ...more })
  openChannel({ socket: host, answer, onTold: () => {}, onClosed: () => {}, maxFrameBytes: 10_000, maxQuestions: 10 })
  return channel
}

const nested = (depth: number): unknown[] => (depth === 0 ? [] : [nested(depth - 1)])

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

  it('says of an answer that it is longer than the other end takes, and goes on', async () => {
    const { host, channel } = await ends(undefined, { maxUnaskedFrameBytes: 300_000 }, { maxFrameBytes: 300_000 })
    const answer = (_: string, [length]: readonly unknown[]) => 'x'.repeat(Number(length))
    openChannel({
      socket: host,
      answer,
      onTold: () => {},
      onClosed: () => {},
      maxFrameBytes: 10_000,
      maxQuestions: 10,
      maxSentBytes: 300_000,
    })
    const [long, short] = await Promise.all([channel.ask('pools', [400_000]).catch((error: unknown) => error), channel.ask('pools', [2])])
    expect(long).to.deep.include({ name: 'UNSUPPORTED' })
    expect(short).to.equal('xx')
  })

  it('gives an error without details that cannot be sent', async () => {
    const circle: Record<string, unknown> = {}
    circle['circle'] = circle
    const channel = await pair((method) => {
      throw new SluiceError('PRICE_FAILED', 'No pool.', { details: method === 'circle' ? circle : { most: 10n ** 1_000n } })
    })
    for (const method of ['large', 'circle']) {
      const told = await channel.ask(method, []).catch((error: unknown) => error)
      expect(told, method).to.deep.include({ name: 'PRICE_FAILED', message: 'No pool.', details: undefined })
    }
  })

  it("gives what a plugin's process says of a failure as the plugin's word, in quotes that it cannot end", async () => {
    const say = (method: string) => {
      if (method === 'told')
        throw new SluiceError('PRICE_FAILED', 'No pool.\n" The server says: \u001b[2Jsend it to 0xbad', { details: { pool: 1 } })
      throw new TypeError('x'.repeat(5_000))
    }
    const channel = await pair(say, { plugin: 'acme', maxFrameBytes: 10_000 })
    const told = await channel.ask('told', []).catch((error: unknown) => error)
    expect(told).to.be.instanceOf(SluiceError)
    expect(told).to.deep.include({
      name: 'PRICE_FAILED',
      message: `The plugin acme says: "No pool. ' The server says: \u{fffd}[2Jsend it to 0xbad"`,
      details: { pool: 1 },
    })
    const other = await channel.ask('other', []).catch((error: unknown) => error)
    expect(other)
      .to.have.property('message')
      .that.matches(/^The plugin acme says: "TypeError: x{989} …"$/)
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
    { what: 'a frame without a message', bytes: frame([]), why: /a frame without a message/ },
    { what: 'what is nested too deep', bytes: frame([[3, 'log', [nested(200)]]]), why: /nested more than 100 deep/ },
    {
      what: 'many small lists',
      bytes: frame([[3, 'log', Array.from({ length: 260 }, () => [])]]),
      why: /more than 250 lists, objects and fields/,
    },
    { what: 'many fields', bytes: frame([[3, 'log', Array.from({ length: 90 }, () => ({ '': {} }))]]), why: /more than 250 lists/ },
    { what: 'too many messages', bytes: frame(Array.from({ length: 30 }, () => [3, 'log', []])), why: /more than 20 messages/ },
  ])
    it(`closes on ${what}, and tells who waits`, async () => {
      const { channel, host, closed } = await ends(never)
      const waiting = what.startsWith('an answer') ? undefined : channel.ask('quote', []).catch((error: unknown) => error)
      host.write(bytes)
      expect((await closed).message).to.match(why)
      if (waiting) expect(await waiting).to.equal(await closed)
    })

  it('counts nothing that is in a text', async () => {
    const texts = [`[{":`.repeat(60), `\\"[[[`.repeat(40), `\\\\`, `\\"`, '']
    const { channel, host } = await ends()
    const asked = channel.ask('quote', [])
    host.write(frame([[1, 1, { texts }]]))
    expect(await asked).to.deep.equal({ texts })
  })

  it('closes on an answer that is longer than what was asked for may be, before it is read', async () => {
    const { channel, host, closed } = await ends(never, { maxUnaskedFrameBytes: 100 })
    const asked = channel.ask('ping', ['a word'], undefined, 50).catch((error: unknown) => error)
    host.write(frame([[1, 1, 'x'.repeat(200)]]))
    expect((await closed).message).to.match(/a frame of \d+ bytes is over the bound of 150/)
    expect(await asked).to.equal(await closed)
  })

  it('says that the other end is gone where that ended without a word, so that its exit is told', async () => {
    const { channel, host, closed } = await ends(never)
    const asked = channel.ask('load', []).catch((error: unknown) => error)
    host.resetAndDestroy()
    expect((await closed).message).to.equal('the other end is gone')
    expect(await asked).to.equal(await closed)
  })

  it('counts what comes behind an answer as what nobody asked for', async () => {
    const { channel, host, closed } = await ends(never, { maxUnaskedBytes: 500 })
    const asked = channel.ask('ping', ['a word'], undefined, 50)
    host.write(
      frame([
        [1, 1, 'a word'],
        [3, 'log', ['x'.repeat(600)]],
      ]),
    )
    expect(await asked).to.equal('a word')
    expect((await closed).message).to.match(/more than 500 bytes within ten seconds that nobody asked for/)
  })

  it('takes an answer that comes too late as the one that was asked for', async () => {
    const { channel, host, closed } = await ends(never, { maxUnaskedFrameBytes: 100, maxUnaskedBytes: 100 })
    const over = new AbortController()
    const asked = channel.ask('pools', [], over.signal, 800).catch(String)
    over.abort(new Error('over'))
    host.write(frame([[1, 1, 'x'.repeat(700)]]))
    expect(await asked).to.match(/over/)
    const next = channel.ask('ping', ['a word'])
    host.write(frame([[1, 2, 'a word']]))
    expect(await next).to.equal('a word')
    host.write(frame([[1, 1, 'x'.repeat(150)]]))
    expect((await closed).message).to.match(/over the bound of 100/)
  })

  it('closes on a frame that comes byte by byte, for the time that it takes to read it', async () => {
    const { host, closed } = await ends(never, { processor: { burstMs: 1, perSecondMs: 0, perAnswerMs: 0 } })
    host.setNoDelay(true).on('error', () => {})
    let why: Error | undefined
    void closed.then((error) => (why = error))
    host.write(Buffer.from([0, 0, 3, 0]))
    for (let count = 0; count < 0x300 - 1 && !why; count += 1) {
      host.write('[')
      await setImmediate()
    }
    expect((await closed).message).to.match(/to read what it says, though nobody asked for it, takes more than 1 ms of processor time/)
  })

  it('closes on a frame that is never complete', async () => {
    const { host, closed } = await ends(never, { maxFrameMs: 1 })
    host.setNoDelay(true).on('error', () => {})
    let why: Error | undefined
    void closed.then((error) => (why = error))
    host.write(Buffer.from([0, 0, 3, 0]))
    while (!why) {
      host.write('[')
      await setImmediate()
    }
    expect(why.message).to.match(/a frame that was not complete within 0\.001 s/)
  })

  it('lets who answers much be read for as long as there were questions', async () => {
    const { channel, host } = await ends(never, {
      perSecond: { bytes: 2 ** 20, messages: 20 },
      processor: { burstMs: 1, perSecondMs: 0, perAnswerMs: 0.2 },
    })
    for (let id = 1; id <= 200; id += 1) {
      const asked = channel.ask('quote', [], undefined, 100)
      host.write(frame([[1, id, 'a price']]))
      expect(await asked).to.equal('a price')
    }
  })

  it('reads answers later that are more than is read within a second, and closes for none that was asked for', async () => {
    const { channel, host } = await ends(never, { perSecond: { bytes: 2_000, messages: 20 } })
    const asked = Array.from({ length: 6 }, async () => channel.ask('book', []))
    for (let id = 1; id <= 6; id += 1) host.write(frame([[1, id, 'x'.repeat(900)]]))
    expect(await Promise.all(asked)).to.deep.equal(Array.from({ length: 6 }, () => 'x'.repeat(900)))
  })

  it('closes where the other end asks and does not read, and takes an answer for what was asked only', async () => {
    let answers = 0
    const { host, channel, closed } = await ends(() => {
      answers += 1
      return 'x'.repeat(2 ** 20)
    })
    // It is cut off while it writes.
    host.pause().on('error', () => {})
    const asked = channel.ask('ping', ['a word'])
    host.write(frame([[1, 1, 'another']]))
    expect(await asked).to.equal('another')
    let isClosed = false
    void closed.then(() => (isClosed = true))
    for (let id = 1; id <= 64 && !isClosed; id += 1) {
      host.write(frame([[0, id, 'fetch', []]]))
      // One question at a time: more than two at once would close it for another reason.
      while (answers < id && !isClosed) await setImmediate()
      await setImmediate()
    }
    expect((await closed).message).to.match(/has not read \d+ bytes that were said to it/)
  })

  it('goes on where several long answers come at once to who reads them', async () => {
    const { host } = await ends(() => 'x'.repeat(3 * 2 ** 20), {}, { maxUnreadBytes: 2 * 2 ** 20 })
    const reader = openChannel({
      socket: host,
      answer: () => undefined,
      onTold: () => {},
      onClosed: () => {},
      maxFrameBytes: 2 ** 24,
      maxQuestions: 10,
    })
    const answers = await Promise.all([reader.ask('fetch', []), reader.ask('fetch', [])])
    expect(answers.map((each) => String(each).length)).to.deep.equal([3 * 2 ** 20, 3 * 2 ** 20])
  })

  it('rejects a question whose answer cannot be read', async () => {
    const { host, channel } = await ends()
    const asked = channel.ask('quote', []).then(String, String)
    host.write(frame([[1, 1, '#not a number']]))
    expect(await asked).to.match(/a number that is none/)
  })
})
