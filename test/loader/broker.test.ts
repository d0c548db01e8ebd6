import { expect } from 'chai'
import type { Head, RemoteReading } from '../../core/contracts/index.ts'
import { createBroker } from '../../core/loader/host/broker.ts'
import { keptLog } from './fixtures.ts'

const head: Head = { number: 7n, timestamp: 70, hash: `0x${'ab'.repeat(32)}` }
const { signal } = new AbortController()

/** A broker on a chain that has one block, and writes if it is asked to. */
function brokerOn(answer: unknown = { results: [] }) {
  const asked: string[] = []
  const note = (what: string) => void asked.push(what)
  const rail = new Proxy({}, { get: (_, name) => () => note(`rail.${String(name)}`) })
  const chain = { head: async () => head, heads: async function* () {}, reader: {}, rail, send: () => note('send') }
  const remote: RemoteReading<object> = { facts: () => ({}), answer: async () => answer, connect: () => ({}) }
  const broker = createBroker({
    // Of a chain what a broker uses, and what it must not use.
    chain,
    remote,
    network: 'ethereum/local',
    staleBlocks: 2,
    onHead: () => {},
    log: keptLog().log,
  })
  const ask = (method: string, ...args: readonly unknown[]) =>
    broker.answer(method, args, signal).then(
      () => 'answered',
      (error: unknown) => Reflect.get(Object(error), 'name'),
    )
  return { broker, ask, asked }
}

describe('what a host may ask of its chain', () => {
  it('is to read, and nothing that writes', async () => {
    const { ask, asked } = brokerOn()
    for (const method of ['send', 'rail.broadcast', 'eth_sendRawTransaction', 'reader', '__proto__', 'constructor'])
      expect(await ask(method, '0x'), method).to.equal('UNSUPPORTED')
    expect(asked).to.deep.equal([])
    expect(await ask('read', {})).to.equal('answered')
  })

  it('has a budget of questions', async () => {
    const { ask } = brokerOn()
    for (let count = 0; count < 2_000; count += 1) expect(await ask(count % 2 === 0 ? 'read' : 'head', {})).to.equal('answered')
    for (const method of ['read', 'head', 'changes']) expect(await ask(method, {}), method).to.equal('RATE_LIMIT')
  })

  it('has a budget of bytes', async () => {
    const { ask } = brokerOn({ results: [{ ok: true, data: 'x'.repeat(16 * 2 ** 20) }] })
    for (let count = 0; count < 4; count += 1) expect(await ask('read', {})).to.equal('answered')
    expect(await ask('read', {})).to.equal('RATE_LIMIT')
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
