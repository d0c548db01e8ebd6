import { expect } from 'chai'
import type { Store } from '../../../core/store/store.ts'
import { canonicalHash } from '../../../core/base/addresses.ts'
import { txHashOf, type Entry, type TransactionState } from '../../../core/transactions/entry.ts'
import type { EntryFilter } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { explainer, recorded } from '../../store/explained.ts'
import { onBothStores, type StorePlace } from '../../store/stores.ts'
import { attempt, giveLease, newEntry, next } from './entries.ts'

const wallets = Array.from({ length: 4 }, (_, index) => `0xAbCdEf000000000000000000000000000000000${index}`)
const networks = [
  ['ethereum', 'mainnet'],
  ['ethereum', 'arbitrum'],
  ['polygon', 'mainnet'],
] as const
const states: readonly TransactionState[] = ['CONFIRMED', 'CONFIRMED', 'DROPPED', 'CONFIRMED', 'MINED']

/** Of a certificate with many wallets: most have no entries. */
const manyWallets = new Set([
  ...Array.from({ length: 150 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`),
  ...wallets.slice(1).map((each) => each.toLowerCase()),
])

/** Entries in which everything that lists are filtered by goes with everything else. */
function invented(count: number): readonly Entry[] {
  return Array.from({ length: count }, (_, index) => {
    const [chain, network] = networks[index % networks.length] ?? networks[0]
    return newEntry({
      chain,
      network,
      address: wallets[Math.floor(index / 3) % wallets.length] ?? '',
      requestId: `request-${index % 17}`,
      ...(index % 2 === 0 && { idempotencyKey: `key-${index % 10}` }),
      ...(index % 11 === 0 && { signer: wallets[0] }),
    })
  })
}

const ended = (entry: Entry, index: number): Entry =>
  next(entry, { state: states[index % states.length] ?? 'CONFIRMED', attempts: [attempt(`0xhash${entry.key}`)] })

async function fill(store: Store, count: number): Promise<readonly Entry[]> {
  const lease = await giveLease(store)
  const journal = sqlJournal(store)
  const all = invented(count)
  await journal.open(all, lease)
  const written = all.map(ended)
  await journal.write(written, lease)
  return written.toReversed()
}

const values = {
  chain: ['ethereum', 'nowhere'],
  network: ['mainnet'],
  address: [wallets[1]],
  addresses: [new Set([wallets[1], wallets[3]].map((each = '') => each.toLowerCase()))],
  state: ['CONFIRMED', 'MINED'],
  txHash: ['later'],
  idempotencyKey: ['key-4'],
  requestId: ['request-4'],
  cursor: ['later'],
  on: [{}, { address: wallets[1] }, { connector: 'exchange', address: wallets[0] }],
  nonce: ['later'],
} as const

const startMs = 1_790_000_000_000
const pairs = [
  ['WETH', 'USDC'],
  ['USDC', 'weth'],
  ['WBTC', 'DAI'],
  ['DAI', 'USDC'],
] as const

/** Entries in which kind, client, connector, pair and time go with one another. */
function varied(count: number): readonly Entry[] {
  return Array.from({ length: count }, (_, index) => {
    const [base, quote] = pairs[index % 4] ?? pairs[0]
    const kind = index % 5 === 0 ? 'approve' : 'trade'
    return newEntry({
      key: `${(startMs + index * 1_000).toString(36).padStart(9, '0')}00aaaaaa`,
      createdAt: startMs + index * 1_000,
      address: wallets[Math.floor(index / 3) % wallets.length] ?? '',
      client: index % 2 === 0 ? 'bot' : 'other',
      kind,
      connector: index % 7 === 0 ? 'second' : 'exchange',
      about: kind === 'trade' ? { side: 'BUY', base: { symbol: base }, quote: { symbol: quote } } : null,
    })
  })
}

const variedValues = {
  client: ['bot', 'nobody'],
  kind: ['trade', 'approve'],
  connector: ['exchange', 'second'],
  pair: ['usdc-weth'],
  from: [startMs + 100_000],
  to: [startMs + 200_500],
  address: [wallets[1]],
  addresses: [new Set([wallets[1], wallets[3]].map((each = '') => each.toLowerCase()))],
  cursor: ['later'],
} as const

/** As many as a hundred networks have, of which two have entries. */
const pairAliases = [
  { chain: 'polygon', network: 'mainnet', pair: 'dai-usdc' },
  { chain: 'ethereum', network: 'local', pair: 'dai-wbtc' },
  ...Array.from({ length: 100 }, (_, index) => ({ chain: 'ethereum', network: 'local', pair: `${index}-usdc` })),
]

function isVaried(
  entry: Entry,
  { client, kind, connector, pair, pairAliases: aliases = [], isOfNoPair, from, to, ...others }: EntryFilter,
): boolean {
  const traded = entry.about === null ? undefined : JSON.stringify(entry.about).toLowerCase()
  const isOf = (name: string) => traded !== undefined && name.split('-').every((each) => traded.includes(`"${each}"`))
  return (
    matches(entry, others) &&
    (client === undefined || entry.client === client) &&
    (kind === undefined || entry.kind === kind) &&
    (connector === undefined || entry.connector === connector) &&
    (!isOfNoPair || traded === undefined) &&
    (pair === undefined ||
      isOf(pair) ||
      aliases.some((alias) => isOf(alias.pair) && alias.chain === entry.chain && alias.network === entry.network)) &&
    (from === undefined || entry.createdAt >= from) &&
    (to === undefined || entry.createdAt < to)
  )
}

/** Each combination of the filters, with each value of them. Of a database that is farther away fewer are asked. */
function combinations(
  middle: Entry,
  { kind }: StorePlace,
  of: Readonly<Record<string, readonly unknown[]>> = values,
): readonly EntryFilter[] {
  const known: Record<string, unknown> = { txHash: txHashOf(middle), cursor: middle.key, nonce: middle.nonce }
  let filters: readonly EntryFilter[] = [{}]
  for (const [name, list] of Object.entries(of))
    filters = filters.flatMap((filter) => [filter, ...list.map((value) => ({ ...filter, [name]: known[name] ?? value }))])
  return filters.filter((_, index) => kind === 'embedded' || index % 7 === 0)
}

function matches(
  entry: Entry,
  { chain, network, address, addresses, state, txHash, idempotencyKey, requestId, cursor, on, nonce }: EntryFilter,
) {
  const isSame = (wanted: unknown, value: unknown) => wanted === undefined || wanted === value
  const connector = entry.signer === undefined ? undefined : entry.connector
  const owner = on?.connector === undefined ? entry.address : entry.signer
  return (
    isSame(chain, entry.chain) &&
    isSame(network, entry.network) &&
    isSame(address, entry.address) &&
    (addresses?.has(entry.address.toLowerCase()) ?? true) &&
    isSame(state, entry.state) &&
    (txHash === undefined || entry.attempts.some(({ id }) => canonicalHash(id) === canonicalHash(txHash))) &&
    isSame(idempotencyKey, entry.idempotencyKey) &&
    isSame(requestId, entry.requestId) &&
    isSame(nonce, entry.nonce) &&
    (cursor === undefined || entry.key < cursor) &&
    (on === undefined || (connector === on.connector && isSame(on.address, owner)))
  )
}

describe('lists of the journal', function () {
  this.timeout(240_000)

  onBothStores((place) => {
    it('have what matches, newest first, by every combination of filters', async () => {
      const store = await place().open()
      const all = await fill(store, 300)
      const journal = sqlJournal(store)
      const middle = all[100]
      if (!middle) throw new Error('There are 300.')
      for (const [index, filter] of combinations(middle, place()).entries()) {
        const limit = [500, 1, 7][index % 3] ?? 500
        const wanted = all.filter((entry) => matches(entry, filter)).map(({ key }) => key)
        const { entries, nextCursor } = await journal.list({ ...filter, limit })
        const name = JSON.stringify({ ...filter, addresses: filter.addresses && [...filter.addresses] })
        expect(
          entries.map(({ key }) => key),
          name,
        ).to.deep.equal(wanted.slice(0, limit))
        expect(nextCursor, name).to.equal(wanted.length > limit ? wanted[limit - 1] : undefined)
      }
    })

    it('have what matches by client, kind, connector, pair and time, open or archived', async () => {
      const store = await place().open()
      const lease = await giveLease(store)
      const journal = sqlJournal(store)
      const opened = varied(300)
      await journal.open(opened, lease)
      const written = opened.map((entry) => next(entry, { state: 'DROPPED' }))
      await journal.write(written, lease)
      const all = written.toReversed()
      const middle = all[100]
      if (!middle) throw new Error('There are 300.')
      const ofPairs = combinations(middle, place(), variedValues).map((filter, index) =>
        filter.pair !== undefined && index % 3 === 0 ? { ...filter, pairAliases } : filter,
      )
      const ofNoPair = [
        {},
        { kind: 'approve' },
        { address: wallets[1] ?? '', from: startMs + 100_000 },
        { client: 'bot', cursor: middle.key },
      ]
      const filters: readonly EntryFilter[] = [...ofPairs, ...ofNoPair.map((filter) => ({ ...filter, isOfNoPair: true as const }))]
      const hasAll = async (isArchived: boolean) => {
        for (const [index, filter] of filters.entries()) {
          const limit = [500, 1, 7][index % 3] ?? 500
          const wanted = all.filter((entry) => isVaried(entry, filter)).map(({ key }) => key)
          const { entries } = await journal.list({ ...filter, limit, ...(isArchived && { archived: true }) })
          const name = JSON.stringify({ ...filter, addresses: filter.addresses && [...filter.addresses] })
          expect(
            entries.map(({ key }) => key),
            name,
          ).to.deep.equal(wanted.slice(0, limit))
        }
      }
      await hasAll(false)
      await journal.ended.moveOut(written.filter((_, index) => index % 2 === 0))
      await hasAll(true)
    })

    it('continue page by page to the end', async () => {
      const store = await place().open()
      const all = await fill(store, 300)
      const journal = sqlJournal(store)
      const filters: readonly EntryFilter[] = [
        {},
        { chain: 'ethereum' },
        { network: 'mainnet', state: 'CONFIRMED' },
        { address: wallets[2] ?? '' },
        { addresses: manyWallets },
        { addresses: manyWallets, state: 'DROPPED' },
      ]
      for (const filter of filters) {
        const keys: string[] = []
        let cursor: string | undefined
        do {
          const page = await journal.list({ ...filter, limit: 13, ...(cursor !== undefined && { cursor }) })
          keys.push(...page.entries.map(({ key }) => key))
          cursor = page.nextCursor
        } while (cursor !== undefined)
        expect(keys).to.deep.equal(all.filter((entry) => matches(entry, filter)).map(({ key }) => key))
      }
    })

    it('come from an index without sorting, for every combination of filters', async () => {
      const store = await place().open()
      const [, middle] = await fill(store, 30)
      if (!middle) throw new Error('There are 30.')
      const { recording, queries } = recorded(store)
      const journal = sqlJournal(recording)
      for (const filter of [...combinations(middle, place()), { addresses: manyWallets }]) await journal.list(filter)
      const aliases = ['dai-usdc', 'dai-wbtc'].map((pair) => ({ chain: 'ethereum', network: 'mainnet', pair }))
      for (const filter of [
        { client: 'bot' },
        { pair: 'usdc-weth' },
        { pair: 'usdc-weth', pairAliases: aliases },
        { pair: 'usdc-weth', hasUnlisted: true },
        { connector: 'exchange' },
        { kind: 'approve' },
      ] as const)
        for (const of of [{}, { address: wallets[1] ?? '' }, { addresses: manyWallets }, { state: 'MINED' as const }])
          for (const archived of [false, true]) await journal.list({ ...filter, ...of, archived })
      const explain = await explainer(place(), store)
      const seen = new Set<string>()
      for (const query of queries) {
        if (seen.has(query.sql)) continue
        seen.add(query.sql)
        for (const step of await explain(query)) {
          // Without a condition the whole journal matches: its newest page is read.
          const isUnfiltered = !/where/.test(query.sql) && !/SORT|TEMP|Seq/i.test(step)
          if (/where address = \S+ and key/.test(query.sql) && /entries_/.test(step)) expect(step, query.sql).to.contain('_of_address')
          expect(
            isUnfiltered || !/SCAN entries|SCAN hashes|SCAN those|TEMP B-TREE|Seq Scan|Sort/.test(step),
            `${step}: ${query.sql}`,
          ).to.equal(true)
        }
      }
      await explain.end()
      expect(seen.size).to.be.above(10)
    })

    it('read the newest of wallets that have many, and not all that these have', async () => {
      const store = await place().open()
      const many = Array.from({ length: 20 }, (_, index) => `0x${'ab'.repeat(19)}${String(index).padStart(2, '0')}`)
      const lease = await giveLease(store)
      const entries = Array.from({ length: 4_000 }, (_, index) => newEntry({ address: many[index % many.length] ?? '' }))
      for (let start = 0; start < entries.length; start += 500) await sqlJournal(store).open(entries.slice(start, start + 500), lease)
      const { recording, queries } = recorded(store)
      const journal = sqlJournal(recording)
      const [address = ''] = many
      const { chain, network } = newEntry()
      const ofAll = entries
        .toReversed()
        .slice(0, 40)
        .map(({ key }) => key)
      const listed = async (filter: EntryFilter) => (await journal.list({ ...filter, limit: 40 })).entries.map(({ key }) => key)
      expect(await listed({ addresses: new Set(many) })).to.deep.equal(ofAll)
      // One of them has all that is newest, the others are far behind.
      const keyAt = (index: number) => `${(startMs + index * 1_000).toString(36).padStart(9, '0')}00aaaaaa`
      const busy = Array.from({ length: 100 }, (_, index) => newEntry({ address, key: keyAt(index) }))
      await sqlJournal(store).open(busy, lease)
      const ofBusy = busy
        .toReversed()
        .slice(0, 40)
        .map(({ key }) => key)
      expect(await listed({ addresses: new Set(many) })).to.deep.equal(ofBusy)
      expect(await listed({ chain, network, address })).to.deep.equal(ofBusy)
      expect(await listed({ address })).to.deep.equal(ofBusy)
      expect(await listed({ addresses: new Set(many), from: startMs + 70_000 })).to.deep.equal(ofBusy.slice(0, 30))
      const explain = await explainer(place(), store, { isAsLarge: false })
      for (const query of queries.filter(({ sql }) => sql.includes('where address = ')))
        expect((await explain(query)).join('\n'), query.sql.slice(0, 200)).to.not.match(/Sort|Bitmap|TEMP B-TREE/)
      await explain.end()
    })

    it('read little where few are of the pair, or few of the wallet, however many the others are', async () => {
      const store = await place().open()
      const lease = await giveLease(store)
      const count = 3_000
      const [one = '', other = ''] = wallets
      const about = (base: string) => ({ side: 'BUY', base: { symbol: base }, quote: { symbol: 'USDC' } })
      await sqlJournal(store).open(
        Array.from({ length: count }, (_, index) =>
          newEntry({ address: index === 7 ? other : one, about: about(index === 3 ? 'RARE' : 'WETH') }),
        ),
        lease,
      )
      const { recording, queries } = recorded(store)
      const journal = sqlJournal(recording)
      const filters: readonly EntryFilter[] = [
        { address: one, pair: 'rare-usdc' },
        { addresses: new Set([one.toLowerCase()]), pair: 'rare-usdc' },
        { state: 'QUEUED', pair: 'rare-usdc' },
        { address: other, pair: 'usdc-weth' },
        { pair: 'dai-usdc', pairAliases: [{ chain: 'ethereum', network: 'local', pair: 'rare-usdc' }] },
        { address: one, pair: 'dai-usdc', pairAliases: [{ chain: 'ethereum', network: 'local', pair: 'rare-usdc' }] },
      ]
      for (const filter of filters) {
        const before = queries.length
        expect((await journal.list(filter)).entries, JSON.stringify(filter)).to.have.length(1)
        // One finds which of the other names there are.
        expect(queries.length - before, JSON.stringify(filter)).to.be.at.most(filter.pairAliases ? 7 : 6)
      }
    })

    it('have the trades of a pair from before one of its tokens was taken off its list, and none of a token that only calls itself so', async () => {
      const store = await place().open()
      const lease = await giveLease(store)
      const journal = sqlJournal(store)
      const [foo, weth, other] = ['0xF00', '0xE7', '0xBAD']
      const trade = (symbol: string, address: string, isListed: boolean) =>
        newEntry({
          about: { side: 'BUY', base: { symbol, ...(!isListed && { address }) }, quote: { symbol: 'WETH' } },
          planned: { base: address, quote: weth },
        })
      const bought = trade('FOO', foo, true)
      const sold = trade('FOO', foo, false)
      const others = [trade('FOO', other, false), trade('WETH', other, false), trade('BAR', '0xBA5', true)]
      await journal.open([bought, ...others, sold], lease)
      const byAddresses = { chain: bought.chain, network: bought.network, pair: '0xe7-0xf00' }
      for (const filter of [{ pair: 'foo-weth' }, { pair: '0xf00-weth' }, { pair: '0xf00-other', pairAliases: [byAddresses] }]) {
        const { entries } = await journal.list({ ...filter, hasUnlisted: true })
        expect(
          entries.map(({ key }) => key),
          filter.pair,
        ).to.deep.equal([sold.key, bought.key])
        expect((await journal.list({ ...filter, hasUnlisted: true, network: 'elsewhere' })).entries).to.deep.equal([])
      }
    })

    it('have them among more names than are looked at, and give other work its turn meanwhile', async () => {
      const store = await place().open()
      const lease = await giveLease(store)
      const journal = sqlJournal(store)
      const trade = (symbol: string, address: string) =>
        newEntry({ about: { side: 'BUY', base: { symbol }, quote: { symbol: 'WETH' } }, planned: { base: address, quote: '0xE7' } })
      // By the alphabet all of them are before it.
      const others = Array.from({ length: 600 }, (_, index) => trade(`A${index}`, `0xA${index}`))
      const bought = newEntry({
        about: { side: 'BUY', base: { symbol: 'ZED' }, quote: { symbol: 'USDC' } },
        planned: { base: '0x5ED', quote: '0x05DC' },
      })
      await journal.open([bought, ...others], lease)
      let turns = 0
      const timer = setInterval(() => (turns += 1), 0)
      const { entries } = await journal.list({ pair: '0x5ed-usdc', pairAliases: [{ ...bought, pair: '0x05dc-0x5ed' }], hasUnlisted: true })
      clearInterval(timer)
      expect(entries.map(({ key }) => key)).to.deep.equal([bought.key])
      expect(turns).to.be.greaterThan(5)
    })

    it('give other work its turn while they read much of which little matches', async () => {
      const store = await place().open()
      const lease = await giveLease(store)
      const journal = sqlJournal(store)
      await journal.open(
        Array.from({ length: 1_000 }, () => newEntry({ requestId: 'the same' })),
        lease,
      )
      let turns = 0
      let isOver = false
      const count = () => {
        turns += 1
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      const { entries } = await journal.list({ requestId: 'the same', state: 'DROPPED' })
      isOver = true
      expect(entries).to.deep.equal([])
      expect(turns).to.be.at.least(3)
    })
  })
})
