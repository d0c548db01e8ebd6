import { expect } from 'chai'
import type { Head, RemoteReading } from '../../core/contracts/index.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { createBroker } from '../../core/plugins/isolate/broker.ts'
import { keptLog } from './fixtures.ts'

const head: Head = { number: 7n, timestamp: 70, hash: `0x${'ab'.repeat(32)}` }
const { signal } = new AbortController()
const failing = async () => {
  throw new Error('Shared nodes are asked.')
}

/** A broker on a chain that has one block, and writes if it is asked to. */
function brokerOn(
  answer: unknown = { results: [] },
  isolated?: RemoteReading<object>['isolated'],
  read?: RemoteReading<object>['answer'],
  heads: () => AsyncIterable<Head> = async function* () {},
  onHead: (told: Head) => void = () => {},
) {
  let newest = head
  const asked: string[] = []
  const note = (what: string) => void asked.push(what)
  const rail = new Proxy({}, { get: (_, name) => () => note(`rail.${String(name)}`) })
  const chain = { head: async () => newest, heads, changes: failing, reader: {}, rail, send: () => note('send') }
  const remote: RemoteReading<object> = {
    facts: () => ({}),
    answer: read ?? (async () => answer),
    connect: () => ({}),
    ...(isolated && { isolated }),
  }
  const broker = createBroker({
    // Of a chain what a broker uses, and what it must not use.
    chain,
    remote,
    network: 'ethereum/local',
    staleBlocks: 2,
    onHead,
    log: keptLog().log,
  })
  const ask = (method: string, ...args: readonly unknown[]) =>
    broker.answer(method, args, signal).then(
      () => 'answered',
      (error: unknown) => Reflect.get(Object(error), 'name'),
    )
  const moveTo = (next: Head) => {
    newest = next
  }
  return { broker, ask, asked, moveTo }
}

describe('what a host may ask of its chain', () => {
  it('covers reads, and nothing that writes', async () => {
    const { ask, asked } = brokerOn()
    for (const method of ['send', 'rail.broadcast', 'eth_sendRawTransaction', 'reader', '__proto__', 'constructor'])
      expect(await ask(method, '0x'), method).to.equal('UNSUPPORTED')
    expect(asked).to.deep.equal([])
    expect(await ask('read', {})).to.equal('answered')
  })

  it('has a budget of questions', async () => {
    const { ask } = brokerOn()
    // Most of them wait for their turn, which is longer than this test.
    const asked = Array.from({ length: 2_000 }, (_, count) => ask(count % 2 === 0 ? 'read' : 'head', {}))
    for (const each of await Promise.all(asked.slice(0, 200))) expect(each).to.equal('answered')
    for (const method of ['read', 'head', 'changes']) expect(await ask(method, {}), method).to.equal('RATE_LIMIT')
  })

  it('answers a host that asks all the time no faster than 200 questions a second', async () => {
    const { ask } = brokerOn()
    let answered = 0
    const asked = Array.from({ length: 300 }, async () => {
      await ask('read', {})
      answered += 1
    })
    await Promise.all(asked.slice(0, 200))
    expect(answered).to.be.below(300)
    await Promise.all(asked)
  })

  it('has a budget of bytes', async () => {
    const { ask } = brokerOn({ results: [{ ok: true, data: 'x'.repeat(16 * 2 ** 20) }] })
    for (let count = 0; count < 4; count += 1) expect(await ask('read', {})).to.equal('answered')
    expect(await ask('read', {})).to.equal('RATE_LIMIT')
  })

  it('has a budget of calls to nodes, and a failure costs many', async () => {
    let [left, fails] = [0, false]
    const isolated = (_: object, take: (calls: number) => void) => ({ reader: { take } })
    const { ask } = brokerOn({}, isolated, async (reader) => {
      Reflect.get(reader, 'take')(500)
      left += 1
      if (fails) throw new SluiceError('NETWORK', 'No node answered.')
      return {}
    })
    for (let count = 0; count < 3; count += 1) expect(await ask('read', {})).to.equal('answered')
    fails = true
    expect(await ask('read', {})).to.equal('NETWORK')
    expect(await ask('read', {})).to.equal('RATE_LIMIT')
    expect(left).to.equal(4)
    expect(await ask('head')).to.equal('RATE_LIMIT')
  })

  it('reads at no block that nobody was told of', async () => {
    const asked: unknown[] = []
    const { ask } = brokerOn({}, undefined, async (_, question) => asked.push(question))
    const after = { number: 7n, timestamp: 5 }
    expect(await ask('read', { do: 'read', calls: [], after })).to.equal('NETWORK')
    await ask('head')
    expect(await ask('read', { do: 'read', calls: [], after: { ...head, timestamp: 71 } })).to.equal('NETWORK')
    expect(asked).to.deep.equal([])
    expect(await ask('read', { do: 'read', calls: [], after: { ...head, more: 1 } })).to.equal('answered')
    expect(asked).to.deep.equal([{ do: 'read', calls: [], after: head }])
  })

  it('follows events by nodes of its own, and not too many at once', async () => {
    let read = 0
    const far = { ...head, number: head.number + 256n }
    const isolated = (reader: object) => ({ reader, changes: async () => ((read += 1), []) })
    const { ask, moveTo } = brokerOn({}, isolated)
    await ask('head')
    moveTo(far)
    await ask('head')
    const names = (count: number) => Array.from({ length: count }, () => `0x${'11'.repeat(20)}`)
    expect(await ask('changes', head, far, [], names(500))).to.equal('answered')
    expect(read).to.equal(1)
    expect(await ask('changes', head, far, [], names(1_000))).to.equal('answered')
    expect(read).to.equal(1)
  })

  it('goes on to tell heads after they could not be followed', async () => {
    let times = 0
    const told = await new Promise<Head>((resolve) => {
      const heads = async function* () {
        times += 1
        if (times === 1) throw new Error('The subscription broke.')
        if (times > 2) yield head
      }
      const { broker, ask } = brokerOn({}, undefined, undefined, heads, (each) => {
        broker.reset()
        resolve(each)
      })
      void ask('follow')
    })
    expect(told).to.deep.equal(head)
  })

  it('gives no answer for a block that nobody was told of', async () => {
    const { broker, ask } = brokerOn()
    expect(() => broker.acceptNumber(7n)).to.throw(/does not know/)
    await ask('head')
    broker.acceptNumber(7n)
    expect(broker.accept({ ...head })).to.deep.equal(head)
    expect(() => broker.accept({ ...head, timestamp: 71 })).to.throw(/does not know/)
  })
})
