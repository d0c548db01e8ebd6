import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { recorded } from '../../store/explained.ts'
import { places } from '../../store/stores.ts'
import { giveLease, newEntry, next } from './entries.ts'

const [own, stranger] = ['0x00000000000000000000000000000000000000b2', '0x00000000000000000000000000000000000000c3']

describe('lists of the archive', function () {
  this.timeout(60_000)
  const { place } = places('embedded')

  /** All are of the same wallet. */
  async function archive(count: number) {
    const store = await place().open()
    const lease = await giveLease(store)
    const journal = sqlJournal(store)
    const opened = Array.from({ length: count }, () => newEntry({ address: stranger, kind: 'liquidity', idempotencyKey: 'known' }))
    await journal.open(opened, lease)
    const written = opened.map((entry) => next(entry, { state: 'DROPPED' }))
    await journal.write(written, lease)
    await journal.ended.moveOut(written)
    const { recording, queries } = recorded(store)
    const isOfArchive = ({ sql }: { sql: string }) => /from "archived"/.test(sql)
    return { journal: sqlJournal(recording), read: () => queries.filter(isOfArchive).length }
  }

  it('hold other work up for one statement, however many are read at once', async () => {
    const { journal, read } = await archive(600)
    let isOver = false
    const lists = Promise.all(Array.from({ length: 12 }, () => journal.list({ address: own, kind: 'liquidity', archived: true })))
    void lists.finally(() => (isOver = true))
    const held: number[] = []
    while (!isOver) {
      const before = read()
      await nextTurn()
      held.push(read() - before)
    }
    for (const page of await lists) expect(page.entries).to.deep.equal([])
    expect(Math.max(...held)).to.be.at.most(1)
    expect(read()).to.be.at.least(12 * 6)
  })

  it('are found by their Idempotency-Key before long ones are through', async () => {
    const { journal, read } = await archive(600)
    const lists = Array.from({ length: 12 }, () => journal.list({ address: own, kind: 'liquidity', archived: true }))
    while (read() < 12) await nextTurn()
    const before = read()
    expect((await journal.list({ archived: true, idempotencyKey: 'known', limit: 1 })).entries).to.have.length(1)
    expect(read() - before).to.be.at.most(6)
    await Promise.all(lists)
  })
})
