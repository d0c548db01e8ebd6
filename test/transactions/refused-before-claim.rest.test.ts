// What is stopped, and what its client has lost the right to: it takes no nonce, so that no transaction of the server has to fill one.
import { expect } from 'chai'
import type { Client } from '../../core/config/clients.ts'
import type { LiveClients } from '../../core/config/live-clients.ts'
import type { Store } from '../../core/store/store.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { clientRights, createClaimCheck, withGuards } from '../../core/transactions/guards.ts'
import { createStops, type Stops } from '../../core/transactions/stops.ts'
import { createUnkeyedRequests } from '../../core/transactions/unkeyed-requests.ts'
import { newDeliveryRow } from './journal/entries.ts'
import { freshStore, order, silent, soon, startSite, transactionsOn, type TestSite } from './site.ts'

describe('a request that is refused whatever its limits are', () => {
  let site: TestSite
  let store: Store
  let stops: Stops
  const servers: { stop(): Promise<void> }[] = []
  let clients: readonly Client[] = []
  const requests = createUnkeyedRequests()
  let changed: Parameters<LiveClients['onChange']>[0] = () => {}
  const client = (name: string): Client => ({ name, permissions: ['read', 'trade'], wallets: 'all' })
  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())
  beforeEach(async () => {
    store = await freshStore()
    stops = createStops({ store, waitForWriters: async () => {}, log: silent })
    clients = [client('bot'), client('other')]
  })
  afterEach(async () => {
    for (const { stop } of servers.splice(0)) await stop()
    stops.stop()
    await store.close()
    await site.rpc('anvil_dropAllTransactions')
  })

  const by = { client: 'operator', requestId: 'one' }
  const open = async () => {
    const rights = clientRights(() => clients)
    const mayClaim = createClaimCheck({
      rights,
      clients: { onChange: (listener) => void (changed = listener) },
      stops,
      requests,
    })
    const transactions = await transactionsOn({ store, sites: [site.network], journalOf: (of) => withGuards(of, [rights]), mayClaim })
    servers.push({ stop: () => transactions.stop(500) })
    const submit = (id: string) => transactions.submit(order(site, { caller: { id } }), soon())
    /** Many of a client beside one of another, which has a nonce behind theirs where they have any. */
    const burst = async () => {
      const refused = Array.from({ length: 20 }, () => outcomeOf(submit('bot')))
      const { nonce } = await submit('other')
      return { nonce, outcomes: [...new Set(await Promise.all(refused))] }
    }
    const submitKeyed = (requestId: string, key: string) => {
      const claim = { client: 'bot', path: '/amm/trade', key, claim: 1 }
      const keyed = { claim, tag: key, answerOf: () => ({ status: 200, body: '' }), onRecorded() {} }
      return transactions.submit(order(site, { caller: { id: 'bot' }, requestId, keyed }), soon())
    }
    return { submit, submitKeyed, burst, entries: async (): Promise<readonly Entry[]> => (await transactions.list({ limit: 500 })).entries }
  }
  const outcomeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      ({ name }: Error) => name,
    )
  /** So long that the watcher fills what there is to fill. */
  const settle = async () => {
    for (let block = 0; block < 8; block += 1) {
      await site.mine()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  it('claims no nonce while its client is stopped, and again once that is lifted on another server', async () => {
    const { submit, burst, entries } = await open()
    const { nonce: first } = await submit('other')
    await stops.set({ mode: 'stop', scope: { of: 'client', subject: 'bot' } }, by)
    expect(await burst()).to.deep.equal({ nonce: first + 1, outcomes: ['STOPPED'] })
    await settle()
    expect((await entries()).map(({ kind }) => kind)).to.deep.equal(['trade', 'trade'])
    const elsewhere = createStops({ store, waitForWriters: async () => {}, log: silent })
    await elsewhere.lift({ scope: { of: 'client', subject: 'bot' } }, by)
    expect(stops.known()).to.have.length(1)
    expect(await outcomeOf(submit('bot'))).to.equal('done')
    elsewhere.stop()
  })

  it('claims no nonce for a client without keys that is gone, nor after a loss of an equal one', async () => {
    const { submit, submitKeyed, entries } = await open()
    const { nonce: first } = await submit('other')
    const ask = (requestId: string, id: string) => {
      let end: (isDelivered: boolean) => void = () => {}
      const delivered = new Promise<boolean>((resolve) => (end = resolve))
      const followed = requests.follow({ interface: 'bots', client: 'bot', requestId, delivered }, 'the same')
      followed.hold(newDeliveryRow(id))
      return { end, followed, signs: () => outcomeOf(followed.during(() => submitKeyed(requestId, id))) }
    }
    const [one, two, three] = [ask('one', 'once-1'), ask('two', 'once-2'), ask('three', 'once-3')]
    await one.followed.during(async () => {})
    one.end(false)
    await Promise.resolve()
    expect(await one.signs()).to.equal('TIMEOUT')
    expect(await two.signs()).to.equal('TIMEOUT')
    expect([two.followed.gaveWay(), three.followed.gaveWay()]).to.deep.equal([true, false])
    expect((await submit('other')).nonce).to.equal(first + 1)
    await settle()
    expect((await entries()).map(({ kind }) => kind)).to.deep.equal(['trade', 'trade'])
    for (const { followed } of [one, two, three]) followed.end()
  })

  it('claims no nonce once its client has lost the right to it', async () => {
    const { submit, burst, entries } = await open()
    const { nonce: first } = await submit('bot')
    clients = [client('other')]
    changed([])
    expect(await burst()).to.deep.equal({ nonce: first + 1, outcomes: ['FORBIDDEN'] })
    await settle()
    expect((await entries()).map(({ kind }) => kind)).to.deep.equal(['trade', 'trade'])
  })
})
