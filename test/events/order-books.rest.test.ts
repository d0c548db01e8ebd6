import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import type { BookUpdate } from '../../core/contracts/index.ts'
import { createClient } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { until } from '../live-state/recorder.ts'
import { createToldExchange, level, marketOf } from '../live-state/told-exchange.ts'
import { follow, type Door, type Follower, type ReceivedEvent } from './client.ts'
import { inventBooks, sayBooks } from './invented-books.ts'
import { outcome } from '../http/shared-server.ts'

const asked = { topics: 'orderBook', connector: 'told-books', market: 'weth-usdc' }
const of = { chain: 'ethereum', network: 'local', connector: 'told-books', type: 'CLOB', market: 'WETH-USDC' }

describe('order books in /events', () => {
  let folder: string
  let server: TestServer
  const exchange = createToldExchange()
  const markets = { CLOB: [marketOf('WETH'), marketOf('WBTC')], PERP_CLOB: [marketOf('ETH', 'USD'), { ...marketOf('WETH'), id: 'perp' }] }
  const followers: Follower[] = []
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-books-'))
    await inventBooks(folder)
    server = await startServer({ plugins: [folder], trusted: ['told-books'] })
    await newClient(server.settings.ssl.certsDir, 'visitor')
    sayBooks({ markets, books: exchange.stream })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    for (const follower of followers.splice(0)) await follower.close()
    sequence += 1_000
  })
  const door = (name = 'client'): Door => ({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name })
  const listen = async (query: Record<string, string> = {}, name?: string) => {
    const follower = await follow(door(name), { ...asked, ...query })
    followers.push(follower)
    return follower
  }
  /** Books are kept between tests: what is told later has a higher number. */
  let sequence = 1
  const tell = (update: BookUpdate, id = 'WETH/USDC') => exchange.tell(id, update)
  const parts = (id: string) => id.split('-').map(Number)

  it('come when they change, the same to every stream, best first and up to the depth', async () => {
    const levels = Array.from({ length: 30 }, (_, index) => level(30 - index))
    const [one, two, top] = await Promise.all([
      listen(),
      listen({ ...of, market: 'WETH-USDC', topics: 'orderBook' }, 'visitor'),
      listen({ depth: '1' }),
    ])
    await until(() => exchange.isWatched('WETH/USDC'))
    const snapshot = exchange.book(sequence, levels, [level(31, 2), level(32)])
    tell(snapshot)
    const first = await one.hears('the snapshot', ({ data }) => data.sequence === sequence)
    expect(first).to.deep.include({ topic: 'orderBook' })
    expect(first.data).to.deep.equal({
      ...of,
      buys: levels.slice(0, 20),
      sells: [level(31, 2), level(32)],
      sequence,
      timestamp: snapshot.timestamp,
    })
    tell(exchange.change(sequence, { side: 'sells', ...level(31, 0) }, { side: 'buys', ...level(30.5, 7) }))
    const next = ({ data }: ReceivedEvent) => data.sequence === sequence + 1
    const [a, b, c] = await Promise.all([one, two, top].map((each) => each.hears('the change', next)))
    expect(a?.data).to.deep.equal(b?.data)
    expect(a?.data.buys[0]).to.deep.equal(level(30.5, 7))
    expect(c?.data).to.deep.include({ buys: [level(30.5, 7)], sells: [level(32)] })
    expect(exchange.watched).to.deep.equal(['WETH/USDC'])
    const answer = await server.client.get('/connectors')
    expect(outcome(answer)).to.equal('200')
  })

  it('have increasing ids; a client that reconnects gets only the current one', async () => {
    const follower = await listen({ topics: 'orderBook,transactions' })
    await until(() => exchange.isWatched('WETH/USDC'))
    tell(exchange.book(sequence))
    for (let i = 0; i < 3; i++) {
      await follower.hears('the one before', ({ data }) => data.sequence === sequence + i)
      tell(exchange.change(sequence + i, { side: 'buys', ...level(5, i + 1) }))
    }
    const last = await follower.hears('the last', ({ data }) => data.sequence === sequence + 3)
    const ids = follower.told.map(({ id }) => parts(id))
    expect(ids).to.deep.equal(ids.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d))
    expect(new Set(ids.map(String)).size).to.equal(ids.length)
    const again = await listen({ lastEventId: last.id })
    const now = await again.hears('the newest', () => true)
    expect(now.data).to.deep.equal(last.data)
    expect(parts(now.id)[1]).to.be.greaterThan(parts(last.id)[1] ?? 0)
    expect(again.told).to.have.length(1)
  })

  it('come as stale while there is no book, and again when there is one', async () => {
    const follower = await listen()
    await until(() => exchange.isWatched('WETH/USDC'))
    tell(exchange.book(sequence))
    await follower.hears('the book', ({ data }) => data.sequence === sequence)
    tell({ is: 'lost', reason: 'its websocket was cut' })
    const stale = await follower.hears('that it is stale', ({ data }) => data.stale === true)
    expect(stale.data).to.deep.equal({ ...of, stale: true, buys: [], sells: [], timestamp: stale.data.timestamp })
    tell(exchange.book(sequence + 1, [level(7)]))
    const back = await follower.hears('that it is back', ({ data }) => data.sequence === sequence + 1)
    expect(back.data).to.deep.include({ buys: [level(7)] })
    expect(back.data).to.not.have.property('stale')
  })

  it('can be of several markets in one stream, of the requested kind or the first that has the name', async () => {
    const follower = await listen({ market: 'WETH-USDC,wbtc-usdc,ETH-USD' })
    const perp = await listen({ type: 'PERP_CLOB' })
    for (const [index, id] of ['WETH/USDC', 'WBTC/USDC', 'ETH/USD', 'perp'].entries()) {
      await until(() => exchange.isWatched(id), id)
      tell(exchange.book(sequence + index), id)
    }
    const heard = await Promise.all([0, 1, 2].map((index) => follower.hears('it', ({ data }) => data.sequence === sequence + index)))
    expect(heard.map(({ data: { market, type } }) => [market, type])).to.deep.equal([
      ['WETH-USDC', 'CLOB'],
      ['WBTC-USDC', 'CLOB'],
      ['ETH-USD', 'PERP_CLOB'],
    ])
    const { data } = await perp.hears('the perpetual', ({ data: { type } }) => type === 'PERP_CLOB')
    expect([data.market, data.sequence]).to.deep.equal(['WETH-USDC', sequence + 3])
  })

  it('come as they are when the client reads, whatever came in between', async () => {
    const client = createClient(server.kernel.url, server.settings.ssl.certsDir)
    const response = await client.open('/events', asked)
    response.pause()
    await until(() => exchange.isWatched('WETH/USDC'))
    const deep = Array.from({ length: 20 }, (_, index) => level(`${900 - index}.${'1'.repeat(100)}`))
    for (let i = 0; i < 5_000; i++) {
      tell(exchange.book(sequence + i, deep, [level(1_000)]))
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    sequence += 5_000
    let text = ''
    response.on('data', (chunk: Buffer) => (text += chunk.toString())).resume()
    await until(() => text.includes(`"sequence":${sequence - 1}`), 'the newest')
    expect(text.match(/^event: orderBook$/gm)?.length).to.be.lessThan(4_000)
    response.destroy()
    client.close()
  })

  for (const [what, query, expected, field] of [
    ['no connector', { connector: '' }, '400 INCOMPLETE_PARAMS', 'connector'],
    ['no market', { market: '' }, '400 INCOMPLETE_PARAMS', 'market'],
    ['a kind that there is not', { type: 'AMM' }, '400 INCOMPLETE_PARAMS', 'type'],
    ['no depth', { depth: '0' }, '400 INCOMPLETE_PARAMS', 'depth'],
    ['an unknown connector', { connector: 'told-book' }, '404 UNKNOWN_CONNECTOR', undefined],
    ['an unknown market', { market: 'WETH-USDC,WETH-EUR' }, '404 UNKNOWN_ORDER', undefined],
    ['an unknown network', { network: 'goerli' }, '404 UNKNOWN_CHAIN_ERROR', undefined],
    ['a network that it does not serve', { chain: 'ethereum', network: 'mainnet' }, '404 UNKNOWN_CHAIN_ERROR', undefined],
    ['a kind that it has not', { type: 'MARGIN_CLOB' }, '501 UNSUPPORTED', undefined],
    ['a connector without order books', { connector: 'uniswap' }, '501 UNSUPPORTED', undefined],
  ] as const)
    it(`refuse ${what}`, async () => {
      const answer = await server.client.get('/events', { ...asked, ...query })
      expect(outcome(answer), answer.text).to.equal(expected)
      if (field !== undefined) expect(answer.body.details[0].field).to.equal(field)
    })
})
