import { expect } from 'chai'
import { type Leases, createLeasedQueues } from '../../../core/transactions/leases.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { createRecorder } from '../../../core/transactions/journal/journal.ts'
import { createUpkeep } from '../../../core/transactions/upkeep.ts'
import { addressOf, freshStore, silent, soon, startSite } from '../site.ts'

describe('automatic fills, bumps and cancels', function () {
  it('start again soon after an outage, no later than the bump interval', async () => {
    const site = await startSite({ bumpAfterSeconds: 3 })
    const store = await freshStore()
    const recorder = createRecorder(sqlJournal(store), () => {}, Date.now)
    const lease = { queue: 'queue', fencingToken: 1 }
    const leases: Leases = {
      use: (_lane, _signal, work) => work(lease),
      held: () => lease,
      takeIfFree: async () => lease,
      stop: async () => {},
    }
    const queues = createLeasedQueues({ target: site.network, recorder, leases, limit: 256 })
    await queues.use(addressOf(0), soon(), async () => {})
    let nowMs = 0
    const triedAt: number[] = []
    const submit = async () => {
      triedAt.push(nowMs)
      throw new Error('The store is away.')
    }
    const upkeep = createUpkeep({
      target: site.network,
      queues,
      recorder,
      submit,
      raise: submit,
      inBackground: (work) => work,
      closing: new AbortController().signal,
      log: silent,
      steadyMs: () => nowMs,
    })
    for (; nowMs < 60_000; nowMs += 500) {
      upkeep.fill(addressOf(0), 7)
      await new Promise((done) => setImmediate(done))
    }
    const pauses = triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0))
    expect(pauses.slice(0, 3)).to.deep.equal([1_000, 2_000, 3_000])
    expect(Math.max(...pauses)).to.equal(3_000)
    await store.close()
    await site.stop()
  })
})
