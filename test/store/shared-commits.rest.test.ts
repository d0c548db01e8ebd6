import { expect } from 'chai'
import type { Store } from '../../core/store/store.ts'
import { onBothStores } from './stores.ts'

const begin = (store: Store, lane: string, fail?: Error) =>
  store.write(async (tx) => {
    await tx.insertInto('lanes').values({ lane, server: 'one', fence: 1, wanted_by: null }).execute()
    if (fail) throw fail
    return lane
  })

describe('simultaneous writes', () => {
  onBothStores((place) => {
    it('commit or fail one by one, and each caller learns which', async () => {
      const store = await place().open()
      const lanes = Array.from({ length: 100 }, (_, index) => `lane-${String(index).padStart(3, '0')}`)
      const isBad = (index: number) => index % 7 === 3
      const outcomes = await Promise.allSettled(lanes.map((lane, index) => begin(store, lane, isBad(index) ? new Error(lane) : undefined)))

      const told = outcomes.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason)))
      expect(told).to.deep.equal(lanes.map((lane, index) => (isBad(index) ? `Error: ${lane}` : lane)))
      const rows = await store.read((db) => db.selectFrom('lanes').select('lane').orderBy('lane').execute())
      expect(rows.map(({ lane }) => lane)).to.deep.equal(lanes.filter((_, index) => !isBad(index)))
    })

    it('see the write before, and one that violates a constraint fails alone', async () => {
      const store = await place().open()
      const twice = await Promise.allSettled([begin(store, 'a'), begin(store, 'a'), begin(store, 'b')])
      expect(twice.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'fulfilled', 'rejected'])
      const rows = await store.read((db) => db.selectFrom('lanes').select('lane').orderBy('lane').execute())
      expect(rows).to.deep.equal([{ lane: 'a' }, { lane: 'b' }])
    })
  })
})
