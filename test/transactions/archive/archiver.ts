import { expect } from 'chai'
import { pack } from '../../../core/store/compact.ts'
import type { Store } from '../../../core/store/store.ts'
import { createArchiveFiles } from '../../../core/transactions/archive-files.ts'
import { dayMs } from '../../../core/transactions/archiver.ts'
import { highestUsed } from '../../../core/transactions/leases.ts'
import { createIdempotency } from '../../../core/transactions/idempotency.ts'
import type { StorePlace } from '../../store/stores.ts'
import { giveLease, newEntry, next, queueOf, signed, wallet } from '../journal/entries.ts'
import { archiveFolder, archiveOn, never, type ArchiveOptions, type ArchiveSite } from './archive-site.ts'

const [other, third] = ['0x00000000000000000000000000000000000000b2', '0x00000000000000000000000000000000000000c3']
const landedOf = (id: string) => ({ id, ok: true, blockNumber: 7, receipt: null })

/** The tests of the archive, on the store of the surrounding `describe`. */
export function archiverTests(place: () => StorePlace): void {
  let store: Store
  let site: ArchiveSite
  let folder: string
  let remove: () => Promise<void>
  const sites: ArchiveSite[] = []

  const open = (options: ArchiveOptions = {}, on = store) => {
    const opened = archiveOn(on, folder, options)
    sites.push(opened)
    return opened
  }
  beforeEach(async () => {
    ;({ folder, remove } = await archiveFolder())
    store = await place().open()
    site = open()
  })
  afterEach(async () => {
    for (const each of sites.splice(0)) await each.stop()
    await remove()
  })

  it('moves what ended longer ago than it is kept, whole, into a file of its month, and leaves its outcome', async () => {
    const old = await site.confirmed({ createdAt: Date.UTC(2026, 2, 31) })
    const newest = await site.confirmed({ createdAt: Date.UTC(2026, 3, 1) })
    await site.passDays(91)
    const recent = await site.confirmed()
    await site.archiver.run()
    expect(await site.keys()).to.have.members([recent.key])
    const lines = await site.lines()
    expect(Object.keys(lines)).to.deep.equal(['transactions-2026-03.ndjson.gz', 'transactions-2026-04.ndjson.gz'])
    expect(lines['transactions-2026-03.ndjson.gz']).to.have.lengthOf(1)
    const { key: id, state: txState, attempts, landed, ...rest } = old
    const txHash = landed?.id
    expect(lines['transactions-2026-03.ndjson.gz']?.[0]).to.deep.equal({
      ...rest,
      step: null,
      id,
      txState,
      txHash,
      final: true,
      txBlock: 7,
      attempts: attempts.map(({ fees, signedAt, sends }) => ({ txHash, fees, signedAt, sends })),
      landed: { txHash, ok: true, blockNumber: 7, receipt: { logs: ['all of it'] } },
    })
    for (const entry of [old, newest]) {
      const found = await site.journal.find('ethereum', 'local', entry.attempts[0]?.id ?? '')
      expect(found).to.include({ archived: true, key: entry.key, state: 'CONFIRMED', requestId: entry.requestId })
      expect(found?.landed).to.include({ ok: true, blockNumber: 7, receipt: null })
    }
  })

  it('keeps what a transaction cost where an earlier version left that to its receipt', async () => {
    const receipt = { gasUsed: '21000', effectiveGasPrice: '10' }
    const old = await site.confirmed({}, receipt)
    await site.confirmed()
    await site.passDays(91)
    await site.archiver.run()
    const found = await site.journal.find('ethereum', 'local', old.attempts[0]?.id ?? '')
    expect(found?.landed).to.deep.include({ receipt: null, cost: { feeRaw: '210000', gasUsed: '21000' } })
  })

  it('finds archived ones by hash, request and Idempotency-Key, and lists them where they are asked for', async () => {
    const entries = []
    for (let count = 0; count < 7; count += 1) entries.push(await site.confirmed({ idempotencyKey: `key-${count}` }))
    await site.passDays(91)
    const recent = [await site.confirmed(), await site.confirmed({ address: other, chain: 'ethereum' })]
    await site.archiver.run()
    const [first] = entries
    const txHash = first?.attempts[0]?.id ?? ''
    for (const filter of [{ txHash }, { requestId: first?.requestId ?? '' }, { idempotencyKey: 'key-0' }]) {
      const found = await site.journal.list(filter)
      expect(found.entries.map(({ key, archived }) => [key, archived])).to.deep.equal([[first?.key, true]])
      expect((await site.journal.list({ ...filter, addresses: new Set([other]) })).entries).to.deep.equal([])
      expect((await site.journal.list({ ...filter, state: 'REVERTED' })).entries).to.deep.equal([])
    }
    expect((await site.journal.list({})).entries.map(({ key }) => key)).to.have.members(recent.map(({ key }) => key))
    const newestFirst = [...entries, ...recent].map(({ key }) => key).toReversed()
    for (const limit of [1, 2, 3, 8, 9, 10]) {
      const keys: string[] = []
      let cursor: string | undefined
      do {
        const page = await site.journal.list({ archived: true, limit, ...(cursor !== undefined && { cursor }) })
        keys.push(...page.entries.map(({ key }) => key))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(keys, `${limit} a page`).to.deep.equal(newestFirst)
    }
    const ofWallet = await site.journal.list({ archived: true, address: wallet.toLowerCase(), state: 'CONFIRMED' })
    expect(ofWallet.entries).to.have.lengthOf(8)
  })

  it('keeps what is open, however old, and the final ones that have its nonce', async () => {
    const open = await site.add({ nonce: 5, sequence: 5 })
    const mined = await site.confirmed({ nonce: 5, sequence: 5 })
    const others = [await site.confirmed({ nonce: 6, sequence: 6 }), await site.confirmed({ nonce: 7, sequence: 7 })]
    await site.passDays(1_000)
    await site.archiver.run()
    expect(await site.keys()).to.deep.equal([open.key, mined.key, others[1]?.key])
  })

  it('keeps the newest transaction of each wallet, from which its nonces go on', async () => {
    const mine = [await site.confirmed({ nonce: 1, sequence: 1 }), await site.confirmed({ nonce: 2, sequence: 2 })]
    const others = [await site.confirmed({ address: other, nonce: 8, sequence: 8 })]
    const unsigned = await site.add({ address: third }, { state: 'EXPIRED' })
    await site.passDays(91)
    await site.archiver.run()
    expect(await site.keys()).to.deep.equal([mine[1]?.key, others[0]?.key])
    expect((await site.archived()).map(({ id }) => id)).to.have.members([mine[0]?.key, unsigned.key])
  })

  it('leaves nonces that callers chose, and those that the server assigned, to go on where they were', async () => {
    for (const [nonce, sequenceGiven] of [
      [4, false],
      [1_000, true],
      [5, false],
      [3, true],
      [2, true],
    ] as const)
      await site.confirmed({ nonce, sequence: nonce, sequenceGiven })
    const on = { chain: 'ethereum', network: 'local', on: { address: wallet } }
    const highest = async () => {
      const found = [await highestUsed(site.journal, on, false), await highestUsed(site.journal, on, true)]
      return found.map((entry) => entry?.nonce)
    }
    expect(await highest()).to.deep.equal([1_000, 5])
    await site.passDays(91)
    await site.archiver.run()
    expect(await site.keys()).to.have.lengthOf(2)
    expect(await highest()).to.deep.equal([1_000, 5])
  })

  it('keeps what placed an order until the order is known to have ended, and then still shows the order', async () => {
    const entry = newEntry({ kind: 'order', about: null })
    const lease = await giveLease(store, { queue: queueOf(), fencingToken: 1 })
    await site.journal.open([entry], lease, undefined, [
      { clientOrderId: 'mine', type: 'CLOB', market: 'A-B', index: 0, about: { side: 'BUY' } },
    ])
    await site.journal.write([signed(entry, '0xorder')], lease)
    await site.journal.write([next(signed(entry, '0xorder'), { state: 'CONFIRMED', landed: landedOf('0xorder') })], lease)
    await site.confirmed()
    await site.passDays(91)
    await site.archiver.run()
    expect(await site.keys()).to.include(entry.key)

    const venue = { chain: 'ethereum', network: 'local', connector: 'exchange', address: wallet }
    const [order] = await site.journal.orders.list({ ...venue, limit: 1 })
    if (!order) throw new Error('The order is there.')
    await site.journal.orders.note(order, { state: 'FILLED', filledAmount: '1', updatedAt: 1 })
    await site.archiver.run()
    expect(await site.keys()).to.not.include(entry.key)
    const [after] = await site.journal.orders.list({ ...venue, clientOrderId: 'mine', limit: 1 })
    expect(after?.report).to.include({ state: 'FILLED', filledAmount: '1' })
    expect(after?.entry).to.include({ archived: true, state: 'CONFIRMED' })
    expect(await site.journal.orders.firstUsed(venue, ['mine'])).to.equal('mine')
  })

  it('leaves key, fingerprint and answer of a request', async () => {
    const idempotency = createIdempotency({ store, serverId: 'server', log: { info: () => {}, warn: () => {} } })
    try {
      const key = { client: 'bot', path: '/trade', key: 'once' }
      const lease = await giveLease(store)
      const done: string[] = []
      const call = (request: object) =>
        idempotency.once({
          key,
          request,
          requestId: 'first',
          act: async (claim) => {
            const entry = newEntry({ idempotencyKey: 'once', requestId: 'first' })
            done.push(entry.key)
            await site.journal.open([entry], lease, claim)
            const answer = { status: 200, body: 'sent' }
            const written = signed(entry, '0xonce')
            await site.journal.write([written], lease, { claim, ...answer })
            await site.journal.write([next(written, { state: 'CONFIRMED', landed: landedOf('0xonce') })], lease)
            return { answer, isRecorded: true }
          },
        })
      await call({ amount: '1' })
      await site.confirmed()
      await site.passDays(1_000)
      await site.archiver.run()
      await idempotency.age()
      expect((await site.archived()).map(({ id }) => id)).to.deep.equal(done)
      expect(await call({ amount: '1' })).to.deep.equal({ status: 200, body: 'sent' })
      expect(await call({ amount: '2' }).catch((error: unknown) => error)).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
      expect(done).to.have.lengthOf(1)
    } finally {
      idempotency.stop()
    }
  })

  it("goes by the store's time, whatever the clocks of machines say", async () => {
    const longAgo = await site.confirmed({ createdAt: 1, updatedAt: 1 })
    const ahead = await site.confirmed({ createdAt: Date.now() + 400 * dayMs, updatedAt: Date.now() + 400 * dayMs })
    await site.confirmed()
    await site.archiver.run()
    const result = await site.archiver.prune({ olderThanMs: 0 }, never)
    expect(result).to.deep.equal({ archived: 0, kept: 0 })
    await site.passDays(89)
    await site.archiver.run()
    expect(await site.keys()).to.include.members([longAgo.key, ahead.key])
    await site.passDays(2)
    await site.archiver.run()
    expect((await site.archived()).map(({ id }) => id)).to.have.members([longAgo.key, ahead.key])
  })

  it('moves at a word what is older than it says, a day at least, or only counts it', async () => {
    for (let count = 0; count < 4; count += 1) await site.confirmed({ nonce: count, sequence: count })
    await site.passDays(2)
    const before = await site.keys()
    expect(await site.archiver.prune({ olderThanMs: 2.5 * dayMs + 0.3 }, never)).to.deep.equal({ archived: 0, kept: 0 })
    expect(await site.archiver.prune({ olderThanMs: dayMs, isDryRun: true }, never)).to.deep.equal({ archived: 3, kept: 1 })
    expect(await site.keys()).to.deep.equal(before)
    expect(await site.lines()).to.deep.equal({})
    expect(await site.archiver.prune({ olderThanMs: dayMs }, never)).to.deep.equal({ archived: 3, kept: 1 })
    expect(await site.keys()).to.deep.equal(before.slice(3))
    expect(await site.archiver.prune({ olderThanMs: dayMs }, never)).to.deep.equal({ archived: 0, kept: 1 })
  })

  it('has each entry in one whole line though calls archive at the same time', async () => {
    const march = { createdAt: Date.UTC(2026, 2, 5) }
    for (let count = 0; count < 2; count += 1) await site.confirmed({ ...march, nonce: count, sequence: count })
    await site.passDays(91)
    await site.archiver.run()
    for (let count = 2; count < 60; count += 1) await site.confirmed({ ...march, nonce: count, sequence: count })
    await site.passDays(91)
    await Promise.all([
      site.archiver.run(),
      site.archiver.prune({ olderThanMs: dayMs }, never),
      site.archiver.prune({ olderThanMs: dayMs }, never),
    ])
    const ids = (await site.archived()).map(({ id }) => id)
    expect(new Set(ids).size).to.equal(59)
    expect(ids).to.have.lengthOf(59)
    expect(await site.keys()).to.have.lengthOf(1)
  })

  it('goes on past a damaged entry, which stays and is named once', async () => {
    const entries = [await site.confirmed(), await site.confirmed(), await site.confirmed()]
    await store.write((tx) =>
      tx
        .updateTable('entries')
        .set({ body: pack('{}') })
        .where('key', '=', entries[0]?.key ?? '')
        .execute(),
    )
    await site.passDays(91)
    await site.archiver.run()
    await site.archiver.run()
    expect(await site.keys()).to.deep.equal([entries[0]?.key, entries[2]?.key])
    expect(site.told.filter((fields) => 'key' in fields)).to.have.lengthOf(1)
  })

  it('deletes events with the entries, but neither newer ones nor the newest', async () => {
    await site.confirmed()
    await site.confirmed()
    await site.archiver.run()
    const mark = await site.journal.lastEventId()
    await site.passDays(91)
    await site.archiver.run()
    const ids = async () => (await site.journal.eventsAfter(0, { limit: 100 })).map(({ id }) => id)
    expect(await ids()).to.deep.equal([mark])
    expect(await site.journal.lastEventId()).to.equal(mark)
    await site.confirmed()
    await site.archiver.run()
    expect(await ids()).to.deep.equal([mark + 1, mark + 2, mark + 3])
  })

  describe('in trouble', () => {
    it('loses nothing where files cannot be written, says so once, and goes on when they can', async () => {
      let isFull = true
      const files = createArchiveFiles(folder)
      const failing: boolean[] = []
      const full = open({
        onFailing: (isFailing) => failing.push(isFailing),
        files: () => ({
          folder,
          append: async (entries) => {
            if (isFull) throw new Error('ENOSPC: no space left on device, write')
            await files.append(entries)
          },
        }),
      })
      const entries = [await site.confirmed(), await site.confirmed()]
      await site.passDays(91)
      await full.archiver.run()
      await full.archiver.run()
      expect(await site.keys()).to.deep.equal(entries.map(({ key }) => key))
      expect(JSON.stringify(full.told)).to.contain('no space left on device')
      expect(full.told).to.have.lengthOf(1)
      const error = await full.archiver.prune({ olderThanMs: dayMs }, never).catch((cause: unknown) => cause)
      expect(error).to.include({ name: 'OVERLOADED' })
      isFull = false
      await full.archiver.run()
      expect(await site.keys()).to.deep.equal([entries[1]?.key])
      expect(failing).to.deep.equal([true, true, false])
    })

    it('archives again what a server wrote to its file that died before it deleted the rows', async () => {
      const entries = [await site.confirmed(), await site.confirmed()]
      await createArchiveFiles(folder).append(entries.slice(0, 1))
      await site.passDays(91)
      await site.archiver.run()
      const lines = await site.lines()
      expect(Object.values(lines).map((each) => each.map(({ id }) => id))).to.deep.equal([[entries[0]?.key], [entries[0]?.key]])
    })
  })
}
