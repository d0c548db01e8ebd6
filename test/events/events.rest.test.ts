import { expect } from 'chai'
import { eventTopics } from '../../core/api/index.ts'
import type { Client } from '../../testkit/client.ts'
import { startCutter } from './cutter.ts'
import { follow, type Door, type Follower, type ReceivedEvent } from './client.ts'
import { admins, local, outcome, sharedServer, swap, traders, type SharedServer } from '../http/shared-server.ts'

/** `123-4` as what it counts. */
const parts = (id: string) => id.split('-').map(Number)

describe('/events', function () {
  this.timeout(300_000)
  let server: SharedServer
  let client: Client
  const followers: Follower[] = []
  const door = (name = 'client'): Door => ({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name })
  const listen = async (query: Record<string, string> = {}, at = door()) => {
    const follower = await follow(at, query)
    followers.push(follower)
    return follower
  }
  const trade = async (fields: object = {}): Promise<string> => {
    const answer = await client.post('/amm/trade', { ...swap, base: 'ETH', amount: '0.001', address: admins, ...fields })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body.txHash
  }
  const of = (txHash: string) => (told: ReceivedEvent) => told.data.txHash === txHash
  const endOf = (txHash: string) => (told: ReceivedEvent) => told.data.txHash === txHash && told.data.txState === 'CONFIRMED'
  before(async () => {
    server = await sharedServer()
    client = server.client
  })
  afterEach(async () => {
    for (const follower of followers.splice(0)) await follower.close()
  })

  it('sends every change of a transaction as /transactions shows it, with increasing ids', async () => {
    const follower = await listen()
    const txHash = await trade()
    const last = await follower.hears('its end', endOf(txHash))
    const [now] = (await client.get('/transactions', { txHash })).body.transactions
    // How often it was sent is no event.
    expect(last.data).to.deep.equal({ ...now, attempts: last.data.attempts, updatedAt: last.data.updatedAt })
    expect(follower.told.filter(of(txHash)).map(({ data }) => data.txState)).to.include.members(['SIGNED', 'CONFIRMED'])
    const ids = follower.told.map(({ id }) => Number(id))
    expect(ids).to.deep.equal([...new Set(ids)].toSorted((a, b) => a - b))
  })

  it('sends missed events by header or query, without a gap and none twice', async () => {
    const first = await trade()
    const whole = await listen({ lastEventId: '0' })
    await whole.hears('its end', endOf(first))
    // What came behind it is for others to hear.
    const ids = whole.told.slice(0, whole.told.findIndex(endOf(first)) + 1).map(({ id }) => id)
    const middle = ids[Math.floor(ids.length / 2)] ?? ''
    const rest = ids.slice(ids.indexOf(middle) + 1)
    const byQuery = await listen({ lastEventId: middle })
    await byQuery.hears('its end', endOf(first))
    expect(byQuery.told.map(({ id }) => id).slice(0, rest.length)).to.deep.equal(rest)

    const response = await client.open('/events', { lastEventId: '0' }, { headers: { 'last-event-id': middle } })
    const text: string = await new Promise((resolve) => {
      let all = ''
      response.on('data', (chunk: Buffer) => {
        all += chunk.toString()
        if (all.includes(`id: ${rest.at(-1)}\n`)) resolve(all)
      })
    })
    response.destroy()
    expect([...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id).slice(0, rest.length + 1)).to.deep.equal([middle, ...rest])
  })

  it('loses and repeats nothing when connections are cut again and again during trades', async () => {
    const cutter = await startCutter(server.kernel.url)
    try {
      const follower = await listen({}, { ...door(), url: cutter.url })
      const start = follower.lastEventId
      const hashes: string[] = []
      for (let i = 0; i < 12; i++) {
        hashes.push(await trade({ address: i % 2 === 0 ? admins : traders }))
        if (i % 3 === 2) cutter.cut()
      }
      for (const txHash of hashes) await follower.hears('its end', endOf(txHash))
      const again = await listen({ lastEventId: start })
      for (const txHash of hashes) await again.hears('its end', endOf(txHash))
      const common = Math.min(follower.told.length, again.told.length)
      expect(follower.told.slice(0, common)).to.deep.equal(again.told.slice(0, common))
      expect(follower.opened).to.be.above(1)
    } finally {
      await cutter.stop()
    }
  })

  it('sends only the newest block to a client that reconnects, with ids that continue', async () => {
    const follower = await listen({ topics: 'blocks', ...local })
    const { data } = await follower.hears('a block', ({ topic }) => topic === 'blocks')
    expect(data).to.have.all.keys('chain', 'network', 'number', 'hash', 'timestamp')
    await server.rpc('anvil_mine', '0x3')
    const last = await follower.hears('a later block', (told) => told.data.number >= data.number + 3)
    await follower.close()
    // Who stays hears when the server knows of them.
    const witness = await listen({ topics: 'blocks', ...local })
    await server.rpc('anvil_mine', '0x3')
    await witness.hears('three blocks more', (told) => told.data.number >= last.data.number + 3)
    const again = await listen({ topics: 'blocks', ...local, lastEventId: last.id })
    const next = await again.hears('a block', () => true)
    expect(next.data.number).to.be.at.least(last.data.number + 3)
    const ids = [...follower.told.slice(0, follower.told.indexOf(last) + 1), next].map(({ id }) => parts(id))
    for (const [index, [change = 0, block = 0]] of ids.entries()) {
      const [changeBefore = 0, blockBefore = 0] = ids[index - 1] ?? []
      expect(change > changeBefore || (change === changeBefore && block > blockBefore), JSON.stringify(ids)).to.equal(true)
    }
  })

  it('sends several topics in one stream with increasing ids', async () => {
    const follower = await listen({ topics: 'transactions,blocks', ...local })
    const txHash = await trade()
    await follower.hears('its end', endOf(txHash))
    await follower.hears('a block', ({ topic }) => topic === 'blocks')
    const ids = follower.told.map(({ id }) => parts(id))
    expect(ids).to.deep.equal(ids.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d))
  })

  it('sends a certificate only events of its own wallets', async () => {
    const [theirs, all] = [await listen({}, door('trader')), await listen()]
    const unlisted = await listen({ topics: 'transactions,blocks' }, door('visitor'))
    const [foreign, own] = [await trade(), await trade({ address: traders })]
    await theirs.hears('its end', endOf(own))
    await all.hears('its end', endOf(foreign))
    expect(theirs.told.map(({ data }) => data.address)).to.deep.equal(theirs.told.map(() => traders))
    expect(unlisted.told.filter(({ topic }) => topic === 'transactions')).to.deep.equal([])
    const replayed = await listen({ lastEventId: '0' }, door('reader'))
    await replayed.hears('its end', endOf(own))
    expect(replayed.told.every(({ data }) => data.address === traders)).to.equal(true)
    expect(outcome(await server.as.trader.get('/events', { address: admins }))).to.equal('403 FORBIDDEN')
    expect(outcome(await server.as.idle.get('/events'))).to.equal('403 FORBIDDEN')
  })

  it('filters by wallet, in any letter case, and by network', async () => {
    const one = await listen({ address: traders.toUpperCase().replace('0X', '0x') })
    const elsewhere = await listen({ network: 'mainnet', chain: 'ethereum' })
    const [foreign, own] = [await trade(), await trade({ address: traders })]
    await one.hears('its end', endOf(own))
    expect(one.told.some(of(foreign))).to.equal(false)
    expect(elsewhere.told).to.deep.equal([])
  })

  for (const [what, query, expected, field] of [
    ['a topic that there is not', { topics: 'transactions,position' }, '400 INCOMPLETE_PARAMS', 'topics'],
    ['no topic', { topics: ',' }, '400 INCOMPLETE_PARAMS', 'topics'],
    ['an id that is none', { lastEventId: 'yesterday' }, '400 INCOMPLETE_PARAMS', 'lastEventId'],
    ['an id of another journal', { lastEventId: '999999999' }, '400 INCOMPLETE_PARAMS', 'lastEventId'],
    ['an unknown field', { topic: 'blocks' }, '400 INCOMPLETE_PARAMS', 'topic'],
    ['blocks of an unknown network', { topics: 'blocks', network: 'goerli' }, '404 UNKNOWN_CHAIN_ERROR', undefined],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const answer = await client.get('/events', query)
      expect(outcome(answer)).to.equal(expected)
      if (field === undefined) return
      expect(answer.body.details[0].field).to.equal(field)
      if (field === 'topics') for (const topic of eventTopics) expect(answer.body.message).to.contain(topic)
    })
  }

  for (const method of ['POST', 'HEAD', 'PUT', 'DELETE']) {
    it(`refuses ${method}`, async () => {
      const { status, headers } = await client.request(method, '/events')
      expect([status, headers.allow]).to.deep.equal([405, 'GET'])
    })
  }

  it('has the headers that proxies need', async () => {
    const response = await client.open('/events')
    expect(response.statusCode).to.equal(200)
    expect(response.headers).to.deep.include({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(response.headers).to.include.keys('x-request-id', 'sluice-api-version')
    response.destroy()
  })
})
