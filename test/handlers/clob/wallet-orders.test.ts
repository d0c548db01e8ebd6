import { expect } from 'chai'
import type { BookOrder, CLOB } from '../../../core/contracts/index.ts'
import { StoreUnavailable } from '../../../core/store/store.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import type { Lease, Journal } from '../../../core/transactions/journal/journal.ts'
import { aboutCancels } from '../../../core/handlers/clob/order-state.ts'
import { mergeOrders } from '../../../core/handlers/clob/list-orders.ts'
import { walletOrders } from '../../../core/handlers/clob/wallet-orders.ts'
import { places } from '../../store/stores.ts'
import { giveLease, newEntry, next, wallet } from '../../transactions/journal/entries.ts'

type Context = Parameters<typeof walletOrders>[2]

const market = { id: 'weth', base: 'WETH', quote: 'USDC' } as Parameters<typeof aboutCancels>[1][number]['market']
const about = { side: 'BUY', orderType: 'LIMIT', timeInForce: 'GTC', price: '1', amount: '1' }

describe("a wallet's orders on an exchange", () => {
  const { place } = places('embedded')
  let journal: Journal
  let guard: Lease
  beforeEach(async () => {
    const store = await place().open()
    journal = sqlJournal(store)
    guard = await giveLease(store)
  })

  const ordersBy = (orders: Pick<Journal['orders'], 'list' | 'note'> = journal.orders, CLOB: Partial<CLOB> = {}, isThere = true) => {
    const venue = { connector: 'exchange', impl: { CLOB } }
    return walletOrders('CLOB', wallet, {
      network: { chain: 'ethereum', network: 'local' },
      venue,
      services: {
        transactions: { list: (filter: Parameters<Journal['list']>[0]) => journal.list(filter), orders },
        registry: { plannedBy: () => (isThere ? venue : undefined) },
        orderFills: { want: () => {} },
      },
      signal: AbortSignal.timeout(60_000),
    } as unknown as Context)
  }

  it('show PENDING_CANCEL while a cancel is pending, among any number of other pending transactions', async () => {
    const cancel = newEntry({ kind: 'order-cancel', about: aboutCancels('CLOB', [{ market, order: { orderId: '7' } }]) })
    await journal.open([cancel, ...Array.from({ length: 501 }, () => newEntry())], guard)
    const cancels = await ordersBy().cancelling()
    expect([cancels({ orderId: '7' }), cancels({ orderId: '8' }), cancels({ clientOrderId: '7' })]).to.deep.equal([true, false, false])
  })

  it('appear once each, among any number without a report', async () => {
    const entry = newEntry({ kind: 'order' })
    const said = Array.from({ length: 1_002 }, (_, index) => ({ orderId: `order ${index}`, state: 'OPEN' as const }))
    const placed = said.map((_, index) => ({ clientOrderId: `bot-${index}`, type: 'CLOB', market: 'WETH-USDC', index, about }))
    await journal.open([entry], guard, undefined, placed)
    await journal.write([next(entry, { state: 'CONFIRMED', landed: { id: '0x1', ok: true, blockNumber: -1, receipt: null } })], guard)
    const { createdAt, updatedAt } = entry
    const of = { market, side: 'BUY', orderType: 'LIMIT', price: '1', amount: '1', filledAmount: '0', createdAt, updatedAt } as const
    const listed: readonly BookOrder[] = said.map((each) => ({ ...of, ...each }))
    const untouched = { ...journal.orders, note: async () => {} }
    const orders = ordersBy(untouched, { outcome: () => said, orders: async () => listed })
    const merged = await mergeOrders(orders, undefined, { shownCount: 0 }, 500)
    const told: (string | undefined)[] = []
    for (let each = await merged.next(); each; each = await merged.next()) told.push(each.clientOrderId)
    expect(told).to.have.members(placed.map(({ clientOrderId }) => clientOrderId))
  })

  it('have the outcome that the journal has, and else what the version says that planned them', async () => {
    const place = async (clientOrderId: string, change: Parameters<typeof next>[1]) => {
      const entry = newEntry({ kind: 'order' })
      await journal.open([entry], guard, undefined, [{ clientOrderId, type: 'CLOB', market: 'WETH-USDC', index: 0, about }])
      const landed = { id: `0x${clientOrderId}`, ok: true, blockNumber: 1, receipt: null }
      await journal.write([next(entry, { state: 'CONFIRMED', landed, ...change })], guard)
    }
    await place('1', { outcome: [{ orderId: 'journaled', state: 'OPEN' }] })
    await place('2', {})
    const idsBy = async (isThere: boolean) => {
      const orders = ordersBy(journal.orders, { outcome: () => [{ orderId: 'read now', state: 'OPEN' }] }, isThere)
      return (await orders.journaled({ limit: 10 })).map((each) => orders.nameOf(each).orderId)
    }
    expect(await idsBy(true)).to.have.members(['journaled', 'read now'])
    expect(await idsBy(false)).to.have.members(['journaled', undefined])
  })

  it('appear while the store is unavailable, and a later request stores them', async () => {
    const entry = newEntry({ kind: 'order' })
    const order = { clientOrderId: 'a', type: 'CLOB', market: 'WETH-USDC', index: 0, about }
    await journal.open([entry], guard, undefined, [order])
    await journal.write([next(entry, { state: 'CONFIRMED', landed: { id: '0x1', ok: true, blockNumber: 1, receipt: null } })], guard)
    let isAway = true
    const orders = ordersBy({
      list: (filter) => journal.orders.list(filter),
      note: (of, said) => (isAway ? Promise.reject(new StoreUnavailable('the disk is full')) : journal.orders.note(of, said)),
    })
    const show = async () => {
      const [found] = await orders.journaled({ limit: 1 })
      if (!found) throw new Error('The order is not there.')
      return [found.report?.state, (await orders.show(found, undefined, false)).state]
    }
    expect(await show()).to.deep.equal([undefined, 'OPEN'])
    isAway = false
    expect(await show()).to.deep.equal([undefined, 'OPEN'])
    expect(await show()).to.deep.equal(['OPEN', 'OPEN'])
  })
})
