import { expect } from 'chai'
import type { Head } from '../../../core/contracts/index.ts'
import { readBlock, evmRpc } from '../../../kits/evm/rpc.ts'
import type { HealthPolicy } from '../../../kits/nodes/settings.ts'
import { createHeadFeed } from '../../../kits/nodes/head-feed.ts'
import { ask, type Rpc } from '../../../kits/nodes/rpc.ts'
import { checked, error, fakeBlock, hangUp, json, startFakeNode, status, type Behaviour, type FakeNode } from '../evm/fake-node.ts'
import { at } from '../evm/test-chain.ts'

const latest = { method: 'eth_getBlockByNumber', params: ['latest', false] }
const moment = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A node with a chain: its head, and on which branch it is from a block on. Every call but for blocks is answered with its name. */
function chainOf(name: string, head: number, { branch = '', from = 0 } = {}): Behaviour {
  const hash = (number: number) => `${number >= from ? branch : ''}${number.toString(16)}`.padStart(64, '0')
  return checked(({ calls, batched }, response) => {
    const answers = calls.map(({ id, method, params }) => {
      const number = params[0] === 'latest' ? head : Number(params[0])
      const result = method === 'eth_getBlockByNumber' ? (number > head ? null : fakeBlock(number, { hash: hash(number) })) : name
      return { jsonrpc: '2.0', id, result }
    })
    json(response, batched ? answers : answers[0])
  })
}

describe('a network with several nodes', () => {
  let nodes: FakeNode[] = []
  let rpc: Rpc
  let said: string[] = []

  async function network(behaviours: readonly Behaviour[], health: Partial<HealthPolicy> = {}): Promise<Rpc> {
    nodes = await Promise.all(behaviours.map((behaviour) => startFakeNode(behaviour)))
    const hear = (fields: object, message?: string) => void said.push(`${JSON.stringify(fields)} ${message}`)
    rpc = evmRpc({
      rpcUrls: nodes.map(({ url }) => url),
      chainId: 1,
      timeoutMs: 30_000,
      // None is slow because the machine is, unless that is what is tried.
      health: { probeMs: 20, slowMs: 60_000, ...health },
      log: { info: hear, warn: hear },
      meter: { rpc() {} },
    })
    return rpc
  }
  afterEach(async () => {
    await rpc.stop()
    for (const node of nodes) await node.close()
    said = []
  })

  const whoAnswers = () => rpc.request('test_name', [], at)
  const state = (index: number) => rpc.nodes()[index]?.state

  /** Asks until that node answers; the test's own limit ends it. */
  async function answeredBy(name: string): Promise<void> {
    while ((await whoAnswers()) !== name) await moment(10)
  }

  /** Until every node was compared. */
  async function compared(): Promise<void> {
    while (rpc.nodes().some(({ headNumber }) => headNumber === undefined)) {
      await whoAnswers()
      await moment(10)
    }
  }

  it('tells two keys of one provider apart, and shows neither', async () => {
    nodes = [await startFakeNode(chainOf('one', 100))]
    const keys = ['a1b2c3d4e5f60718293a4b5c6d7e8f90', 'b1b2c3d4e5f60718293a4b5c6d7e8f91']
    const log = { info() {}, warn() {} }
    const rpcUrls = keys.map((key) => `${nodes[0]?.url}/v3/${key}`)
    rpc = evmRpc({ rpcUrls, chainId: 1, timeoutMs: 30_000, log, meter: { rpc() {} } })
    const [first, second] = rpc.nodes().map(({ url }) => url)
    expect(second).to.equal(`${first} #2`)
    for (const key of keys) expect(`${first} ${second}`).to.not.contain(key)
  })

  it('asks the first node while all are healthy', async () => {
    await network([chainOf('a', 100), chainOf('b', 101), chainOf('c', 99)])
    await compared()
    for (let count = 0; count < 20; count += 1) {
      expect(await whoAnswers()).to.equal('a')
      await moment(5)
    }
    expect(rpc.nodes().map(({ state }) => state)).to.deep.equal(['good', 'good', 'good'])
  })

  it('avoids a lagging node, and returns to it when it has caught up', async () => {
    await network([chainOf('a', 100), chainOf('b', 100)])
    await compared()
    nodes[1]?.behave(chainOf('b', 104))
    await answeredBy('b')
    expect(state(0)).to.equal('lagging')
    expect(rpc.nodes()[0]).to.include({ headNumber: 100, lagBlocks: 4, inUse: false })
    nodes[0]?.behave(chainOf('a', 105))
    await answeredBy('a')
    // That is told once the others have answered, too.
    while (!/healthy again/.test(said.join())) await moment(10)
    expect(said.join()).to.match(/"is":"lagging".* degraded: others are preferred.* healthy again/)
  })

  it('takes the answer of another node within the same call when the first one lags', async () => {
    // Nobody compares in the background: it is learnt from the answers alone.
    await network([chainOf('a', 100), chainOf('b', 100)], { probeMs: 1_000_000 })
    await compared()
    nodes[0]?.behave(hangUp)
    nodes[1]?.behave(chainOf('b', 110))
    await rpc.batch([latest], at)
    while (state(0) !== 'good') {
      nodes[0]?.behave(chainOf('a', 104))
      await whoAnswers()
      await moment(20)
    }
    const [block, name] = await rpc.batch([latest, { method: 'test_name', params: [] }], at)
    expect(block?.result).to.include({ number: '0x6e' })
    expect(name).to.deep.equal({ result: 'b' })
    expect(state(0)).to.equal('lagging')
  })

  it('prefers after a failover a node that has the head which was already given out', async () => {
    await network([chainOf('a', 100), chainOf('b', 98), chainOf('c', 100)])
    await compared()
    await rpc.batch([latest], at)
    nodes[0]?.behave(checked(status(500)))
    const answers = await rpc.batch([latest, { method: 'test_name', params: [] }], at)
    expect(answers[1]).to.deep.equal({ result: 'c' })
  })

  it('says how much older an answer is than one given out before, where no node is better', async () => {
    await network([chainOf('a', 100), chainOf('b', 90)])
    await compared()
    await rpc.batch([latest], at)
    nodes[0]?.behave(checked(hangUp))
    expect((await rpc.batch([latest], at))[0]).to.have.property('behind', 10)
    expect((await rpc.batch([{ method: 'test_name', params: [] }], at))[0]).to.deep.equal({ result: 'b', behind: 10 })
    nodes[1]?.behave(chainOf('b', 101))
    expect((await rpc.batch([latest], at))[0]).to.not.have.property('behind')
  })

  it('avoids a node on a minority fork', async () => {
    const fork = { branch: 'f', from: 50 }
    await network([chainOf('a', 100, fork), chainOf('b', 100), chainOf('c', 100)])
    await answeredBy('b')
    expect(state(0)).to.equal('forked')
    nodes[0]?.behave(chainOf('a', 101))
    await answeredBy('a')
  })

  it('does not treat different newest blocks as a fork', async () => {
    await network([chainOf('a', 100, { branch: 'f', from: 95 }), chainOf('b', 100), chainOf('c', 100)])
    await compared()
    for (let count = 0; count < 10; count += 1) {
      expect(await whoAnswers()).to.equal('a')
      await moment(10)
    }
  })

  it('asks a forked or lagging node when there is no other', async () => {
    await network([chainOf('a', 50), chainOf('b', 100)])
    await compared()
    nodes[1]?.behave(hangUp)
    await answeredBy('a')
  })

  it('avoids a node that is far slower than another, and returns to it when it is fast again', async () => {
    const late: Behaviour = (asked, response) => void setTimeout(() => chainOf('a', 100)(asked, response), 600)
    await network([late, chainOf('b', 100)], { slowMs: 100 })
    await answeredBy('b')
    expect(state(0)).to.equal('slow')
    nodes[0]?.behave(chainOf('a', 100))
    await answeredBy('a')
  })

  it("keeps the operator's order when all nodes are slow", async () => {
    const late =
      (name: string): Behaviour =>
      (asked, response) =>
        void setTimeout(() => chainOf(name, 100)(asked, response), 200)
    await network([late('a'), late('b')], { slowMs: 40 })
    await compared()
    expect(await whoAnswers()).to.equal('a')
    expect(state(0)).to.equal('good')
  })

  it('avoids a node that answers only identity and head, with growing backoff', async () => {
    const broken: Behaviour = (asked, response) =>
      (asked.calls.some(({ method }) => method === 'test_name') ? status(502) : chainOf('a', 100))(asked, response)
    await network([broken, chainOf('b', 100)], { probeMs: 1_000_000 })
    const begun = performance.now()
    while (performance.now() - begun < 1500) {
      expect(await whoAnswers()).to.equal('b')
      await moment(5)
    }
    // After 250, 500 and 1000 ms, and not every time that it says its chain id.
    const tries = nodes[0]?.asked.filter((method) => method === 'test_name').length
    expect(tries).to.be.within(1, 4)
  })

  it('asks another node in the same call when the first has lost the state, and says so where there is no other', async () => {
    const without: Behaviour = (asked, response) =>
      (asked.calls.some(({ method }) => method === 'test_name') ? checked(error(-32000, 'missing trie node')) : chainOf('a', 100))(
        asked,
        response,
      )
    await network([without, chainOf('b', 100)])
    while (rpc.nodes().some(({ state }) => state !== 'good')) {
      await rpc.batch([latest], at)
      await moment(10)
    }
    expect(await ask(rpc, 'test_name', [], at)).to.equal('b')
    nodes[1]?.behave(hangUp)
    for (const _ of [1, 2]) {
      await moment(300)
      expect(await ask(rpc, 'test_name', [], at).catch((thrown: unknown) => thrown))
        .to.have.property('message')
        .that.matches(/missing trie node/)
    }
  })

  it('makes no additional call with a single node', async () => {
    await network([chainOf('a', 100)], { probeMs: 0 })
    for (let count = 0; count < 5; count += 1) {
      await whoAnswers()
      await moment(10)
    }
    expect(nodes[0]?.asked).to.deep.equal(['eth_chainId', ...Array.from({ length: 5 }, () => 'test_name')])
  })

  it('compares its nodes only while it is in use', async () => {
    await network([chainOf('a', 100), chainOf('b', 100)])
    await compared()
    const asked = () => nodes.map(({ requests }) => requests).join()
    // What was begun while somebody asked comes to its end.
    for (let before = ''; before !== asked();) {
      before = asked()
      await moment(200)
    }
  })

  it('reports the status of each node', async () => {
    await network([chainOf('a', 100), chainOf('b', 104), checked(status(429))])
    await answeredBy('b')
    while (rpc.nodes()[2]?.state === 'unchecked') await moment(10)
    const [a, b, c] = rpc.nodes()
    expect(a).to.deep.include({
      url: nodes[0]?.url,
      state: 'lagging',
      inUse: false,
      reads: true,
      headNumber: 100,
      lagBlocks: 4,
      errorRate: 0,
    })
    expect(b).to.deep.include({ state: 'good', inUse: true, headNumber: 104, lagBlocks: 0 }).and.have.property('latencyMs').that.is.above(0)
    expect(c).to.have.property('state').that.is.oneOf(['rate-limited', 'good'])
    expect(c?.errorRate).to.be.above(0)
  })

  describe('whose heads are followed', () => {
    let heads: Head[]
    let stop: AbortController
    let following: Promise<void>

    let feed: ReturnType<typeof createHeadFeed>
    let polls: number
    let clockMs: number

    function follow(): void {
      heads = []
      polls = 0
      clockMs = 0
      stop = new AbortController()
      feed = createHeadFeed({
        rpc,
        async poll() {
          polls += 1
          return readBlock(rpc, (await rpc.batch([latest], at))[0]?.result ?? (await ask(rpc, 'eth_getBlockByNumber', latest.params, at)))
        },
        pollingMs: 10,
        log: { info() {}, warn() {} },
        nowMs: () => clockMs,
      })
      following = (async () => {
        for await (const head of feed(stop.signal)) heads.push(head)
      })()
    }
    afterEach(async () => {
      stop.abort()
      await following
    })

    const numbers = () => heads.map(({ number }) => Number(number))
    async function heard(number: number): Promise<void> {
      while (numbers().at(-1) !== number) await moment(10)
    }

    it('ignores heads of a lagging node, and continues when it has caught up', async () => {
      await network([chainOf('a', 10), chainOf('b', 7)])
      await compared()
      follow()
      await heard(10)
      nodes[0]?.behave(hangUp)
      for (const head of [7, 8, 9, 10]) {
        nodes[1]?.behave(chainOf('b', head))
        await moment(60)
      }
      expect(numbers()).to.deep.equal([10])
      nodes[1]?.behave(chainOf('b', 11))
      await heard(11)
      expect(numbers()).to.deep.equal([10, 11])
    })

    it('yields a lower head at once after a reorganisation', async () => {
      await network([chainOf('a', 9)])
      follow()
      await heard(9)
      nodes[0]?.behave(chainOf('a', 10))
      await heard(10)
      nodes[0]?.behave(chainOf('a', 9, { branch: 'f', from: 9 }))
      await heard(9)
      expect(numbers()).to.deep.equal([9, 10, 9])
    })

    it('yields an older head after a while when the chain was set back', async () => {
      await network([chainOf('a', 20)], { rollbackAfterMs: 200 })
      follow()
      await heard(20)
      nodes[0]?.behave(chainOf('a', 5))
      await heard(5)
      expect(numbers()).to.deep.equal([20, 5])
    })

    /** Until the feed waits for as long as it ever does, and the node may be asked by others. */
    async function awayForLong(): Promise<void> {
      await network([checked(status(500))], { firstBackoffMs: 1 })
      follow()
      while (polls < 2) await moment(10)
      clockMs = 60_000
      for (let before = 0; before < polls; await moment(300)) before = polls
    }

    /** Or not, in a time that is far below the feed's longest pause. */
    async function heardSoon(of: readonly Head[]): Promise<void> {
      for (let moments = 0; of.length === 0 && moments < 200; moments += 1) await moment(10)
    }

    it('asks a network that stays away less and less often', async () => {
      await awayForLong()
      const before = polls
      await moment(1_500)
      expect(polls).to.equal(before)
    })

    it('yields the head of a network that was away as soon as another question finds it again', async () => {
      await awayForLong()
      nodes[0]?.behave(chainOf('a', 7))
      await whoAnswers()
      await heardSoon(heads)
      expect(numbers()).to.deep.equal([7])
    })

    it('asks a network that was away at once for a new follower', async () => {
      await awayForLong()
      nodes[0]?.behave(chainOf('a', 7))
      const others: Head[] = []
      const other = (async () => {
        for await (const head of feed(stop.signal)) others.push(head)
      })()
      await heardSoon(others)
      expect(others.map(({ number }) => number)).to.deep.equal([7n])
      stop.abort()
      await other
    })

    it('yields only the newest head to a slow follower', async () => {
      await network([chainOf('a', 1)])
      follow()
      await heard(1)
      nodes[0]?.behave(checked(status(500)))
      await moment(50)
      nodes[0]?.behave(chainOf('a', 500))
      await heard(500)
      expect(numbers()).to.deep.equal([1, 500])
    })
  })
})
