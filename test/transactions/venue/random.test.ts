import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Store } from '../../../core/store/store.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { randomOf, type Random } from '../../../tools/chaos/random.ts'
import type { Meddle } from '../../fixtures/signed-actions/exchange.ts'
import { addressOf, freshStore, soon, transactionsOn } from '../site.ts'
import { named, ordersOf, placing, settled, signTyped, startVenue, type VenueSite } from './venue-site.ts'

const orders = 80
const owners = [addressOf(0), addressOf(1)]
const agent = addressOf(5)

/** What becomes of an action is decided by its id, whenever it is sent; the luckless never come through. */
const trouble =
  (random: Random): Meddle =>
  ({ action }) => {
    const luck = random.fork(String(action['id'])).next()
    if (luck < 0.08) return 'cut'
    const now = random.next()
    if (now < 0.15) return 'cut'
    if (now < 0.3) return 'lose'
    if (now < 0.4) return { hold: sleep(random.below(80)) }
    if (now < 0.5) return { late: sleep(random.below(80)) }
    if (now < 0.55) return { status: random.pick([429, 500, 503]) }
    return 'pass'
  }

interface ReportedOrder {
  id: string
  owner: string
  outcome: string
}

describe('any fault between a server and an exchange', function () {
  this.timeout(60_000)
  let venue: VenueSite
  let store: Store
  beforeEach(async () => {
    // Short lives, so that some end unheard of.
    venue = await startVenue({ livesMs: 1_500, marginMs: 500 })
    venue.exchange.agents.set(agent.toLowerCase(), addressOf(1).toLowerCase())
    store = await freshStore()
  })
  afterEach(async () => {
    await store.close()
    await venue.stop()
  })

  for (const seed of ['one', 'two'])
    it(`leaves each order done once or never, with its true state (seed ${seed})`, async () => {
      const random = randomOf(seed)
      const start = () => transactionsOn({ store, sites: [venue.site], sign: signTyped })
      let server: Promise<Transactions> = start()
      venue.exchange.meddle = trouble(random.fork('network'))
      const told: ReportedOrder[] = []

      async function place(index: number): Promise<void> {
        const own = random.fork(`order ${index}`)
        const owner = own.pick(owners)
        // Some ids come twice.
        const id = `o${own.chance(0.15) ? Math.max(0, index - 1) : index}`
        const signer = owner === owners[1] && own.chance(0.5) ? { signer: agent } : {}
        const order = placing(venue, { address: owner, clientOrders: [named(id)], amount: own.chance(0.1) ? '0' : '1', ...signer })
        const { submit } = await server
        const outcome = await submit(order, soon(2_000)).then(
          ({ landed }) => (landed === undefined ? 'sent' : landed.ok ? 'done' : 'refused'),
          ({ name }: Error) => name,
        )
        told.push({ id, owner, outcome })
      }

      // Several at once; now and then the server dies amid them.
      const indices = Array.from({ length: orders }, (_, index) => index).values()
      let deaths = 0
      async function work(): Promise<void> {
        for (const index of indices) {
          if (told.length >= 20 * (deaths + 1)) {
            deaths += 1
            const dying = await server
            server = dying.stop(0).then(start)
          }
          await place(index)
        }
      }
      await Promise.all(Array.from({ length: 8 }, work))
      const last = await server
      await settled(last)

      const { done } = venue.exchange
      const kinds: Record<string, number> = {}
      for (const owner of owners)
        for (const { clientOrderId, entry } of await ordersOf(last, { address: owner })) {
          const effects = done.filter(({ action }) => action.user === owner && action['id'] === clientOrderId)
          const expected = effects[0] === undefined ? 'EXPIRED' : effects[0].outcome.error === undefined ? 'CONFIRMED' : 'REVERTED'
          expect(effects.length, `${clientOrderId} of ${owner} was done`).to.be.at.most(1)
          expect(entry.state, `${clientOrderId} of ${owner}`).to.equal(expected)
          expect(entry.attempts.length, `${clientOrderId} was signed`).to.be.at.most(1)
          kinds[entry.state] = (kinds[entry.state] ?? 0) + 1
          const first = told.filter((each) => each.id === clientOrderId && each.owner === owner).map(({ outcome }) => outcome)
          if (first.includes('done')) expect(entry.state).to.equal('CONFIRMED')
          if (first.includes('refused')) expect(entry.state).to.equal('REVERTED')
          // Definite errors alone: nothing was done, and nothing will be.
          if (first.every((each) => !['done', 'refused', 'sent', 'TIMEOUT'].includes(each))) expect(effects).to.deep.equal([])
        }
      const { entries } = await last.list({ limit: 500 })
      const signed = entries.filter(({ attempts }) => attempts.length > 0)
      expect(new Set(signed.map(({ signer, nonce }) => `${signer}/${nonce}`)).size).to.equal(signed.length)
      expect(done.length).to.equal((kinds['CONFIRMED'] ?? 0) + (kinds['REVERTED'] ?? 0))
      expect(kinds).to.include.keys('CONFIRMED')
      expect(deaths).to.equal(3)
      await last.stop(0)
    })
})
