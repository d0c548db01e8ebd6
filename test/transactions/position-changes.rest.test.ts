import { expect } from 'chai'
import type { Store } from '../../core/store/store.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { readChangesBefore, type ChangeFilter } from '../../core/transactions/position-changes.ts'
import { firstKeyAt } from '../../core/transactions/submit-request.ts'
import { recorded } from '../store/explained.ts'
import { onBothStores } from '../store/stores.ts'
import { giveLease, newEntry, next, wallet } from './journal/entries.ts'

const [start, other] = [Date.UTC(2026, 0, 1), '0x00000000000000000000000000000000000000c3']
const landed = { id: '0x1', ok: true, blockNumber: 7, receipt: null }

describe('changes of positions before a moment', function () {
  this.timeout(300_000)

  onBothStores((place) => {
    let store: Store
    beforeEach(async () => {
      store = await place().open()
    })

    const baseOf = ({ request }: Entry): string | undefined => {
      const base = request?.fields['base']
      return typeof base === 'string' ? base : undefined
    }
    let count = 0
    const changed = (base: string | undefined, over: Partial<Entry> = {}): Entry => {
      count += 1
      const createdAt = over.createdAt ?? start + count
      const request = { path: '/perpAMM/open', fields: base === undefined ? {} : { base, quote: 'USD' } }
      return newEntry({ kind: 'position', key: `${firstKeyAt(createdAt)}${String(count).padStart(8, '0')}`, createdAt, request, ...over })
    }

    /** Each ends, and the first of them leave the journal. */
    async function journal(changes: readonly Entry[], archived = 0): Promise<void> {
      const lease = await giveLease(store)
      const { open, write, ended } = sqlJournal(store)
      await open(changes, lease)
      const final = changes.map((each) => next(each, { state: 'CONFIRMED', landed }))
      await write(final, lease)
      if (archived > 0) await ended.moveOut(final.slice(0, archived))
    }

    /** What is read, by the base of its request. */
    async function read(
      filter: ChangeFilter = {},
      { beforeMs = start + 1_000_000, tells }: { beforeMs?: number; tells?: (entry: Entry) => boolean } = {},
    ) {
      const { recording, queries } = recorded(store)
      const bases: string[] = []
      const { lacksSome } = await readChangesBefore(
        recording,
        filter,
        beforeMs,
        (entry) => {
          bases.push(baseOf(entry) ?? entry.key)
          return tells?.(entry) ?? true
        },
        new AbortController().signal,
      )
      return { bases: bases.toSorted(), lacksSome, queries }
    }

    it('are found however many came after them, in the journal and in the archive, one of each position', async () => {
      const old = [changed('BTC'), changed('DOGE')]
      const many = Array.from({ length: 1_200 }, (_, index) => changed(index % 2 === 0 ? 'ETH' : 'SOL'))
      await journal([...old, ...many], 700)
      const { bases, lacksSome, queries } = await read()
      expect(bases).to.deep.equal(['BTC', 'DOGE', 'ETH', 'SOL'])
      expect(lacksSome).to.equal(false)
      expect(queries.filter((query) => query.sql.includes('"body"'))).to.have.length(2)
    })

    it('are those that the filter takes', async () => {
      const mine = [changed('ETH'), changed('BTC', { client: 'second' }), changed('SOL', { connector: 'second' })]
      await journal([...mine, changed('DOGE', { address: other }), changed('LATE', { createdAt: start + 900_000 })], 2)
      const found = async (filter: ChangeFilter, beforeMs?: number) =>
        (await read(filter, beforeMs === undefined ? {} : { beforeMs })).bases.join(' ')
      expect(await found({})).to.equal('BTC DOGE ETH LATE SOL')
      expect(await found({}, start + 900_000)).to.equal('BTC DOGE ETH SOL')
      expect(await found({ client: 'second' })).to.equal('BTC')
      expect(await found({ connector: 'second' })).to.equal('SOL')
      expect(await found({ address: wallet.toUpperCase().replace('0X', '0x'), network: 'local' })).to.equal('BTC ETH LATE SOL')
      expect(await found({ addresses: new Set([other]) })).to.equal('DOGE')
      expect(await found({ pair: 'eth-usd' })).to.equal('ETH')
      expect(await found({ network: 'mainnet' })).to.equal('')
    })

    it('are read on to older ones of the same position until one has told it, and all of them where they are of no pair', async () => {
      await journal([changed('ETH', { nonce: 1 }), changed('ETH'), changed('ETH'), changed(undefined), changed(undefined)], 2)
      const { bases } = await read({}, { tells: (entry) => entry.nonce === 1 || baseOf(entry) === undefined })
      expect(bases.filter((each) => each === 'ETH')).to.have.length(3)
      expect(bases).to.have.length(5)
    })

    it('lack some where one is damaged and no other one tells its position', async () => {
      const [old, damaged, alone] = [changed('ETH'), changed('ETH'), changed('BTC')]
      await journal([old, damaged, alone], 1)
      const damage = (key: string) =>
        store.write((tx) =>
          tx
            .updateTable('entries')
            .set({ body: new Uint8Array(9) })
            .where('key', '=', key)
            .execute(),
        )
      await damage(damaged.key)
      expect(await read()).to.deep.include({ bases: ['BTC', 'ETH'], lacksSome: false })
      await damage(alone.key)
      expect(await read()).to.deep.include({ bases: ['ETH'], lacksSome: true })
    })
  })
})
