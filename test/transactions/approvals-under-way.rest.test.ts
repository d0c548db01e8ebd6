// Approvals that are in no block: what is signed for a contained plugin must not count on what the newest block says alone.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { NetworkEntry, VenueEntry } from '../../core/plugins/registry.ts'
import type { SluiceError } from '../../core/base/errors.ts'
import { refuseNewApprovals } from '../../core/handlers/standing-rights.ts'
import type { Store } from '../../core/store/store.ts'
import type { Transactions } from '../../core/transactions/transactions.ts'
import { faultyJournal, type Faults } from './submit/faulty-journal.ts'
import { addressOf, freshStore, nowhere, order, planOf, soon, startSite, transactionsOn, until, type TestSite } from './site.ts'

const router = '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45'

describe('an approval that is under way', () => {
  let site: TestSite
  let store: Store
  let transactions: Transactions
  before(async () => {
    site = await startSite({ flags: ['--no-mining'], confirmations: 2 })
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

  const wallet = () => ({ chain: 'ethereum', network: 'local', address: addressOf(0) })
  const rights = () => transactions.rightsUnderWay(wallet())
  const approve = (amount: string, more: object = {}) => {
    const data = `0x095ea7b3${'0'.repeat(24)}${router.slice(2)}${amount.repeat(64)}`
    return transactions.submit(order(site, { kind: 'approve', plan: planOf({ to: nowhere, data, value: '0' }), ...more }), soon())
  }

  it('is told until it is final, and is not where it takes back', async () => {
    const { txHash } = await approve('f')
    await approve('0', { reduces: true })
    await transactions.submit(order(site), soon())
    const states = async () => (await rights()).approvals.map(({ attempts, state }) => `${state} ${attempts.at(-1)?.id}`)
    expect(await states()).to.deep.equal([`BROADCAST ${txHash}`])
    await site.mine()
    await until('it is in a block', async () => (await states()).includes(`MINED ${txHash}`))
    await site.mine(2)
    await until('it is final', async () => (await states()).length === 0)
  })

  it('is seen by a trade that was checked before it and has the nonce behind it, which is given back', async () => {
    const venue = { connector: 'strange', builtIn: false, impl: {} } as unknown as VenueEntry
    let approved: ReturnType<typeof approve> | undefined
    const trade = (to: string) => {
      const plan = planOf({ to, data: '0x12345678', value: '0' })
      const registry = { venuesOn: () => [venue] }
      let counted: ReadonlySet<string> = new Set()
      return order(site, {
        plan,
        // Its check passes, and then the approval comes.
        async precondition() {
          counted = new Set((await rights()).approvals.map(({ key }) => key))
          approved ??= approve('f')
          await approved
        },
        recheck: () => refuseNewApprovals({ plan, underWay: rights }, counted, site.network as NetworkEntry, venue, registry),
      })
    }
    const refused = await transactions.submit(trade(router), soon()).then(
      () => 'signed',
      ({ name, message, retryAfterSeconds }: SluiceError) => `${name} ${retryAfterSeconds} ${message}`,
    )
    expect(refused).to.match(new RegExp(`^OVERLOADED 12 An approval of the wallet for ${router} is under way`))
    const { nonce } = await transactions.submit(order(site), soon())
    expect(nonce).to.equal(((await approved)?.nonce ?? 0) + 1)
    expect((await transactions.submit(trade(nowhere), soon())).nonce).to.equal(nonce + 1)
    await site.mine()
  })

  it('is seen by a trade with the nonce behind it also where the store writes the trade first', async () => {
    await transactions.stop(500)
    const faults: Faults = {}
    transactions = await transactionsOn({ store, sites: [site.network], journalOf: (journal) => faultyJournal(journal, faults) })
    await transactions.submit(order(site), soon())
    let [holds, writes] = [() => {}, () => {}]
    const held = new Promise<void>((resolve) => (holds = resolve))
    const written = new Promise<void>((resolve) => (writes = resolve))
    faults.open = async (keep) => {
      faults.open = async (keepTrade) => {
        await keepTrade()
        writes()
      }
      holds()
      await written
      // Long enough for a look at the journal.
      for (let turns = 0; turns < 100; turns += 1) await nextTurn()
      await keep()
    }
    const venue = { connector: 'strange', builtIn: false, impl: {} } as unknown as VenueEntry
    const plan = planOf({ to: router, data: '0x12345678', value: '0' })
    const recheck = () =>
      refuseNewApprovals({ plan, underWay: rights }, new Set(), site.network as NetworkEntry, venue, { venuesOn: () => [venue] })
    const approved = approve('f')
    await held
    const traded = await transactions.submit(order(site, { plan, recheck }), soon()).then(
      () => 'signed',
      ({ name }: SluiceError) => name,
    )
    await approved
    expect(traded).to.equal('OVERLOADED')
    await site.mine()
  })
})
