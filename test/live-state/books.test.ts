import { expect } from 'chai'
import { SluiceError } from '../../core/api/index.ts'
import type { Chain } from '../../core/contracts/index.ts'
import { createBooks, type Books, type BooksOptions } from '../../core/live-state/books.ts'
import type { BookVenue, BookView, LatestBook } from '../../core/live-state/book-feed.ts'
import { createSynchronisers } from '../../core/live-state/synchroniser.ts'
import { keeping } from './keeping.ts'
import { createRecorder, until } from './recorder.ts'
import { createToldExchange, level, marketOf, type ToldExchange } from './told-exchange.ts'

const at = { signal: new AbortController().signal }
const market = marketOf('WETH')
const { id } = market

describe('books that exchanges stream', function () {
  this.timeout(60_000)
  let exchange: ToldExchange
  let venue: BookVenue
  let books: Books
  let told: string[]
  const start = (options: Partial<BooksOptions> = {}) => {
    books?.stop()
    exchange = createToldExchange()
    const recorder = createRecorder()
    told = recorder.told
    venue = {
      chain: 'ethereum',
      network: 'local',
      connector: 'dex',
      type: 'CLOB',
      books: exchange.stream,
      // Nothing is asked of the chain.
      chainImpl: {} as Chain,
    }
    const { telemetry } = recorder
    const following = createSynchronisers({ telemetry, ...keeping })
    books = createBooks({ following, telemetry, staleSeconds: 60, checkSeconds: 3600, idleSeconds: 3600, maxBooks: 10, ...options })
  }
  beforeEach(() => start())
  afterEach(() => books.stop())
  const prices = ({ buys, sells }: BookView) =>
    [buys, sells].map((side) => side.map(({ price, quantity }) => `${quantity}@${price}`).join(' '))
  const read = async () => prices(await books.book(venue, market, at))
  const refusal = () =>
    books.book(venue, market, at).then(
      () => expect.fail('there is a book'),
      (error: unknown) => error,
    )
  const eventually = async (expected: readonly string[]) => {
    const end = Date.now() + 40_000
    for (let now: unknown; JSON.stringify(now) !== JSON.stringify(expected); now = await read().catch(() => undefined)) {
      if (Date.now() > end) expect(now).to.deep.equal(expected)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const begun = async () => {
    const reading = books.book(venue, market, at)
    exchange.tell(id, exchange.book(1))
    return reading
  }

  it('returns the book once it has arrived, and the same object until it changes', async () => {
    const first = await begun()
    expect(first).to.include({ sequence: 1 })
    expect(await books.book(venue, market, at)).to.equal(first)
    expect(exchange.watched).to.deep.equal([id])
    exchange.tell(id, exchange.change(1, { side: 'buys', ...level(9.5, 2) }))
    expect(await read()).to.deep.equal(['2@9.5 1@9', '1@10'])
    expect(prices(first)).to.deep.equal(['1@9', '1@10'])
    expect(exchange.asked).to.deep.equal([])
  })

  it('returns the time of the last heartbeat as the time of the book', async () => {
    const { timestamp } = await begun()
    exchange.tell(id, { is: 'alive', timestamp: timestamp + 5_000 })
    expect(await books.book(venue, market, at)).to.include({ sequence: 1, timestamp: timestamp + 5_000 })
  })

  it('asks for a snapshot if an update is missing, and shows no book until the gap is repaired', async () => {
    await begun()
    let answer: (told: ReturnType<ToldExchange['book']>) => void = () => {}
    exchange.answer(id, () => new Promise((resolve) => (answer = resolve)))
    exchange.tell(id, exchange.change(2, { side: 'buys', ...level(8, 3) }))
    expect(exchange.asked).to.deep.equal([id])
    let shown = false
    const reading = read().finally(() => (shown = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(shown).to.equal(false)
    answer(exchange.book(2, [level(7)], [level(11)]))
    expect(await reading).to.deep.equal(['3@8 1@7'.split(' ').toSorted().toReversed().join(' '), '1@11'])
    expect(told).to.deep.equal(['gap dex WETH/USDC'])
  })

  it('refuses reads with Retry-After while the exchange is away, until its next snapshot', async () => {
    await begun()
    exchange.tell(id, { is: 'lost', reason: 'its websocket was cut' })
    const error = await refusal()
    expect(error).to.include({ name: 'NETWORK', retryAfterSeconds: 1 })
    expect(error).to.have.property('message').that.contains('its websocket was cut')
    exchange.tell(id, exchange.book(1, [level(5)]))
    expect(await read()).to.deep.equal(['1@5', '1@10'])
  })

  it('ignores a snapshot that was requested before the exchange went away', async () => {
    await begun()
    let answer: (told: ReturnType<ToldExchange['book']>) => void = () => {}
    exchange.answer(id, () => new Promise((resolve) => (answer = resolve)))
    exchange.tell(id, exchange.change(2, { side: 'buys', ...level(8) }))
    exchange.tell(id, { is: 'lost', reason: 'its websocket was cut' })
    answer(exchange.book(3))
    await new Promise((resolve) => setImmediate(resolve))
    expect(await refusal()).to.include({ name: 'NETWORK' })
  })

  it('refuses reads after too long without a message, until a snapshot arrives', async () => {
    start({ staleSeconds: 0.5 })
    await begun()
    exchange.answer(id, () => Promise.reject(new SluiceError('NETWORK', 'nobody answers')))
    await until(() => told.includes('lost dex WETH/USDC'))
    const error = await refusal()
    expect(error).to.include({ name: 'NETWORK', retryAfterSeconds: 1 })
    exchange.answer(id, async () => exchange.book(1, [level(6)]))
    await eventually(['1@6', '1@10'])
  })

  it('reports and counts an invalid book, never shows it, and repairs it by a snapshot', async () => {
    await begun()
    let heal: (told: ReturnType<ToldExchange['book']>) => void = () => {}
    exchange.answer(id, () => new Promise((resolve) => (heal = resolve)))
    exchange.tell(id, exchange.change(1, { side: 'buys', ...level(10) }))
    expect(told).to.deep.equal(['defect dex WETH/USDC'])
    const reading = read()
    heal(exchange.book(2, [level(9.9)]))
    expect(await reading).to.deep.equal(['1@9.9', '1@10'])
  })

  it('subscribes again if a stream ends or fails, and ignores updates of the old stream', async () => {
    await begun()
    const old = exchange.sinkOf(id)
    exchange.answer(id, () => Promise.reject(new Error('not now')))
    exchange.end(id)
    await until(() => told.includes('lost dex WETH/USDC'))
    expect(await refusal()).to.include({ name: 'NETWORK' })
    await until(() => exchange.watched.length === 2)
    old?.(exchange.book(99, [level(1)]))
    expect(await refusal()).to.include({ name: 'NETWORK' })
    exchange.tell(id, exchange.book(7))
    expect(await read()).to.deep.equal(['1@9', '1@10'])
    exchange.fail(id, new TypeError('of the connector'))
    await until(() => exchange.watched.length === 3)
    exchange.tell(id, exchange.book(8))
    expect((await books.book(venue, market, at)).sequence).to.equal(8)
    expect(told).to.include('defect dex WETH/USDC')
  })

  it('asks an exchange nothing after the book was dropped', async () => {
    await begun()
    books.stop()
    await new Promise((resolve) => setImmediate(resolve))
    expect([exchange.isWatched(id), exchange.asked]).to.deep.equal([false, []])
    expect(await refusal()).to.include({ name: 'OVERLOADED' })
  })

  it('waits for a book for a limited time, and no longer than the request', async () => {
    const over = new AbortController()
    const reading = books.book(venue, market, { signal: over.signal }).catch((error: unknown) => error)
    over.abort(new Error('the request is over'))
    expect(await reading).to.have.property('message', 'the request is over')
    exchange.answer(id, () => new Promise(() => {}))
    expect(await refusal()).to.include({ name: 'NETWORK', retryAfterSeconds: 1 })
  })

  it('compares books with the exchange at the same sequence, whichever side arrives first', async () => {
    start({ checkSeconds: 0.5 })
    await begun()
    exchange.answer(id, async () => exchange.book(2, [level('9.50'), level(9)]))
    await until(() => exchange.asked.length > 0)
    exchange.tell(id, exchange.change(1, { side: 'buys', ...level(9.5) }))
    await until(() => told.includes('equal dex WETH/USDC'))
    expect(told).to.not.include('different dex WETH/USDC')
    exchange.answer(id, async () => exchange.book(2, [level(9.5), level(9), level(8)]))
    await until(() => told.includes('different dex WETH/USDC'))
    await until(() => told.includes('lost dex WETH/USDC'))
    await eventually(['1@9.5 1@9 1@8', '1@10'])
  })

  it('tells listeners every change once, and when there is no book to show', async () => {
    const seen: (string | undefined)[] = []
    const unfollow = books.follow(venue, market, (newest) => {
      const view = newest()
      seen.push(view && prices(view).join('|'))
    })
    exchange.tell(id, exchange.book(1))
    exchange.tell(id, exchange.book(1))
    exchange.tell(id, { is: 'alive', timestamp: Date.now() })
    exchange.tell(id, exchange.change(1, { side: 'sells', ...level(10, 0) }))
    exchange.tell(id, { is: 'lost', reason: 'cut' })
    exchange.tell(id, { is: 'lost', reason: 'cut' })
    const late: unknown[] = []
    books.follow(venue, market, (newest) => void late.push(newest()))
    exchange.tell(id, exchange.book(1))
    expect(seen).to.deep.equal(['1@9|1@10', '1@9|', undefined, '1@9|1@10'])
    expect(late).to.have.length(2)
    // Each snapshot that does not help finds it as it was.
    exchange.answer(id, () => Promise.reject(new Error('not now')))
    exchange.tell(id, exchange.change(1, { side: 'buys', ...level(11) }))
    await until(() => exchange.asked.length === 2)
    exchange.tell(id, exchange.book(1))
    expect(seen.slice(4)).to.deep.equal([undefined, '1@9|1@10'])
    unfollow()
    exchange.tell(id, exchange.book(2))
    expect(seen).to.have.length(6)
    expect(late).to.have.length(5)
  })

  it('tells listeners nothing of a trade, but returns it as the last trade to readers', async () => {
    const seen: unknown[] = []
    books.follow(venue, market, (newest) => void seen.push(newest()))
    exchange.tell(id, exchange.book(1))
    exchange.tell(id, { is: 'traded', lastPrice: '9.5', volume24h: '100' })
    expect(seen).to.have.length(1)
    expect(await books.book(venue, market, at)).to.include({ lastPrice: '9.5', volume24h: '100', sequence: 1 })
  })

  it('gives a listener that looks later the book as it is then', async () => {
    const told: LatestBook[] = []
    books.follow(venue, market, (newest) => void told.push(newest))
    exchange.tell(id, exchange.book(1))
    exchange.tell(id, exchange.change(1, { side: 'buys', ...level(9.5, 2) }))
    const [first, second] = told.map((newest) => newest())
    expect(first).to.equal(second)
    expect(first && prices(first)).to.deep.equal(['2@9.5 1@9', '1@10'])
    exchange.tell(id, exchange.change(2, { side: 'buys', ...level(9.5, 0) }))
    expect(first && prices(first)).to.deep.equal(['2@9.5 1@9', '1@10'])
    exchange.tell(id, { is: 'lost', reason: 'cut' })
    expect(told.map((newest) => newest())).to.deep.equal([undefined, undefined, undefined, undefined])
  })

  it('drops books that are not used, keeps those with listeners, and refuses more than the maximum', async () => {
    start({ idleSeconds: 0.5, maxBooks: 2 })
    await begun()
    books.follow(venue, marketOf('ETH'), () => {})
    await until(() => books.size === 1)
    expect([exchange.isWatched(id), exchange.isWatched('ETH/USDC')]).to.deep.equal([false, true])
    books.follow(venue, marketOf('A'), () => {})
    expect(() => books.follow(venue, marketOf('B'), () => {}))
      .to.throw(SluiceError)
      .with.property('name', 'OVERLOADED')
    expect(books.size).to.equal(2)
  })
})
