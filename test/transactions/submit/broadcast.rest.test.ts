import { expect } from 'chai'
import type { Chain } from '../../../core/contracts/index.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { createBroadcast } from '../../../core/transactions/attempts.ts'
import { createAttemptTimes } from '../../../core/transactions/lifecycle.ts'
import { createRecorder } from '../../../core/transactions/journal/journal.ts'
import { giveLease, newEntry, signed } from '../journal/entries.ts'
import {
  freshStore,
  gate,
  nowhere,
  order,
  planOf,
  reaches,
  silent,
  soon,
  startSite,
  transactionsOn,
  until,
  type TestSite,
} from '../site.ts'

describe('broadcasting signed bytes', function () {
  let site: TestSite
  before(async () => {
    site = await startSite()
  })
  after(() => site.stop())

  for (const takes of [true, false]) {
    it(`keeps the reason of a replacement, whatever nodes answer (${takes ? 'they take it' : 'they refuse it'})`, async () => {
      const store = await freshStore()
      const recorder = createRecorder(sqlJournal(store), () => {}, Date.now)
      const lease = await giveLease(store)
      const queued = newEntry()
      await recorder.open([queued], lease)
      const replaced = { ...signed(queued), replacedBy: '0xheir', reason: 'Its deadline passed before it was mined.' }
      const [entry] = (await recorder.write([{ before: queued, after: replaced }], lease)) ?? []
      const [attempt] = entry?.attempts ?? []
      if (!entry || !attempt) throw new Error('It was not kept.')
      if (takes) site.relay.meddle = (methods) => (methods.includes('eth_sendRawTransaction') ? { error: 'already known' } : 'pass')
      const closing = new AbortController().signal
      const times = createAttemptTimes(() => performance.now())
      const dispatch = createBroadcast({ target: site.network, recorder, onFinal: () => {}, closing, log: silent, times, nowMs: Date.now })
      await dispatch(entry, attempt, lease)
      await site.heal()
      expect(await recorder.read(entry.key)).to.include({ reason: replaced.reason, state: takes ? 'BROADCAST' : 'SIGNED' })
      await store.close()
    })
  }

  it('asks for no step of a plan that is still to be sent', async () => {
    const { rail } = site.chain
    const held = gate()
    const asked: (readonly string[])[] = []
    const impl: Chain = {
      ...site.chain,
      rail: {
        ...rail,
        async send(...args) {
          await held.pass
          return rail.send(...args)
        },
        async poll(attempts, ...rest) {
          asked.push(attempts.map(({ id }) => id))
          return rail.poll(attempts, ...rest)
        },
      },
    }
    const network = { ...site.network, impl }
    const transactions = await transactionsOn({ sites: [network] })
    const step = { to: nowhere, data: '0x', value: '1' }
    const submitted = transactions.submit(order(site, { network, plan: planOf(step, step) }), soon(60_000))
    await until('the first step is asked for', async () => asked.length > 0)
    const whileHeld = asked.splice(0)
    held.open()
    const hashes = (await submitted).transactions.map(({ txHash }) => txHash)
    expect(whileHeld).to.deep.equal(whileHeld.map(() => hashes.slice(0, 1)))
    for (const each of hashes) await reaches(transactions, each, 'CONFIRMED')
    await transactions.stop(0)
  })
})
