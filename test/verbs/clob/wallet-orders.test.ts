import { expect } from 'chai'
import { sqlJournal } from '../../../core/transactions/index.ts'
import type { Guard, Journal } from '../../../core/transactions/journal/journal.ts'
import { aboutCancels } from '../../../core/verbs/clob/orders/about-order.ts'
import { walletOrders } from '../../../core/verbs/clob/orders/wallet-orders.ts'
import { places } from '../../store/stores.ts'
import { giveLane, newEntry, wallet } from '../../transactions/journal/entries.ts'

type Context = Parameters<typeof walletOrders>[2]

const market = { id: 'weth', base: 'WETH', quote: 'USDC' } as Parameters<typeof aboutCancels>[1][number]['market']

describe("a wallet's orders on an exchange", () => {
  const { place } = places('embedded')
  let journal: Journal
  let guard: Guard
  beforeEach(async () => {
    const store = await place().open()
    journal = sqlJournal(store)
    guard = await giveLane(store)
  })

  const ordersBy = () =>
    walletOrders('CLOB', wallet, {
      network: { chain: 'ethereum', network: 'local' },
      venue: { connector: 'exchange', impl: { CLOB: {} } },
      services: { transactions: { list: (filter: Parameters<Journal['list']>[0]) => journal.list(filter), orders: journal.orders } },
      signal: AbortSignal.timeout(10_000),
    } as unknown as Context)

  it('are being cancelled by what is under way, however much else of the wallet is', async () => {
    const cancel = newEntry({ kind: 'order-cancel', about: aboutCancels('CLOB', [{ market, order: { orderId: '7' } }]) })
    await journal.open([cancel, ...Array.from({ length: 501 }, () => newEntry())], guard)
    const cancels = await ordersBy().cancelling()
    expect([cancels({ orderId: '7' }), cancels({ orderId: '8' }), cancels({ clientOrderId: '7' })]).to.deep.equal([true, false, false])
  })
})
