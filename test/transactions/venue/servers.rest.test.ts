import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createTransactions, type Transactions } from '../../../core/transactions/transactions.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { sqlLeases } from '../../../core/transactions/leases.ts'
import { type TransactionTarget } from '../../../core/transactions/submit-request.ts'
import { actionRail } from '../../fixtures/signed-actions/fixture-exchange/rail.ts'
import { places } from '../../store/stores.ts'
import { silent, soon } from '../site.ts'
import { named, ordersOf, placing, settled, signTyped, startVenue, type VenueSite } from './venue-site.ts'

describe('several servers that place the orders of one wallet', () => {
  const { place } = places('postgres')
  let venue: VenueSite
  const running: Transactions[] = []

  beforeEach(async () => {
    venue = await startVenue()
  })
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop(200)
    await venue.stop()
  })

  /** With a rail of its own, as a process has it. */
  async function start(): Promise<(order: ReturnType<typeof placing>) => Promise<string>> {
    const store = await place().open()
    const leases = sqlLeases({ store, serverId: randomUUID(), serverName: 'test', log: silent })
    const { rail } = actionRail({ url: venue.exchange.url, livesMs: 20_000, marginMs: 1_000, pollMs: 20 })
    const site: TransactionTarget = { ...venue.site, impl: { ...venue.site.impl, rail } }
    const server = createTransactions({
      journal: sqlJournal(store),
      leases,
      targets: [site],
      sign: signTyped,
      walletQueue: 256,
      log: silent,
    })
    running.push(server)
    await server.recovered
    return (order) =>
      server.submit({ ...order, network: site, venue: { connector: 'book', actions: site } }, soon(60_000)).then(
        () => 'done',
        ({ name }: Error) => name,
      )
  }

  it('use each id and each nonce once, whichever server is asked', async () => {
    const servers = await Promise.all([start(), start(), start()])
    const ids = Array.from({ length: 40 }, (_, index) => `o${index}`)
    venue.exchange.meddle = ({ nonce }) => (nonce % 5 === 0 ? 'lose' : 'pass')
    const told = await Promise.all(
      ids.flatMap((id) => servers.map(async (submit) => ({ id, outcome: await submit(placing(venue, { clientOrders: [named(id)] })) }))),
    )
    const [server] = running
    if (!server) throw new Error('Three run.')
    await settled(server)
    for (const id of ids)
      expect(
        told.filter((each) => each.id === id).map(({ outcome }) => outcome),
        id,
      ).to.have.members(['done', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_CONFLICT'])
    expect(venue.exchange.done.map(({ action }) => action['id'])).to.have.members(ids)
    expect(new Set(venue.exchange.asked.map(({ nonce }) => nonce)).size).to.equal(ids.length)
    const orders = await ordersOf(server)
    expect(orders.map(({ entry }) => entry.state)).to.deep.equal(ids.map(() => 'CONFIRMED'))
  })
})
