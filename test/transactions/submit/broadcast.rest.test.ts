import { expect } from 'chai'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { createBroadcast } from '../../../core/transactions/attempts.ts'
import { createAttemptTimes } from '../../../core/transactions/lifecycle.ts'
import { createRecorder } from '../../../core/transactions/journal/journal.ts'
import { giveLease, newEntry, signed } from '../journal/entries.ts'
import { freshStore, silent, startSite, type TestSite } from '../site.ts'

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
})
