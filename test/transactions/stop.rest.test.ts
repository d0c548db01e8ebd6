import { expect } from 'chai'
import type { Store } from '../../core/store/store.ts'
import type { Transactions } from '../../core/transactions/transactions.ts'
import { freshStore, gate, order, rejection, sign, soon, startSite, stateOf, transactionsOn, until, type TestSite } from './site.ts'

describe('stopping with transactions under way', () => {
  let site: TestSite
  let store: Store
  let next: Transactions | undefined

  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())
  beforeEach(async () => {
    store = await freshStore()
  })
  afterEach(async () => {
    site.relay.meddle = () => 'pass'
    await next?.stop(0)
    await store.close()
  })

  it('lets them finish, accepts nothing new, and leaves open ones to the next server', async () => {
    const { pass, open } = gate()
    const signing = gate()
    const first = await transactionsOn({
      store,
      async sign(request) {
        signing.open()
        await pass
        return sign(request)
      },
    })
    const underWay = first.submit(order(site), soon())
    await signing.pass
    const stopped = first.stop(10_000)
    expect(await rejection(first.submit(order(site), soon()))).to.include({ name: 'OVERLOADED' })
    open()
    const { txHash } = await underWay
    await stopped
    expect((await store.read((db) => db.selectFrom('entries').select('final').execute())).map((row) => row.final)).to.deep.equal([0])
    next = await transactionsOn({ store, sites: [site.network] })
    await site.mine()
    await until('it is confirmed', async () => next !== undefined && (await stateOf(next, txHash)) === 'CONFIRMED')
  })

  it('aborts requests that outlast the drain time, and says that nothing was sent', async () => {
    const first = await transactionsOn({ store, sign: () => new Promise<never>(() => {}) })
    const hung = first.submit(order(site), soon())
    await until('it is queued', async () => (await first.list({ state: 'QUEUED' })).entries.length === 1)
    let answered: object | undefined
    const refused = rejection(hung).then((error) => (answered = error))
    await first.stop(50)
    expect(answered).to.include({ name: 'TIMEOUT' })
    await refused
    expect(await store.read((db) => db.selectFrom('entries').select('state').execute())).to.deep.equal([{ state: 'EXPIRED' }])
  })
})
