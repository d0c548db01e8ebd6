import { expect } from 'chai'
import type { BookOperator } from '../../../contracts/devnet.ts'
import { approve, venueOf, type Bench } from '../../../../testkit/cards/venue.ts'
import { open, quantityAt, type BookType, type Desk, type Fields } from '../../../../testkit/cards/books/fixture.ts'
import { exact, plain } from './exact.ts'
import { onGrid, unitOf, type Market } from '../../../../testkit/cards/books/grid.ts'
import { until } from './until.ts'

const prefixes = { CLOB: '/clob', MARGIN_CLOB: '/clob/margin', PERP_CLOB: '/clob/perp' } as const satisfies Record<BookType, string>
const stillUnderWay = ['PENDING_OPEN', 'PENDING_CANCEL']

export async function openDesk<O extends BookOperator>(bench: Bench, type: BookType, operator: O): Promise<Desk<O>> {
  const { client } = bench
  const [other, , owner] = bench.wallets
  const path = (verb: string) => `${prefixes[type]}/${verb}`
  const read: Desk['read'] = (verb, fields = {}) => client.get(path(verb), asQuery({ ...venueOf(bench), ...fields }))
  const act: Desk['act'] = (verb, fields = {}, options) => client.post(path(verb), { ...venueOf(bench), ...fields }, options)
  const answered: Desk['answered'] = async (answer) => {
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

  const orders: Desk['orders'] = async (fields = {}) =>
    (await answered(read('orders', { address: owner, market: name, limit: '500', ...fields }))).orders
  const find: Desk['find'] = async ({ clientOrderId }, fields = {}) => {
    const found = await orders({ clientOrderId, ...fields })
    expect(found, `the orders of id ${clientOrderId}`).to.have.length(1)
    return found[0] ?? expect.fail('none was found')
  }
  const book: Desk['book'] = (fields = {}) => answered(read('orderBook', { market: name, ...fields }))
  const bookWhere: Desk['bookWhere'] = (what, holds) => until(what, () => book(), holds)
  const settled: Desk['settled'] = (order, address = owner) =>
    until(
      `order ${order.clientOrderId} is settled`,
      () => find(order, { address }),
      ({ state }) => !stillUnderWay.includes(state),
    )
  const at = (part: number) => onGrid(market, fair * part)
  let made = 0

  const desk: Desk<O> = {
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
          if (open.includes(state)) await answered(desk.remove({ orderId, address }))
        await until(
          'all orders are over',
          () => orders({ address }),
          (all) => all.every(({ state }) => ![...open, ...stillUnderWay].includes(state)),
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
async function marketOf(answered: Desk['answered'], read: Desk['read']): Promise<{ market: Market; fair: number }> {
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
