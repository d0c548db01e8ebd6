import { expect } from 'chai'
import type { BookOrder, CLOB } from '../../../core/contracts/index.ts'
import { StoreUnavailable } from '../../../core/store/store.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import type { Lease, Journal } from '../../../core/transactions/journal/journal.ts'
import { aboutCancels } from '../../../core/handlers/clob/order-state.ts'
import { storeStates } from '../../../core/handlers/clob/open-orders.ts'
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

  const ordersBy = (
    orders: Pick<Journal['orders'], 'list' | 'note'> & Partial<Journal['orders']> = journal.orders,
    CLOB: Partial<CLOB> = {},
    isThere = true,
  ) => {
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

  it('are found by the fills of each, however many are younger and have no report', async () => {
    const count = 1_002
    const entry = newEntry({ kind: 'order' })
    const said = Array.from({ length: count }, (_, index) => ({ orderId: `order ${index}`, state: 'OPEN' as const }))
    const placed = said.map((_, index) => ({ clientOrderId: `bot-${index}`, type: 'CLOB', market: 'WETH-USDC', index, about }))
    await journal.open([entry], guard, undefined, placed)
    const landed = { id: '0x1', ok: true, blockNumber: 1, receipt: null }
    const mined = next(entry, { state: 'MINED', landed })
    await journal.write([mined], guard)
    const orders = () => ordersBy(journal.orders, { outcome: () => said })
    const { chain, network, address } = entry
    const of = { chain, network, connector: 'exchange', address, type: 'CLOB', market: 'WETH-USDC' }
    const fill = { tradeId: 't', price: '1', amount: '1', fee: '0', feeToken: 'USDC', timestamp: 1 }
    const note = (orderId: string, ids: ReadonlyMap<string, string>) => journal.orders.noteFills(of, [{ fill, orderId, side: 'BUY' }], ids)
    const ids = await orders().newIds('WETH-USDC')
    expect([ids.size, ids.get('bot-0'), await note('order 0', ids)]).to.deep.equal([count, 'order 0', 1])
    // Its block may still go back.
    expect(await note('order 1', new Map())).to.equal(0)
    await journal.write([next(mined, { state: 'CONFIRMED' })], guard)
    expect((await orders().newIds('WETH-USDC')).size).to.equal(count)
    expect(await note('order 1', new Map())).to.equal(1)
    expect((await orders().newIds('WETH-USDC')).size).to.equal(0)
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

  it('have their states stored by asking about a few: first of those whose fills are all of it', async () => {
    const entry = newEntry({ kind: 'order', connector: 'exchange', signer: wallet })
    const placed = Array.from({ length: 20 }, (_, index) => ({
      clientOrderId: `bot-${index}`,
      type: 'CLOB',
      market: 'WETH-USDC',
      index,
      about,
    }))
    await journal.open([entry], guard, undefined, placed)
    const landed = { id: '0x1', ok: true, blockNumber: -1, receipt: null }
    const outcome = placed.map((_, index) => ({ orderId: `${index}`, state: index === 5 ? 'REJECTED' : 'OPEN' }) as const)
    await journal.write([next(entry, { state: 'CONFIRMED', landed, outcome })], guard)
    const fill = { tradeId: 't', price: '1', amount: '1', fee: '0', feeToken: 'USDC', timestamp: 5 }
    const of = { chain: 'ethereum', network: 'local', connector: 'exchange', address: wallet, type: 'CLOB', market: 'WETH-USDC' }
    await journal.orders.noteFills(of, [{ fill, orderId: '7', side: 'BUY' }], new Map([['bot-7', '7']]))
    const asked: (string | undefined)[][] = []
    const orders = ordersBy(journal.orders, {
      async orders(_, { names = [] }) {
        asked.push(names.map(({ clientOrderId }) => clientOrderId))
        const { createdAt, updatedAt } = entry
        return names.map(({ orderId = '', clientOrderId }) => ({
          market,
          side: 'BUY',
          orderType: 'LIMIT',
          price: '1',
          amount: '1',
          createdAt,
          updatedAt,
          orderId,
          ...(clientOrderId !== undefined && { clientOrderId }),
          ...(orderId === '7' ? { state: 'FILLED', filledAmount: '1' } : { state: 'OPEN', filledAmount: '0' }),
        })) as readonly BookOrder[]
      },
    })
    await storeStates(orders, 'WETH-USDC')
    expect(asked).to.have.length(1)
    expect(asked[0]).to.have.length(8).and.to.include('bot-7').and.not.to.include('bot-5')
    const open = await orders.journaled({ openOnly: true, limit: 100 })
    expect(open.map(({ clientOrderId }) => clientOrderId))
      .to.have.length(18)
      .and.to.not.include.members(['bot-7', 'bot-5'])
    expect(open.filter(({ report }) => report?.state === 'OPEN')).to.have.length(7)
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
