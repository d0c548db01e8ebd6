import { expect } from 'chai'
import type { Store } from '../../core/store/store.ts'
import { createStops, type StoredStop } from '../../core/transactions/stops.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const stopOf = (subject: string): StoredStop => ({ mode: 'stop', scope: 'client', subject, set_by: 'boss', set_at: 1, reason: null })

describe('what is stopped, as the store says it', () => {
  it('holds in the order of its changes, however long a reading takes', async () => {
    const answers: (() => void)[] = []
    const stored: StoredStop[] = []
    const rowsOf = (found: readonly StoredStop[]) => found.map(({ subject }) => ({ mode: 'stop', scope: { of: 'client', subject } }))
    const read = () => {
      const found = rowsOf(stored)
      return new Promise((resolve) => answers.push(() => resolve(found)))
    }
    const held: number[] = []
    const stops = createStops({
      store: { read, writeOnce: async () => [] } as unknown as Pick<Store, 'read' | 'writeOnce'>,
      waitForWriters: async () => {},
      log: { info: () => {}, warn: () => {} },
      onChange: (now) => held.push(now.length),
    })
    try {
      const answerAll = async (refreshes: readonly Promise<void>[]) => {
        // The newest question is answered first.
        for (let questions = 0; questions < 8; questions += 1) {
          answers.pop()?.()
          await turn()
        }
        await Promise.all(refreshes)
      }
      stored.push(stopOf('one'))
      await answerAll([stops.refresh()])
      const before = stops.refresh()
      stored.push(stopOf('other'))
      await answerAll([before, stops.refresh()])
      expect(held.at(-1)).to.equal(2)
    } finally {
      stops.stop()
    }
  })
})
