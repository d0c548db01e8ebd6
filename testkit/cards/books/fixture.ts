import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { BookOperator, BookOperators } from '../../../core/contracts/devnet.ts'
import type { Book } from '../../../core/contracts/index.ts'
import type { Answer, RequestOptions } from '../../client.ts'
import { bodyOf, expectRefusal, waitFor } from '../expect.ts'
import { approve, venueFields, type Card, type TestVenue } from '../venue.ts'
import { expectPaidOnly } from '../wallet-changes.ts'
import { exact, onGrid, plain, times, unitOf, type Market } from './grid.ts'

export type BookType = keyof BookOperators

/** Fields of a request. Undefined ones are left out. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>
export type Side = 'BUY' | 'SELL'

/** An order of `/clob/orders`. */
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

/** Multiples of 10^-40. */
export interface FundsExact {
  free: bigint
  locked: bigint
}

/** The cards' access to an order book, by the HTTP interface only, as a bot's. */
export interface BookFixture<O extends BookOperator = BookOperator> {
  readonly venue: TestVenue
  readonly type: BookType
  readonly operator: O
  /** The market that the cards trade. Nobody else has orders in it. */
  readonly market: Market
  /** The price of one base in quote when the cards began. */
  readonly fair: number
  /** The base amount of one trade. */
  readonly unit: string
  /** The wallet with the orders, and another one of the server. */
  readonly owner: string
  readonly other: string
  /** The valid price that is nearest to a multiple of the fair price. */
  at(multiple: number): string
  /** The amount of so many units. */
  units(count: number): string
  read(endpoint: string, fields?: Fields): Promise<Answer>
  post(endpoint: string, fields?: object, options?: RequestOptions): Promise<Answer>
  remove(fields: Fields, how?: 'query' | 'body'): Promise<Answer>
  /** A request for a limit order of one unit at a multiple of the fair price. */
  order(side: Side, multiple: number, fields?: Fields): Fields
  /** Waits until the exchange has accepted or refused an order. */
  settled(order: Pick<Order, 'clientOrderId'>, address?: string): Promise<Order>
  /** Places an order, which must succeed, and waits until the exchange has accepted or refused it. */
  place(fields: Fields): Promise<Order>
  /** Cancels an order, which must succeed, and waits until the exchange has done it. */
  cancel(order: Order, fields?: Fields): Promise<Order>
  orders(fields?: Fields): Promise<Order[]>
  find(order: Pick<Order, 'clientOrderId'>, fields?: Fields): Promise<Order>
  trades(fields?: Fields): Promise<Trade[]>
  book(fields?: Fields): Promise<BookAnswer>
  /** Waits until the server's book satisfies the condition. */
  bookWhere(what: string, holds: (book: BookAnswer) => boolean): Promise<BookAnswer>
  /** Places another trader's order and waits until the server's book shows it. Returns its id. */
  rest(side: Side, multiple: number, amount?: string): Promise<string>
  /** A wallet's tokens by the exchange's own figures. */
  funds(owner?: string): Promise<Record<'base' | 'quote', FundsExact>>
  /** The state that every card starts from: an open market without orders. */
  clear(): Promise<void>
  /** Puts others' orders on both sides of the empty book, as at the start: where the devnet goes on after the cards. */
  refill(): Promise<void>
  /** The request for an order must be refused, naming the field, and place no order. */
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

/** A card, and which exchanges it is for; absent: all. */
export type BookCard<O extends BookOperator = BookOperator> = readonly [...Card<BookFixture<O>>, isFor?: (exchange: Exchange) => boolean]
export interface Exchange {
  type: BookType
  operator: BookOperator | undefined
}

/** For exchanges that trade the tokens themselves. */
export const tradesTokens = ({ type }: Exchange) => type !== 'PERP_CLOB'

/** States of orders that are in the book. */
export const openStates = ['OPEN', 'PARTIALLY_FILLED']

export const quantityAt = ({ buys, sells }: Pick<Book, 'buys' | 'sells'>, side: Side, price: string): bigint => {
  const level = (side === 'BUY' ? buys : sells).find((each) => exact(each.price) === exact(price))
  return level ? exact(level.quantity) : 0n
}

const prefixes = { CLOB: '/clob', MARGIN_CLOB: '/clob/margin', PERP_CLOB: '/clob/perp' } as const satisfies Record<BookType, string>
const pendingStates = ['PENDING_OPEN', 'PENDING_CANCEL']
/** What the cards ask for at once: the server's `limits.pageSize`. */
export const maxPage = 500
/** No card places more with one wallet. All earlier ones have ended. */
export const maxOrdersPerCard = 100

export async function createBookFixture<O extends BookOperator>(venue: TestVenue, type: BookType, operator: O): Promise<BookFixture<O>> {
  const { client } = venue
  const [other, , owner] = venue.wallets
  const path = (endpoint: string) => `${prefixes[type]}/${endpoint}`
  const read: BookFixture['read'] = (endpoint, fields = {}) => client.get(path(endpoint), asQuery({ ...venueFields(venue), ...fields }))
  /** Orders since the market was cleared, at most. */
  let posted = maxOrdersPerCard
  const post: BookFixture['post'] = (endpoint, fields = {}, options) => {
    posted += endpoint === 'orders' ? 1 : maxOrdersPerCard
    return client.post(path(endpoint), { ...venueFields(venue), ...fields }, options)
  }

  const { market, fair } = await findMarket(read)
  const name = market.market
  const unit = unitOf(market, fair)
  // On the devnet the connector needs approvals.
  if (venue.rpcUrl !== '')
    await Promise.all([owner, other].flatMap((address) => [market.base, market.quote].map((token) => approve(venue, address, token))))

  const orders: BookFixture['orders'] = async (fields = {}) =>
    (await bodyOf(read('orders', { address: owner, market: name, limit: maxPage, ...fields }))).orders
  const find: BookFixture['find'] = async ({ clientOrderId }, fields = {}) => {
    const found = await orders({ clientOrderId, ...fields })
    expect(found, `the orders with id ${clientOrderId}`).to.have.length(1)
    return found[0] ?? expect.fail('no order was found')
  }
  const book: BookFixture['book'] = (fields = {}) => bodyOf(read('orderBook', { market: name, ...fields }))
  const bookWhere: BookFixture['bookWhere'] = (what, holds) => waitFor(what, () => book(), holds)
  const settled: BookFixture['settled'] = (order, address = owner) =>
    waitFor(
      `order ${order.clientOrderId} is settled`,
      () => find(order, { address }),
      ({ state }) => !pendingStates.includes(state),
    )
  const at = (multiple: number) => onGrid(market, fair * multiple)
  let refusals = 0
  /** Off a chain the wallet's tokens are the exchange's word, which the cards compare with the operator's `funds`. */
  const onChain = (txHash: unknown): txHash is string => venue.rpcUrl !== '' && typeof txHash === 'string'
  const expectPaidByOrder = async (fields: Fields, { side, price, amount, clientOrderId }: Order, txHash: unknown) => {
    if (!onChain(txHash)) return
    // A market order says no price: what it pays is bounded by its token alone.
    const most =
      side === 'SELL' ? amount : fields['price'] === undefined ? '1e30' : plain(times(exact(amount), exact(price)) + exact('1e-6'))
    const paid = { symbol: side === 'SELL' ? market.base : market.quote, most }
    await expectPaidOnly(venue, addressIn(fields) ?? owner, txHash, paid, `The order ${clientOrderId}`)
  }

  const fixture: BookFixture<O> = {
    venue,
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
    post,
    orders,
    find,
    settled,
    book,
    bookWhere,
    remove: (fields, how = 'body') => {
      const all = { ...venueFields(venue), address: owner, market: name, ...fields }
      if (how === 'query') return client.request('DELETE', `${path('orders')}?${new URLSearchParams(asQuery(all)).toString()}`)
      return client.request('DELETE', path('orders'), { raw: JSON.stringify(all), headers: { 'content-type': 'application/json' } })
    },
    order: (side, multiple, fields = {}) => ({
      address: owner,
      market: name,
      side,
      orderType: 'LIMIT',
      price: at(multiple),
      amount: unit,
      ...fields,
    }),
    async place(fields) {
      const answer = await bodyOf(post('orders', fields))
      expect(answer.clientOrderId, JSON.stringify(answer)).to.be.a('string')
      const placed = await settled(answer, addressIn(fields))
      await expectPaidByOrder(fields, placed, answer.txHash)
      return placed
    },
    async cancel(order, fields = {}) {
      const { clientOrderId, orderId } = order
      const { txHash } = await bodyOf(fixture.remove({ ...(orderId === undefined ? { clientOrderId } : { orderId }), ...fields }))
      const canceled = await settled(order, addressIn(fields))
      if (onChain(txHash)) await expectPaidOnly(venue, addressIn(fields) ?? owner, txHash, undefined, `The cancel of ${clientOrderId}`)
      return canceled
    },
    trades: async (fields = {}) => (await bodyOf(read('trades', { market: name, limit: maxPage, ...fields }))).trades,
    async rest(side, multiple, amount = unit) {
      const price = at(multiple)
      const { orderId } = await operator.place(name, { side, price, amount })
      const quantity = quantityAt(await operator.book(name), side, price)
      await bookWhere(`another's ${side} at ${price} is shown`, (shown) => quantityAt(shown, side, price) === quantity)
      return orderId ?? expect.fail(`the ${side} at ${price} did not rest`)
    },
    async funds(address = owner) {
      const of = async (symbol: string) => {
        const { free, locked } = await operator.funds(address, symbol)
        return { free: exact(free), locked: exact(locked) }
      }
      return { base: await of(market.base), quote: await of(market.quote) }
    },
    async clear() {
      const limit = Math.min(posted, maxOrdersPerCard)
      for (const address of limit === 0 ? [] : [owner, other]) {
        const newest = () => orders({ address, limit })
        const hasEnded = ({ state }: Order) => ![...openStates, ...pendingStates].includes(state)
        const before = await newest()
        if (before.every(hasEnded)) continue
        for (const { orderId, state } of before) if (openStates.includes(state)) await bodyOf(fixture.remove({ orderId, address }))
        await waitFor('no order is open', newest, (all) => all.every(hasEnded))
      }
      posted = 0
      await operator.clear(name, [owner, other])
      await bookWhere('the book is empty', ({ buys, sells }) => buys.length + sells.length === 0)
    },
    async refill() {
      await operator.clear(name, [])
      await operator.place(name, { side: 'BUY', price: at(0.99), amount: unit })
      await operator.place(name, { side: 'SELL', price: at(1.01), amount: unit })
    },
    async refused(fields, outcome, field) {
      refusals += 1
      const request = { clientOrderId: `refused-${refusals}`, ...fields }
      const before = await operator.open(name, owner)
      const answer = await post('orders', request)
      expectRefusal(answer, outcome, JSON.stringify(request), field)
      expect(await operator.open(name, owner)).to.deep.equal(before)
      return answer
    },
  }
  return fixture
}

/** The first open market with orders on both sides, and its mid price. */
/** All cards begin with these: where a busy node says to try again, they do. */
async function readAgain(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const answer = await ask()
    if (answer.status !== 503 || tries === 5) return answer
    await pause(500)
  }
}

async function findMarket(read: BookFixture['read']): Promise<{ market: Market; fair: number }> {
  const { markets } = await bodyOf(readAgain(() => read('markets')))
  const { markets: tickers } = await bodyOf(readAgain(() => read('ticker')))
  for (const market of Object.values<Market>(markets)) {
    const { bestBid, bestAsk } = tickers[market.market] ?? {}
    if (market.status === 'open' && bestBid != null && bestAsk != null) return { market, fair: (Number(bestBid) + Number(bestAsk)) / 2 }
  }
  throw new Error(`At least one market must be open and have orders on both sides: ${JSON.stringify(tickers)}`)
}

const addressIn = ({ address }: Fields) => (address === undefined ? undefined : String(address))

const asQuery = (fields: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))

/** The events of the market's book, until it is stopped. */
interface BookSubscription {
  /** All events in order, except those that say the book is stale, which have no levels. */
  readonly events: readonly (BookAnswer & Record<'chain' | 'network' | 'connector', string>)[]
  waitFor(what: string, holds: (book: BookAnswer) => boolean): Promise<BookAnswer & Record<'chain' | 'network' | 'connector', string>>
  stop(): void
}

export async function subscribeToBook({ venue, market, type }: BookFixture): Promise<BookSubscription> {
  const stream = await venue.client.open('/events', { topics: 'orderBook', ...venueFields(venue), market: market.market, type })
  expect(stream.statusCode).to.equal(200)
  const events: BookSubscription['events'][number][] = []
  let name = ''
  const lines = createInterface(stream)
  lines.on('line', (line) => {
    if (line.startsWith('event: ')) name = line.slice('event: '.length)
    if (!line.startsWith('data: ') || name !== 'orderBook') return
    const data = JSON.parse(line.slice('data: '.length))
    if (data.stale !== true) events.push(data)
  })
  return {
    events,
    async waitFor(what, holds) {
      await waitFor(
        what,
        async () => events,
        (all) => all.some(holds),
      )
      return events.find(holds) ?? expect.fail(what)
    },
    stop: () => {
      lines.close()
      stream.destroy()
    },
  }
}
