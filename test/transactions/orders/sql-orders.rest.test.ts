import { expect } from 'chai'
import type { Store } from '../../../core/store/store.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import type { Budgets } from '../../../core/transactions/budgets.ts'
import { type ClientOrder, type JournaledOrder, type OrderReport } from '../../../core/transactions/book-orders.ts'
import type { Lease, Journal } from '../../../core/transactions/journal/journal.ts'
import { onBothStores } from '../../store/stores.ts'
import { rejection } from '../site.ts'
import { giveLease, queueOf, newEntry, next, signed, wallet } from '../journal/entries.ts'

const here = { chain: 'ethereum', network: 'local', connector: 'exchange', address: wallet }
const orderOf = (clientOrderId: string, over: Partial<ClientOrder> = {}): ClientOrder => ({
  clientOrderId,
  type: 'CLOB',
  market: 'WETH-USDC',
  index: 0,
  about: { side: 'BUY', price: '1.5' },
  ...over,
})
const placing = (over: Partial<Entry> = {}) => newEntry({ kind: 'order', ...over })
const said = (state: OrderReport['state'], updatedAt: number, over: Partial<OrderReport> = {}): OrderReport => ({
  state,
  updatedAt,
  ...over,
})

describe('book orders in the journal', () => {
  onBothStores((place) => {
    let store: Store
    let journal: Journal
    let lease: Lease
    beforeEach(async () => {
      store = await place().open()
      journal = sqlJournal(store)
      lease = await giveLease(store)
    })

    const place1 = (entry: Entry, ...orders: readonly ClientOrder[]) => journal.open([entry], lease, undefined, orders)
    const all = (over: object = {}) => journal.orders.list({ ...here, limit: 100, ...over })
    const idsOf = (orders: readonly JournaledOrder[]) => orders.map(({ clientOrderId }) => clientOrderId)
    async function only(clientOrderId: string): Promise<JournaledOrder> {
      const [found] = await all({ clientOrderId })
      if (!found) throw new Error(`There is no ${clientOrderId}.`)
      return found
    }
    async function giveUp(entry: Entry): Promise<void> {
      expect(await journal.write([next(entry, { state: 'EXPIRED' })], lease)).to.equal(true)
    }

    it('enter with the entry that places them, and come back unchanged', async () => {
      const entry = placing()
      await place1(entry, orderOf('a'), orderOf('b', { index: 1, about: null }))
      const [second, first, ...more] = await all()
      expect(more).to.deep.equal([])
      expect(first).to.deep.include({ ...orderOf('a'), entry })
      expect(second).to.deep.include({ ...orderOf('b', { index: 1, about: null }), entry })
      expect(first).not.to.have.property('said')
    })

    it('belong to the last step of a plan', async () => {
      const steps = [placing(), placing()]
      await journal.open(steps, lease, undefined, [orderOf('a')])
      expect((await only('a')).entry).to.deep.equal(steps[1])
    })

    it('have one id per wallet and exchange, whichever type of book they are for', async () => {
      const first = placing()
      await place1(first, orderOf('a'))
      const again = placing()
      const refused = await rejection(place1(again, orderOf('b'), orderOf('a', { type: 'PERP_CLOB' })))
      expect(refused).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
      expect(refused.details).to.deep.equal({ clientOrderId: 'a' })
      expect(await journal.read(again.key)).to.equal(undefined)
      expect(idsOf(await all())).to.deep.equal(['a'])

      const stranger = '0x0000000000000000000000000000000000000002'
      const theirs = await giveLease(store, { queue: queueOf(stranger), fencingToken: 1 })
      await journal.open([placing({ address: stranger })], theirs, undefined, [orderOf('a')])
      await place1(placing({ connector: 'other' }), orderOf('a'))
      expect((await only('a')).entry).to.deep.equal(first)
    })

    it('match an address in any letter case', async () => {
      await place1(placing({ address: wallet.toLowerCase() }), orderOf('a'))
      expect((await rejection(place1(placing(), orderOf('a')))).name).to.equal('IDEMPOTENCY_CONFLICT')
      expect(idsOf(await all({ address: wallet.toUpperCase().replace('0X', '0x') }))).to.deep.equal(['a'])
    })

    it('fail all if two of them have one id', async () => {
      const refused = await rejection(place1(placing(), orderOf('a'), orderOf('b', { index: 1 }), orderOf('a', { index: 2 })))
      expect(refused.details).to.deep.equal({ clientOrderId: 'a' })
      expect(await all()).to.deep.equal([])
    })

    it('enter once if many come at once with one id', async () => {
      const tries = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          place1(placing(), orderOf('a', { index }), orderOf(`b${index % 3}`)).then(
            () => 'kept',
            (error: Error) => error.name,
          ),
        ),
      )
      expect(tries.filter((each) => each === 'kept')).to.have.length(1)
      expect(tries.filter((each) => each === 'IDEMPOTENCY_CONFLICT')).to.have.length(19)
      expect(await all()).to.have.length(2)
    })

    it('free their ids for one other order if they were never signed', async () => {
      const entry = placing()
      await place1(entry, orderOf('a'), orderOf('b', { index: 1 }))
      expect(await journal.orders.firstUsed(here, ['c', 'b'])).to.equal('b')
      await giveUp(entry)
      expect(await journal.orders.firstUsed(here, ['a', 'b', 'c'])).to.equal(undefined)
      expect(idsOf(await all())).to.deep.equal(['b', 'a'])
      const tries = [placing(), placing()]
      const kept = await Promise.allSettled(tries.map((each) => place1(each, orderOf('a'))))
      const index = kept.findIndex(({ status }) => status === 'fulfilled')
      expect(kept.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
      expect((await only('a')).entry).to.deep.equal(tries[index])
      expect(idsOf(await all())).to.have.members(['a', 'b'])
    })

    it('keep their ids once they were signed, whatever happens then', async () => {
      const entry = placing()
      await place1(entry, orderOf('a'))
      await journal.write([signed(entry)], lease)
      await journal.write([next(signed(entry), { state: 'EXPIRED' })], lease)
      expect((await rejection(place1(placing(), orderOf('a')))).name).to.equal('IDEMPOTENCY_CONFLICT')
      expect(await all({ openOnly: true })).to.deep.equal([])
    })

    it('stay open until their end is known', async () => {
      const entries = [placing(), placing(), placing(), placing()]
      for (const [index, entry] of entries.entries()) await place1(entry, orderOf(`o${index}`))
      const [giving, reverting, confirming] = entries
      if (!giving || !reverting || !confirming) throw new Error('There are four.')
      await giveUp(giving)
      for (const [entry, state] of [
        [reverting, 'REVERTED'],
        [confirming, 'CONFIRMED'],
      ] as const) {
        await journal.write([signed(entry)], lease)
        const landed = { id: `0xhash${entry.key}`, ok: state === 'CONFIRMED', blockNumber: 1, receipt: null }
        await journal.write([next(signed(entry), { state, landed })], lease)
      }
      expect(idsOf(await all({ openOnly: true }))).to.deep.equal(['o3', 'o2'])
      expect(idsOf(await all())).to.deep.equal(['o3', 'o2', 'o1', 'o0'])
    })

    it("keep the exchange's last report, and are found by its order id", async () => {
      await place1(placing(), orderOf('a'))
      const order = await only('a')
      await journal.orders.note(order, said('PARTIALLY_FILLED', 20, { orderId: '77', filledAmount: '1' }))
      await journal.orders.note(order, said('OPEN', 10, { orderId: '77' }))
      expect((await only('a')).report).to.deep.equal(said('PARTIALLY_FILLED', 20, { orderId: '77', filledAmount: '1' }))
      expect(idsOf(await all({ orderId: '77' }))).to.deep.equal(['a'])
      expect(await all({ orderId: '78' })).to.deep.equal([])
      expect(idsOf(await all({ openOnly: true }))).to.deep.equal(['a'])
    })

    it('stay ended', async () => {
      await place1(placing(), orderOf('a'))
      const order = await only('a')
      await journal.orders.note(order, said('OPEN', 30, { orderId: '77' }))
      // By another clock, or answered out of order: an end is the end.
      const end = said('FILLED', 20, { filledAmount: '2', averagePrice: '1.5', reason: 'all of it' })
      await journal.orders.note(order, end)
      await journal.orders.note(order, said('PARTIALLY_FILLED', 40))
      await journal.orders.note(order, said('CANCELED', 50))
      expect((await only('a')).report).to.deep.equal(end)
      expect(idsOf(await all({ orderId: '77' }))).to.deep.equal(['a'])
      expect(await all({ openOnly: true })).to.deep.equal([])
    })

    it('end once, and are locked after the budgets that are told, as in every other write', async () => {
      await place1(placing(), orderOf('a'))
      const order = await only('a')
      const told: string[] = []
      const other = store.kind === 'postgres' ? await place().open() : undefined
      const lockedBy = async () =>
        other?.write((tx) => tx.selectFrom('orders').select('key').where('client_order_id', '=', 'a').forUpdate().noWait().execute())
      const ending: Budgets = {
        reserve: async () => {},
        async endOrder() {
          await lockedBy()
          told.push('ended')
        },
      }
      const { orders } = sqlJournal(store, undefined, [ending])
      const unfilled = { numerator: 1n, denominator: 1n }
      await orders.note(order, said('CANCELED', 10), { unfilled })
      await orders.note(order, said('CANCELED', 20), { unfilled })
      expect(told[0]).to.equal('ended')
      expect((await only('a')).report).to.deep.equal(said('CANCELED', 10))
    })

    it('ignore reports on an earlier order that had their id and was never signed', async () => {
      const entry = placing()
      await place1(entry, orderOf('a'))
      const before = await only('a')
      await giveUp(entry)
      await place1(placing(), orderOf('a'))
      await journal.orders.note(before, said('CANCELED', 10))
      expect(await only('a')).not.to.have.property('said')
    })

    it('appear in pages, newest first, by type and market', async () => {
      for (let count = 0; count < 5; count += 1)
        await place1(
          placing(),
          orderOf(`x${count}`, { market: count % 2 ? 'WBTC-USDC' : 'WETH-USDC' }),
          orderOf(`y${count}`, { index: 1, type: 'PERP_CLOB' }),
        )
      const seen: string[] = []
      let before: string | undefined
      for (;;) {
        const page = await all({ limit: 3, ...(before && { before }) })
        seen.push(...idsOf(page))
        before = page.at(-1)?.key
        if (page.length < 3) break
      }
      expect(seen).to.deep.equal(['y4', 'x4', 'y3', 'x3', 'y2', 'x2', 'y1', 'x1', 'y0', 'x0'])
      expect(idsOf(await all({ market: 'WBTC-USDC' }))).to.deep.equal(['x3', 'x1'])
      expect(idsOf(await all({ type: 'PERP_CLOB', limit: 2 }))).to.deep.equal(['y4', 'y3'])
    })

    it('can be a thousand in one write', async () => {
      const orders = Array.from({ length: 1_500 }, (_, index) => orderOf(`o${index}`, { index }))
      await place1(placing(), ...orders)
      expect(idsOf(await all({ limit: 2 }))).to.deep.equal(['o1499', 'o1498'])
      expect((await rejection(place1(placing(), ...orders.slice(1_200)))).name).to.equal('IDEMPOTENCY_CONFLICT')
    })

    it('drop out of a list alone if their row is damaged', async () => {
      const told: object[] = []
      const careful = sqlJournal(store, { warn: (fields) => told.push(fields) })
      await place1(placing(), orderOf('a'))
      await place1(placing(), orderOf('b'))
      await store.write((tx) => tx.updateTable('orders').set({ said: '{"state":"?"}' }).where('client_order_id', '=', 'a').execute())
      expect(idsOf(await careful.orders.list({ ...here, limit: 9 }))).to.deep.equal(['b'])
      expect(told).to.have.length(1)
    })

    it('need a connector and the kind order', async () => {
      expect((await rejection(place1(newEntry(), orderOf('a')))).message).to.contain('client order id')
      expect((await rejection(place1(placing({ connector: undefined }), orderOf('a')))).message).to.contain('client order id')
    })
  })
})
