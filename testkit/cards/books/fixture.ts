import { createInterface } from 'node:readline'
import { expect } from 'chai'
import type { BookOperator, BookOperators } from '../../../core/contracts/devnet.ts'
import type { Book } from '../../../core/contracts/index.ts'
import type { Answer, RequestOptions } from '../../client.ts'
import { venueFields as venueOf, type TestVenue, approve } from '../venue.ts'
import { exact, type Market, plain, onGrid, unitOf } from './grid.ts'

export type BookType = keyof BookOperators

/** Of a request; what is undefined is left out. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>
export type Side = 'BUY' | 'SELL'

/** An order as `/clob/orders` lists it. */
export interface Order {
  orderId?: string
  clientOrderId: string
  market: string
  side: Side
  orderType: string
  price: string
  amount: string
  filledAmount: string
  averagePrice?: string
  state: string
  reason?: string
  createdAt: number
  updatedAt: number
}

export interface Level {
  price: string
  quantity: string
}

export interface BookAnswer {
  market: string
  buys: Level[]
  sells: Level[]
  sequence: number
  timestamp: number
  blockNumber?: number
}

/** In 10^-40. */
export interface FundsExact {
  free: bigint
  locked: bigint
}

/** What the cards do with orders, as a bot would: by the interface alone. */
export interface BookFixture<O extends BookOperator = BookOperator> {
  readonly bench: TestVenue
  readonly type: BookType
  readonly operator: O
  /** What the cards trade. Its book is theirs alone. */
  readonly market: Market
  /** What one base was worth in quote when they began. */
  readonly fair: number
  /** What they trade at once, of base. */
  readonly unit: string
  /** The wallet whose orders they are, and another of the server's. */
  readonly owner: string
  readonly other: string
  /** The price of the grid that is next to such a part of the fair one. */
  at(part: number): string
  /** So many units. */
  units(count: number): string
  read(verb: string, fields?: Fields): Promise<Answer>
  act(verb: string, fields?: object, options?: RequestOptions): Promise<Answer>
  remove(fields: Fields, how?: 'query' | 'body'): Promise<Answer>
  /** Takes it as given that it is answered. */
  // eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
  answered(answer: Promise<Answer>): Promise<any>
  /** A request for a limit order of one unit at a part of the fair price. */
  order(side: Side, part: number, fields?: Fields): Fields
  /** Waits until the exchange has said what it makes of an order. */
  settled(order: Pick<Order, 'clientOrderId'>, address?: string): Promise<Order>
  /** Takes it as given that the order is taken, and waits until the exchange has said what it made of it. */
  place(fields: Fields): Promise<Order>
  /** The same for its cancellation. */
  cancel(order: Order, fields?: Fields): Promise<Order>
  orders(fields?: Fields): Promise<Order[]>
  find(order: Pick<Order, 'clientOrderId'>, fields?: Fields): Promise<Order>
  trades(fields?: Fields): Promise<Trade[]>
  book(fields?: Fields): Promise<BookAnswer>
  /** Waits until the server's book is so. */
  bookWhere(what: string, holds: (book: BookAnswer) => boolean): Promise<BookAnswer>
  /** Another trader's order, once the server's book shows it. */
  rest(side: Side, part: number, amount?: string): Promise<string>
  /** What the exchange says of a wallet's tokens. */
  funds(owner?: string): Promise<Record<'base' | 'quote', FundsExact>>
  /** As every card finds it: an open market without orders. */
  clear(): Promise<void>
  /** Sees to it that a request for an order is refused so, naming the field, and that nothing was made of it. */
  refused(fields: Fields, outcome: string, field?: string): Promise<Answer>
}

export interface Trade {
  tradeId: string
  orderId?: string
  market: string
  side: Side
  price: string
  amount: string
  fee: string
  feeToken: string
  timestamp: number
  txHash?: string
}

/** States of orders that are in the book. */
export const openStates = ['OPEN', 'PARTIALLY_FILLED']

export const quantityAt = ({ buys, sells }: Pick<Book, 'buys' | 'sells'>, side: Side, price: string): bigint => {
  const level = (side === 'BUY' ? buys : sells).find((each) => exact(each.price) === exact(price))
  return level ? exact(level.quantity) : 0n
}

export const fixtureVenueFields = ({ bench }: Pick<BookFixture, 'bench'>) => venueOf(bench)

const prefixes = { CLOB: '/clob', MARGIN_CLOB: '/clob/margin', PERP_CLOB: '/clob/perp' } as const satisfies Record<BookType, string>
const stillUnderWay = ['PENDING_OPEN', 'PENDING_CANCEL']

export async function createBookFixture<O extends BookOperator>(bench: TestVenue, type: BookType, operator: O): Promise<BookFixture<O>> {
  const { client } = bench
  const [other, , owner] = bench.wallets
  const path = (verb: string) => `${prefixes[type]}/${verb}`
  const read: BookFixture['read'] = (verb, fields = {}) => client.get(path(verb), asQuery({ ...venueOf(bench), ...fields }))
  const act: BookFixture['act'] = (verb, fields = {}, options) => client.post(path(verb), { ...venueOf(bench), ...fields }, options)
  const answered: BookFixture['answered'] = async (answer) => {
    const { status, text, body } = await answer
    expect(status, text).to.equal(200)
    return body
  }

  const { market, fair } = await marketOf(answered, read)
  const name = market.market
  const unit = unitOf(market, fair)
  // A connector on the devnet takes what wallets let it take.
  if (bench.rpcUrl !== '')
    for (const address of [owner, other]) for (const token of [market.base, market.quote]) await approve(bench, address, token)

  const orders: BookFixture['orders'] = async (fields = {}) =>
    (await answered(read('orders', { address: owner, market: name, limit: '500', ...fields }))).orders
  const find: BookFixture['find'] = async ({ clientOrderId }, fields = {}) => {
    const found = await orders({ clientOrderId, ...fields })
    expect(found, `the orders of id ${clientOrderId}`).to.have.length(1)
    return found[0] ?? expect.fail('none was found')
  }
  const book: BookFixture['book'] = (fields = {}) => answered(read('orderBook', { market: name, ...fields }))
  const bookWhere: BookFixture['bookWhere'] = (what, holds) => waitFor(what, () => book(), holds)
  const settled: BookFixture['settled'] = (order, address = owner) =>
    waitFor(
      `order ${order.clientOrderId} is settled`,
      () => find(order, { address }),
      ({ state }) => !stillUnderWay.includes(state),
    )
  const at = (part: number) => onGrid(market, fair * part)
  let made = 0

  const desk: BookFixture<O> = {
    bench,
    type,
    operator,
    market,
    fair,
    unit,
    owner,
    other,
    at,
    units: (count) => plain(exact(unit) * BigInt(count)),
    read,
    act,
    answered,
    orders,
    find,
    settled,
    book,
    bookWhere,
    remove: (fields, how = 'body') => {
      const all = { ...venueOf(bench), address: owner, market: name, ...fields }
      if (how === 'query') return client.request('DELETE', `${path('orders')}?${new URLSearchParams(asQuery(all)).toString()}`)
      return client.request('DELETE', path('orders'), { raw: JSON.stringify(all), headers: { 'content-type': 'application/json' } })
    },
    order: (side, part, fields = {}) => ({
      address: owner,
      market: name,
      side,
      orderType: 'LIMIT',
      price: at(part),
      amount: unit,
      ...fields,
    }),
    async place(fields) {
      const answer = await answered(act('orders', fields))
      expect(answer.clientOrderId, JSON.stringify(answer)).to.be.a('string')
      return settled(answer, addressIn(fields))
    },
    async cancel(order, fields = {}) {
      const { clientOrderId, orderId } = order
      await answered(desk.remove({ ...(orderId === undefined ? { clientOrderId } : { orderId }), ...fields }))
      return settled(order, addressIn(fields))
    },
    trades: async (fields = {}) => (await answered(read('trades', { market: name, limit: '500', ...fields }))).trades,
    async rest(side, part, amount = unit) {
      const { orderId } = await operator.place(name, { side, price: at(part), amount })
      const there = quantityAt(await operator.book(name), side, at(part))
      await bookWhere(`another's ${side} at ${at(part)} is shown`, (now) => quantityAt(now, side, at(part)) === there)
      return orderId ?? expect.fail(`the ${side} at ${at(part)} did not rest`)
    },
    async funds(address = owner) {
      const of = async (symbol: string) => {
        const { free, locked } = await operator.funds(address, symbol)
        return { free: exact(free), locked: exact(locked) }
      }
      return { base: await of(market.base), quote: await of(market.quote) }
    },
    async clear() {
      for (const address of [owner, other]) {
        for (const { orderId, state } of await orders({ address }))
          if (openStates.includes(state)) await answered(desk.remove({ orderId, address }))
        await waitFor(
          'all orders are over',
          () => orders({ address }),
          (all) => all.every(({ state }) => ![...openStates, ...stillUnderWay].includes(state)),
        )
      }
      await operator.clear(name, [owner, other])
      await bookWhere('the book is empty', ({ buys, sells }) => buys.length + sells.length === 0)
    },
    async refused(fields, outcome, field) {
      made += 1
      const asked = { clientOrderId: `refused-${made}`, ...fields }
      const before = await operator.open(name, owner)
      const answer = await act('orders', asked)
      const { status, body, text } = answer
      expect(`${status} ${body?.name}`, `${JSON.stringify(asked)}: ${text}`).to.equal(outcome)
      if (field !== undefined) expect(body.details[0].field, text).to.equal(field)
      expect(await operator.open(name, owner)).to.deep.equal(before)
      return answer
    },
  }
  return desk
}

/** The first that is open and has prices on both sides, and what it is worth by them. */
async function marketOf(answered: BookFixture['answered'], read: BookFixture['read']): Promise<{ market: Market; fair: number }> {
  const { markets } = await answered(read('markets'))
  const { markets: tickers } = await answered(read('ticker'))
  for (const market of Object.values<Market>(markets)) {
    const { bestBid, bestAsk } = tickers[market.market] ?? {}
    if (market.status === 'open' && bestBid != null && bestAsk != null) return { market, fair: (Number(bestBid) + Number(bestAsk)) / 2 }
  }
  throw new Error(`One market at least must be open and have orders on both sides: ${JSON.stringify(tickers)}`)
}

const addressIn = ({ address }: Fields) => (address === undefined ? undefined : String(address))

const asQuery = (fields: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))

/** What `/events` tells of the market's book, until it is stopped. */
interface BookSubscription {
  /** All of it, in order; what says that the book is stale has no levels, and is left out. */
  readonly told: readonly (BookAnswer & Record<'chain' | 'network' | 'connector', string>)[]
  until(what: string, holds: (book: BookAnswer) => boolean): Promise<BookAnswer & Record<'chain' | 'network' | 'connector', string>>
  stop(): void
}

export async function subscribeToBook(desk: BookFixture): Promise<BookSubscription> {
  const { bench, market, type } = desk
  const stream = await bench.client.open('/events', { topics: 'orderBook', ...fixtureVenueFields(desk), market: market.market, type })
  expect(stream.statusCode).to.equal(200)
  const told: BookSubscription['told'][number][] = []
  let event = ''
  const lines = createInterface(stream)
  lines.on('line', (line) => {
    if (line.startsWith('event: ')) event = line.slice('event: '.length)
    if (!line.startsWith('data: ') || event !== 'orderBook') return
    const data = JSON.parse(line.slice('data: '.length))
    if (data.stale !== true) told.push(data)
  })
  return {
    told,
    async until(what, holds) {
      await waitFor(
        what,
        async () => told,
        (all) => all.some(holds),
      )
      return told.find(holds) ?? expect.fail(what)
    },
    stop: () => {
      lines.close()
      stream.destroy()
    },
  }
}

/** Asks again and again until what is told holds. */
export async function waitFor<T>(what: string, ask: () => Promise<T>, holds: (told: T) => boolean): Promise<T> {
  const end = performance.now() + 20_000
  for (;;) {
    const told = await ask()
    if (holds(told)) return told
    if (performance.now() > end) throw new Error(`${what}: never came about. Last told: ${JSON.stringify(told)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Of exchanges that trade the tokens themselves. */
export const tradesTokens = ({ type }: { type: BookType }) => type !== 'PERP_CLOB'
