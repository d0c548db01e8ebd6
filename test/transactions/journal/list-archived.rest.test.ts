import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import type { EntryFilter } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { recorded } from '../../store/explained.ts'
import { places } from '../../store/stores.ts'
import { giveLease, newEntry, next } from './entries.ts'

const [own, stranger] = ['0x00000000000000000000000000000000000000b2', '0x00000000000000000000000000000000000000c3']

describe('lists of the archive', function () {
  this.timeout(300_000)
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
    expect(read()).to.be.at.least(12 * 2)
  })

  it('are of the connectors that are asked for, as those of the journal are', async () => {
    const store = await place().open()
    const lease = await giveLease(store)
    const journal = sqlJournal(store)
    const names = ['one', 'two', undefined, 'three']
    const opened = Array.from({ length: 12 }, (_, index) => {
      const connector = names[index % 4]
      return newEntry({ address: own, kind: index < 8 ? 'liquidity' : 'trade', ...(connector !== undefined && { connector }) })
    })
    await journal.open(opened, lease)
    const written = opened.map((entry) => next(entry, { state: 'DROPPED' }))
    await journal.write(written, lease)
    const connectors = new Set(['one', 'three'])
    const ofThem = opened.filter(({ connector = '' }) => connectors.has(connector))
    const found = async (filter: EntryFilter) =>
      (await journal.list({ ...filter, connectors, archived: true })).entries.map(({ key }) => key)
    for (const archived of [0, 6, 12]) {
      if (archived > 0) await journal.ended.moveOut(written.slice(0, archived))
      for (const filter of [{}, { address: own }]) expect(await found(filter)).to.have.members(ofThem.map(({ key }) => key))
      const changes = ofThem.filter(({ kind }) => kind === 'liquidity')
      expect(await found({ address: own, kind: 'liquidity' })).to.have.members(changes.map(({ key }) => key))
    }
  })

  it('are those of a nonce where one is asked for', async () => {
    const store = await place().open()
    const lease = await giveLease(store)
    const journal = sqlJournal(store)
    const opened = [7, 8].map((nonce) => newEntry({ address: own, nonce }))
    await journal.open(opened, lease)
    const written = opened.map((entry) => next(entry, { state: 'DROPPED' }))
    await journal.write(written, lease)
    const found = async () => (await journal.list({ address: own, nonce: 8, archived: true })).entries.map(({ key }) => key)
    for (const _ of ['journaled', 'archived']) {
      expect(await found()).to.deep.equal([opened[1]?.key])
      await journal.ended.moveOut(written)
    }
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
