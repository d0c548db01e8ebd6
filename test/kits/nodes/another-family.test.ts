import { expect } from 'chai'
import { createRpc, sendToAll, type Rpc } from '../../../kits/nodes/rpc.ts'
import type { Dialect } from '../../../kits/nodes/dialect.ts'
import { startFakeNode, text, type NodeRequest, type Behaviour, type FakeNode } from '../evm/fake-node.ts'

const at = { signal: new AbortController().signal }
const moment = () => new Promise((resolve) => setTimeout(resolve, 10))

/** Integers are read as bigints, as exact as they are written. */
const exactly = (body: string): unknown =>
  JSON.parse(body.replaceAll(/([:[,])(-?\d+)(?=[,\]}])/g, '$1"int:$2"'), (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith('int:') ? BigInt(value.slice(4)) : value,
  )

/** Nodes of a chain whose networks have names, whose heads are steps without hashes, and whose numbers are beyond 2^53. */
const dialect: Dialect = {
  identity: {
    call: { method: 'whoAreYou', params: [] },
    fault(result) {
      if (result === 'home') return undefined
      return typeof result === 'string' ? { is: 'other', what: `is ${result}, not home` } : { is: 'garbage', what: 'has no name' }
    },
  },
  headCall: { method: 'step', params: [] },
  headIn(calls, answers) {
    const step = answers[calls.findIndex(({ method }) => method === 'step')]?.result
    return typeof step === 'bigint' ? { number: Number(step), timestamp: Number(step) * 2 } : undefined
  },
  sendCall: (raw) => ({ method: 'take', params: [raw, { again: false }] }),
  isPlausible: ({ method }, result) => method !== 'step' || typeof result === 'bigint',
  judge: ({ code }) => (code === -7 ? { is: 'trouble', kind: 'unreachable', ofNode: true } : { is: 'verdict' }),
  parse: exactly,
}

/** Answers each method with JSON as it is written here. */
function says(results: Readonly<Record<string, string>>): Behaviour {
  const answerTo = ({ id, method }: NodeRequest['calls'][number]) => {
    const told = { whoAreYou: '"home"', ...results }[method] ?? '{"code":-32601,"message":"no such method"}'
    return `{"jsonrpc":"2.0","id":${id},"${told.includes('"code"') ? 'error' : 'result'}":${told}}`
  }
  return ({ calls, batched }, response) => {
    const answers = calls.map(answerTo).join(',')
    text(batched ? `[${answers}]` : answers)({ calls, batched }, response)
  }
}

describe('nodes of a family that is not EVM', () => {
  let nodes: FakeNode[] = []
  let rpc: Rpc

  async function network(...results: readonly Readonly<Record<string, string>>[]): Promise<Rpc> {
    nodes = await Promise.all(results.map((each) => startFakeNode(says(each))))
    const rpcUrls = nodes.map(({ url }) => url)
    const health = { probeMs: 20, firstBackoffMs: 50, rollbackAfterMs: 5_000 }
    rpc = createRpc({ rpcUrls, dialect, timeoutMs: 30_000, health, log: { info() {}, warn() {} }, meter: { rpc() {} } })
    return rpc
  }
  afterEach(async () => {
    await rpc.stop()
    for (const node of nodes) await node.close()
  })

  const ask = (method: string) => rpc.request(method, [], at)
  async function answeredBy(name: string): Promise<void> {
    while ((await ask('name')) !== name) await moment()
  }

  it('tell their identity first, in the calls of the family', async () => {
    await network({ whoAreYou: '"abroad"', name: '"a"' }, { name: '"b"' })
    expect(await ask('name')).to.equal('b')
    expect(nodes.map(({ asked }) => asked[0])).to.deep.equal(['whoAreYou', 'whoAreYou'])
    expect(nodes[0]?.asked).to.not.include('name')
    expect(rpc.nodes()[0])
      .to.include({ state: 'wrong-chain' })
      .and.have.property('trouble')
      .that.matches(/ is abroad, not home$/)
  })

  it('have their integers read exactly, and still match ids and error codes', async () => {
    await network({ supply: '{"raw":18446744073709551615}', refused: '{"code":-3,"message":"no","data":{"units":9007199254740993}}' })
    expect(await ask('supply')).to.deep.equal({ raw: 18446744073709551615n })
    const [supply, refused] = await rpc.batch(
      ['supply', 'refused'].map((method) => ({ method, params: [] })),
      at,
    )
    expect(supply?.result).to.deep.equal({ raw: 18446744073709551615n })
    expect(refused?.error).to.deep.equal({ code: -3, message: 'no', data: { units: 9007199254740993n }, fault: { is: 'verdict' } })
  })

  it('step aside only for errors that the family reads as failures of a node', async () => {
    await network({ name: '{"code":-7,"message":"zzz"}' }, { name: '"b"', refused: '{"code":-32005,"message":"no"}' })
    expect(await ask('name')).to.equal('b')
    const [answer] = await rpc.batch([{ method: 'refused', params: [] }], at)
    expect(answer?.error?.code).to.equal(-32005)
    expect(nodes[1]?.asked).to.include('refused')
  })

  it('need no hash of a head to be compared, and get no questions about forks', async () => {
    await network({ name: '"a"', step: '100' }, { name: '"b"', step: '110' })
    await answeredBy('b')
    expect(rpc.nodes()[0]).to.include({ state: 'lagging', headNumber: 100, lagBlocks: 10 })
    nodes[0]?.behave(says({ name: '"a"', step: '110' }))
    await answeredBy('a')
    for (const { asked } of nodes) expect(new Set(asked)).to.have.all.keys('whoAreYou', 'step', 'name')
  })

  it('make a lower head count only after a while', async () => {
    await network({ step: '100' })
    await ask('step')
    nodes[0]?.behave(says({ step: '90' }))
    const [first] = await rpc.batch([dialect.headCall], at)
    expect(first).to.deep.equal({ result: 90n, behind: 10 })
    while (rpc.behind(90n) > 0) {
      await moment()
      await ask('step')
    }
    expect((await rpc.batch([dialect.headCall], at))[0]).to.deep.equal({ result: 90n })
  })

  it('give way to another node after an impossible answer', async () => {
    await network({ step: '"soon"' }, { step: '7' })
    expect(await ask('step')).to.equal(7n)
  })

  it('get signed bytes in the calls of the family, also after garbage instead of their identity', async () => {
    await network({ take: '"id"' })
    const send = () =>
      sendToAll(
        rpc,
        { id: 'id', raw: 'bytes' },
        { isAccepted: (result) => result === 'id', error: ({ message }) => ({ is: 'refused', reason: message }) },
        at,
      )
    expect(await send()).to.include({ is: 'accepted' })
    nodes[0]?.behave(says({ whoAreYou: '7', take: '"id"' }))
    await nodes[0]?.dropConnections()
    await ask('name').catch(() => {})
    expect(rpc.nodes()[0]).to.include({ state: 'wrong-chain' })
    expect(await send()).to.include({ is: 'accepted' })
    nodes[0]?.behave(says({ take: '{"code":-3,"message":"broke"}' }))
    expect(await send()).to.deep.equal({ is: 'refused', reason: 'broke' })
    nodes[0]?.behave(says({ take: '9007199254740993' }))
    expect(await send()).to.deep.equal({
      is: 'unclear',
      reason: 'a node did not answer with the hash: "9007199254740993"',
    })
  })
})
