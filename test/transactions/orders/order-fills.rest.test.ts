import { expect } from 'chai'
import { sql } from 'kysely'
import type { Store } from '../../../core/store/store.ts'
import type { Journal, Lease } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import type { FillsReading, OrderFill, ToldFill } from '../../../core/transactions/order-fills.ts'
import { perpetualsBefore } from '../../../core/transactions/order-markets.ts'
import { firstKeyAt } from '../../../core/transactions/submit-request.ts'
import { onBothStores } from '../../store/stores.ts'
import { giveLease, newEntry, next, signed, wallet } from '../journal/entries.ts'

const here = { chain: 'ethereum', network: 'local', connector: 'exchange', address: wallet, type: 'CLOB', market: 'WETH-USDC' }
const about = { side: 'BUY', orderType: 'LIMIT', timeInForce: 'GTC', price: '1.5', amount: '3' }
const placed = (clientOrderId: string, index = 0) => ({ clientOrderId, type: 'CLOB', market: 'WETH-USDC', index, about })
const fill = (tradeId: string, timestamp = 1): OrderFill => ({
  tradeId,
  price: '1.5',
  amount: '1',
  fee: '-0.01',
  feeToken: 'USDC',
  timestamp,
})
const told = (fills: Readonly<Record<string, readonly OrderFill[]>>): readonly ToldFill[] =>
  Object.entries(fills).flatMap(([orderId, each]) => each.map((one) => ({ fill: one, orderId, side: 'BUY' as const })))

describe('the fills of orders', () => {
  onBothStores((place) => {
    let store: Store
    let journal: Journal
    let lease: Lease
    beforeEach(async () => {
      store = await place().open()
      journal = sqlJournal(store)
      lease = await giveLease(store)
    })

    /** An order whose action is final, and which its exchange calls `7` where it has reported it. */
    async function place1({ isReported = true } = {}) {
      const queued = newEntry({ kind: 'order' })
      await journal.open([queued], lease, undefined, [placed('a'), placed('b', 1)])
      const sent = signed(queued)
      const entry = next(sent, { state: 'CONFIRMED', landed: { id: '0x1', ok: true, blockNumber: 7, receipt: null } })
      for (const each of [sent, entry]) await journal.write([each], lease)
      const [order] = await journal.orders.list({ ...here, clientOrderId: 'a', limit: 1 })
      if (!order) throw new Error('There is no order.')
      if (isReported) await journal.orders.note(order, { orderId: '7', state: 'PARTIALLY_FILLED', filledAmount: '1', updatedAt: 1 })
      return entry
    }
    const shown = async () => (await journal.orders.withOrders((await journal.list({ limit: 10 })).entries))[0]?.orders
    const fillsOf = async () => (await shown())?.map(({ fills }) => fills.map(({ tradeId }) => tradeId))

    it('are kept once each, oldest first, with the order that they are of', async () => {
      await place1()
      expect(await journal.orders.noteFills(here, told({ 7: [fill('y', 5), fill('x')], 9: [fill('z')] }), new Map())).to.equal(1)
      expect(await journal.orders.noteFills(here, told({ 7: [fill('x'), fill('w', 3)] }), new Map())).to.equal(1)
      expect(await journal.orders.noteFills(here, told({ 7: [fill('x')] }), new Map())).to.equal(0)
      const [a, b] = (await shown()) ?? []
      expect(a).to.deep.include({ clientOrderId: 'a', orderId: '7', market: 'WETH-USDC', about })
      expect(a?.report).to.include({ state: 'PARTIALLY_FILLED', filledAmount: '1' })
      expect(a?.fills).to.deep.equal([fill('x'), fill('w', 3), fill('y', 5)])
      expect(b).to.deep.include({ clientOrderId: 'b', fills: [] })
      const [listed] = await journal.orders.list({ ...here, clientOrderId: 'a', limit: 1 })
      expect(listed?.fills).to.have.length(3)
    })

    it('stay when the exchange reports the order again, and when it leaves the journal', async () => {
      const entry = await place1()
      await journal.orders.noteFills(here, told({ 7: [fill('x')] }), new Map())
      const [order] = await journal.orders.list({ ...here, clientOrderId: 'a', limit: 1 })
      if (!order) throw new Error('There is no order.')
      await journal.orders.note(order, { orderId: '7', state: 'CANCELED', filledAmount: '1', updatedAt: 2 })
      // What goes into the archive's file.
      const [read] = await journal.ended.read([entry.key], () => {})
      expect(read?.orders?.[0]?.fills).to.deep.equal([fill('x')])
      await journal.ended.moveOut(read ? [read] : [])
      const [archived] = await journal.orders.withOrders((await journal.list({ limit: 10, archived: true })).entries)
      expect(archived).to.include({ archived: true })
      expect(archived?.orders?.[0]).to.deep.include({ clientOrderId: 'a', fills: [fill('x')] })
    })

    it('find an order that the exchange has not reported by the id of its answer', async () => {
      await place1({ isReported: false })
      expect(await journal.orders.noteFills(here, told({ 7: [fill('x')] }), new Map())).to.equal(0)
      expect(await journal.orders.noteFills(here, told({ 7: [fill('x')] }), new Map([['b', '7']]))).to.equal(1)
      expect(await fillsOf()).to.deep.equal([[], ['x']])
    })

    it('without an id of an order are of the one that their transaction placed, on its side', async () => {
      const { attempts } = await place1({ isReported: false })
      const id = attempts[0]?.id ?? ''
      const unnamed = (tradeId: string, side: ToldFill['side'], txHash?: string): ToldFill => ({
        fill: { ...fill(tradeId), ...(txHash !== undefined && { txHash }) },
        side,
      })
      const note = (...fills: readonly ToldFill[]) => journal.orders.noteFills(here, fills, new Map())
      // Two orders of the transaction are on that side: nobody can tell whose it is.
      expect(await note(unnamed('x', 'BUY', id))).to.equal(0)
      const [second] = await journal.orders.list({ ...here, clientOrderId: 'b', limit: 1 })
      await store.write((tx) =>
        tx
          .updateTable('orders')
          .set({ about: JSON.stringify({ ...about, side: 'SELL' }) })
          .where('key', '=', second?.key ?? '')
          .execute(),
      )
      expect(await note(unnamed('none', 'BUY'), unnamed('other', 'BUY', '0x2'))).to.equal(0)
      expect(await note(unnamed('x', 'BUY', id), unnamed('y', 'SELL', id))).to.equal(2)
      expect(await fillsOf()).to.deep.equal([['x'], ['y']])
      expect(await note(unnamed('x', 'BUY', id))).to.equal(0)
    })

    it('are kept once their loss is known, where that counts', async () => {
      await place1()
      const counted: bigint[] = []
      const limits = { counts: true, isKnown: false }
      journal = sqlJournal(store, undefined, [
        {
          reserve: async () => {},
          countsFillsOf: () => limits.counts,
          countFills: async ({ lostMicros }) => void counted.push(lostMicros),
        },
      ])
      const note = (fills: readonly OrderFill[]) =>
        journal.orders.noteFills(here, told({ 7: fills }), new Map(), (_about, { length }) =>
          limits.isKnown ? { part: { numerator: 1n, denominator: 3n }, lostMicros: BigInt(length) } : 'not yet',
        )
      expect([await note([fill('x')]), await fillsOf()]).to.deep.equal([0, [[], []]])
      limits.isKnown = true
      expect([await note([fill('x')]), await fillsOf()]).to.deep.equal([1, [['x'], []]])
      expect(counted).to.deep.equal([1n])
      Object.assign(limits, { counts: false, isKnown: false })
      expect([await note([fill('y')]), await fillsOf()]).to.deep.equal([1, [['x', 'y'], []]])
      expect(counted).to.deep.equal([1n])
    })

    it('are counted once each, also those that a row does not keep, as they are read from the newest on', async () => {
      await place1()
      let counted = 0n
      journal = sqlJournal(store, undefined, [
        { reserve: async () => {}, countsFillsOf: () => true, countFills: async ({ lostMicros }) => void (counted += lostMicros) },
      ])
      const newest = 1_200
      const page = (from: number) =>
        Array.from({ length: 401 }, (_, index) => fill(`t${from - index}`, from - index)).filter((each) => each.timestamp > 0)
      async function read(upTo: number, reading: FillsReading = new Map()) {
        // The pages overlap by one.
        for (let from = upTo; from > 0; from -= 400)
          await journal.orders.noteFills(
            here,
            told({ 7: page(from) }),
            new Map(),
            (_about, { length }) => ({ part: { numerator: 1n, denominator: 3n }, lostMicros: BigInt(length) }),
            reading,
          )
      }
      await read(newest)
      expect(counted).to.equal(1_200n)
      await read(newest)
      expect(counted).to.equal(1_200n)
      await read(newest + 1_100)
      expect(counted).to.equal(2_300n)
      const kept = (await fillsOf())?.[0]
      expect([kept?.length, kept?.[0], kept?.at(-1)]).to.deep.equal([1_000, 't1301', 't2300'])
    })

    it('are no other wallet’s, market’s or exchange’s', async () => {
      await place1()
      const others = [
        { address: '0x0000000000000000000000000000000000000002' },
        { market: 'WETH-DAI' },
        { connector: 'other' },
        { type: 'PERP_CLOB' },
      ]
      for (const other of others)
        expect(await journal.orders.noteFills({ ...here, ...other }, told({ 7: [fill('x')] }), new Map()), JSON.stringify(other)).to.equal(
          0,
        )
      expect(await fillsOf()).to.deep.equal([[], []])
    })

    it('are asked for where orders may be open', async () => {
      expect(await journal.orders.openMarkets()).to.deep.equal([])
      await place1()
      expect(await journal.orders.openMarkets()).to.deep.equal([{ ...here, address: wallet.toLowerCase() }])
    })

    it('are asked for where an order has ended lately and lacks some', async () => {
      await place1()
      const end = async (clientOrderId: string, orderId: string, filledAmount: string) => {
        const [order] = await journal.orders.list({ ...here, clientOrderId, limit: 1 })
        if (order) await journal.orders.note(order, { orderId, state: 'CANCELED', filledAmount, updatedAt: 50 })
      }
      await end('a', '7', '2')
      await end('b', '8', '0')
      const lacking = { ...here, address: wallet.toLowerCase(), isLacking: true }
      expect(await journal.orders.openMarkets()).to.deep.equal([])
      expect(await journal.orders.openMarkets(51)).to.deep.equal([])
      expect(await journal.orders.openMarkets(50)).to.deep.equal([lacking])
      await journal.orders.noteFills(here, told({ 7: [fill('x')] }), new Map())
      expect(await journal.orders.openMarkets(50)).to.deep.equal([lacking])
      await journal.orders.noteFills(here, told({ 7: [fill('y')] }), new Map())
      expect(await journal.orders.openMarkets(50)).to.deep.equal([])
    })

    it('are of markets of perpetuals in which the wallet placed orders before a moment', async () => {
      const atMs = Date.UTC(2026, 0, 1)
      const queued = newEntry({ kind: 'order', key: `${firstKeyAt(atMs)}00abcdef`, createdAt: atMs })
      const ofPerpetual = (clientOrderId: string, index: number, market: string) => ({
        ...placed(clientOrderId, index),
        type: 'PERP_CLOB',
        market,
      })
      await journal.open([queued], lease, undefined, [placed('a'), ofPerpetual('b', 1, 'BTC-USD'), ofPerpetual('c', 2, 'k-PEPE-USD')])
      const { signal } = new AbortController()
      const marketsOf = async (filter: Parameters<typeof perpetualsBefore>[1], beforeMs = atMs + 1) => {
        const found = await perpetualsBefore(store, filter, beforeMs, signal)
        return found.map(({ address, connector, market }) => `${address === wallet.toLowerCase()} ${connector} ${market}`).toSorted()
      }
      const connector = queued.connector ?? ''
      const both = [`true ${connector} BTC-USD`, `true ${connector} k-PEPE-USD`]
      expect(await marketsOf({})).to.deep.equal(both)
      expect(await marketsOf({}, atMs)).to.deep.equal([])
      expect(await marketsOf({ address: wallet, connector, chain: queued.chain, network: queued.network })).to.deep.equal(both)
      expect(await marketsOf({ pair: 'k-pepe-usd' })).to.deep.equal([both[1]])
      expect(await marketsOf({ addresses: new Set(['0x2']) })).to.deep.equal([])
      expect(await marketsOf({ connector: 'other' })).to.deep.equal([])
    })

    it('are of markets in which orders were placed before a moment also where their keys were ahead of the clock', async () => {
      const dayMs = 86_400_000
      const atMs = Date.UTC(2026, 0, 1)
      const requested = (createdAt: number, keyMs: number) =>
        newEntry({ kind: 'order', createdAt, key: `${firstKeyAt(keyMs)}${String(createdAt % dayMs).padStart(8, '0')}` })
      const ofPerpetual = (clientOrderId: string, market: string) => ({ ...placed(clientOrderId), type: 'PERP_CLOB', market })
      await journal.open([requested(atMs, atMs + 3 * dayMs)], lease, undefined, [ofPerpetual('a', 'BTC-USD')])
      await journal.open([requested(atMs + 3 * dayMs + 70_000, atMs + 3 * dayMs + 70_000)], lease, undefined, [ofPerpetual('b', 'ETH-USD')])
      const marketsAt = async (beforeMs: number) =>
        (await perpetualsBefore(store, {}, beforeMs, new AbortController().signal)).map(({ market }) => market).toSorted()
      expect(await marketsAt(atMs - dayMs)).to.deep.equal([])
      expect(await marketsAt(atMs + dayMs)).to.deep.equal(['BTC-USD'])
      expect(await marketsAt(atMs + 3 * dayMs + 10)).to.deep.equal(['BTC-USD'])
      expect(await marketsAt(atMs + 4 * dayMs)).to.deep.equal(['BTC-USD', 'ETH-USD'])
    })

    it('keep a transaction shown where they are damaged', async () => {
      await place1()
      await store.write((tx) => sql`update orders set fills = '[7]' where client_order_id = 'a'`.execute(tx))
      expect((await shown())?.map(({ clientOrderId }) => clientOrderId)).to.deep.equal(['b'])
    })
  })
})
