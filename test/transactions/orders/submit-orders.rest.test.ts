import { expect } from 'chai'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import {
  addressOf,
  freshStore,
  order,
  planOf,
  reaches,
  rejection,
  nowhere,
  soon,
  startSite,
  transactionsOn,
  type TestSite,
} from '../site.ts'
import type { Store } from '../../../core/store/store.ts'

const named = (clientOrderId: string) => ({ clientOrderId, type: 'CLOB', market: 'WETH-USDC', index: 0, about: null })

describe('book orders that are transactions', () => {
  let site: TestSite
  let store: Store
  let transactions: Transactions
  before(async () => {
    site = await startSite()
  })
  after(() => site.stop())
  beforeEach(async () => {
    store = await freshStore()
    transactions = await transactionsOn({ store, sites: [site.network] })
  })
  afterEach(async () => {
    await transactions.stop(500)
    await store.close()
  })

  const placing = (clientOrderId: string, address = addressOf(0)) =>
    order(site, { kind: 'order', venue: { connector: 'book' }, clientOrders: [named(clientOrderId)], address })
  const list = (address = addressOf(0)) =>
    transactions.orders.list({ chain: 'ethereum', network: 'local', connector: 'book', address, limit: 100 })

  it('enter the journal with the transaction that places them', async () => {
    const { txHash } = await transactions.submit(placing('a'), soon())
    await reaches(transactions, txHash, 'CONFIRMED')
    const [found] = await list()
    expect(found).to.include({ clientOrderId: 'a', market: 'WETH-USDC' })
    expect(found?.entry.landed?.id).to.equal(txHash)
    expect(found?.entry).not.to.have.property('signer')
  })

  it('reach the chain once per id, however many requests come at once; nothing is asked, signed or filled for the others', async () => {
    const address = addressOf(1)
    const before = await transactions.nextNonce({ network: site.network, address }, soon())
    const tries = await Promise.all(
      Array.from({ length: 20 }, () =>
        transactions.submit(placing('a', address), soon()).then(
          ({ txHash }) => txHash,
          ({ name }: Error) => name,
        ),
      ),
    )
    const [txHash = '', ...others] = tries.toSorted((a, b) => Number(b.startsWith('0x')) - Number(a.startsWith('0x')))
    expect(new Set(others)).to.deep.equal(new Set(['IDEMPOTENCY_CONFLICT']))
    await reaches(transactions, txHash, 'CONFIRMED')
    expect((await transactions.list({ address })).entries).to.have.length(1)
    expect(await transactions.nextNonce({ network: site.network, address }, soon())).to.equal(before + 1)
    const asked = site.relay.requests.length
    expect((await rejection(transactions.submit(placing('a', address), soon()))).details).to.deep.equal({ clientOrderId: 'a' })
    expect(site.relay.requests.length).to.equal(asked)
  })

  it('leave no nonce gap when they are refused', async () => {
    const address = addressOf(3)
    const ids = ['a', 'a', 'b', 'a', 'a', 'c']
    const tries = await Promise.allSettled(ids.map((id) => transactions.submit(placing(id, address), soon())))
    const sent = tries.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    expect(sent).to.have.length(3)
    for (const { txHash } of sent) await reaches(transactions, txHash, 'CONFIRMED')
    const { entries } = await transactions.list({ address })
    expect(entries.map(({ kind }) => kind)).to.deep.equal(['order', 'order', 'order'])
  })

  it('leave their id free if the chain refuses them in the check', async () => {
    const tooMuch = planOf({ to: nowhere, data: '0x', value: String(10n ** 30n) })
    const refused = { ...placing('a', addressOf(2)), plan: tooMuch, scope: { contracts: [nowhere], valueRaw: 10n ** 30n } }
    expect((await rejection(transactions.submit(refused, soon()))).name).to.equal('INSUFFICIENT_BALANCE')
    const { txHash } = await transactions.submit(placing('a', addressOf(2)), soon())
    await reaches(transactions, txHash, 'CONFIRMED')
  })
})
