import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { sql, type Migration } from 'kysely'
import Database from 'libsql'
import { Client } from 'pg'
import { isObject } from '../../core/base/json.ts'
import { readKeptThin } from '../../core/store/kept-thin.ts'
import { openPostgres } from '../../core/store/postgres/open.ts'
import { StoreError } from '../../core/store/store.ts'
import { createRefusedPositions } from '../../core/transactions/refused-positions.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { giveLease, newEntry, queueOf, newDeliveryRow } from '../transactions/journal/entries.ts'
import { onBothEmptyStores, places, type StorePlace } from './stores.ts'

const storeBefore = new URL('../fixtures/store-0.1.0/sluice.db.gz', import.meta.url)
const log = { info: () => {}, warn: () => {} }

const messageOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )

describe('a store of a version before 0.2.0', () => {
  onBothEmptyStores((place) => {
    it('fails to open with what to do, and stays as it is', async () => {
      await putStoreBefore(place())
      const before = await contentsOf(place())
      for (let tries = 0; tries < 2; tries += 1) {
        const error: unknown = await place()
          .open()
          .catch((reason: unknown) => reason)
        expect(error).to.be.instanceOf(StoreError)
        expect(error)
          .to.have.property('message')
          .that.matches(
            /made by a version of Sluice before 0\.2\.0.*Nothing was changed.*version 0\.1\.0.*sluice tx list --open.*store\.url/,
          )
      }
      expect(await contentsOf(place())).to.deep.equal(before)
    })

    it('fails to open by the name of any of its migrations', async () => {
      for (const name of ['001-transactions', '005-overtaken', '011-breaches']) {
        const store = await place().open()
        await store.write((tx) => sql`update kysely_migration set name = ${name} where name = '001-tables'`.execute(tx))
        await store.close()
        expect(await messageOf(place().open())).to.contain('before 0.2.0')
        await outside(place(), (run) => run(`update kysely_migration set name = '001-tables' where name = '${name}'`))
      }
    })
  })
})

/** As the version before a migration made it, with two transactions. */
const folderBefore = new URL('../fixtures/store-0.2.0/', import.meta.url)

/** Puts it where a store is opened. */
async function putFolderBefore(place: StorePlace): Promise<void> {
  if (place.kind === 'embedded') return writeFile(fileOf(place), gunzipSync(await readFile(new URL('sluice.db.gz', folderBefore))))
  const text = await readFile(new URL('postgres.sql', folderBefore), 'utf8')
  await outside(place, (run) => run(text.replaceAll('SET transaction_timeout = 0;', '')))
}

describe('a store of 0.2.0 before anything could be stopped', () => {
  onBothEmptyStores((place) => {
    it('differs from a new one, whose clients keep nothing', async () => {
      expect([...(await readKeptThin(await place().open(), ['bot']))]).to.deep.equal([])
    })

    it('lets the clients of that time keep the permission thin, and no later one', async () => {
      await putFolderBefore(place())
      const store = await place().open()
      expect([...(await readKeptThin(store, ['bot', 'trader']))]).to.deep.equal(['bot', 'trader'])
      await store.close()
      const again = await place().open()
      expect([...(await readKeptThin(again, ['bot', 'trader', 'thief']))]).to.deep.equal(['bot', 'trader'])
    })

    it('keeps its transactions when it is brought up, and what is stopped then holds', async () => {
      await putFolderBefore(place())
      const before = await contentsOf(place())
      expect(before).to.not.have.property('stops')
      const store = await place().open()
      const journal = sqlJournal(store)
      const { entries } = await journal.list({})
      expect(entries.map(({ nonce, state }) => `${nonce} ${state}`)).to.deep.equal(['2 QUEUED', '1 DROPPED'])
      await store.close()
      const {
        stops,
        kept_thin: kept,
        budgets,
        reservations,
        approvals,
        refundable,
        checkpoints,
        deliveries,
        preferences,
        alerts,
        alert_messages: messages,
        alert_silences: silences,
        key_leads: leads,
        market_samples: samples,
        refused_positions: refused,
        kysely_migration: migrations,
        entries: filled,
        ...after
      } = await contentsOf(place())
      const { kysely_migration: _, entries: unfilled, ...unchanged } = before
      expect(after).to.deep.equal(unchanged)
      // What they are found by is read from what they were.
      const filters = { client: 'bot', kind: 'trade', connector: 'exchange', pair: null }
      expect(filled).to.have.deep.members(asRows(unfilled).map((row) => ({ ...withoutWallet(row), ...filters })))
      expect(asRows(filled)).to.have.length(2)
      expect(stops).to.deep.equal([])
      expect(kept).to.deep.equal([{ client: '' }])
      const newer = [budgets, reservations, approvals, refundable, checkpoints, deliveries, preferences, alerts, messages, silences]
      newer.push(leads, samples, refused)
      expect(newer).to.deep.equal(newer.map(() => []))
      expect(migrations).to.have.length(22)

      const again = await place().open()
      await again.write((tx) =>
        sql`insert into stops (set_at, mode, scope, subject, set_by, request_id) values (1, 'stop', 'all', '', 'ops', '')`.execute(tx),
      )
      const lease = await giveLease(again, { queue: queueOf(), fencingToken: 2 })
      expect(await messageOf(sqlJournal(again).open([newEntry()], lease))).to.contain('stop is set for all by "ops"')
    })
  })
})

describe('a store of 0.2.0 whose entries get filters', () => {
  onBothEmptyStores((place) => {
    it('has them of every transaction, archived ones too, but of one that is damaged, which stays', async function () {
      this.timeout(300_000)
      await putFolderBefore(place())
      const columns = Object.keys(asRows((await contentsOf(place()))['entries'])[0] ?? {})
      const others = columns.filter((name) => name !== 'key').join()
      const archived = 'chain, network, address, request_id, idempotency_key, body'
      await outside(place(), async (run) => {
        const numbers = 'with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < 1100)'
        await run(`${numbers} insert into entries (key, ${others}) select key || '-' || i, ${others} from entries, numbers where nonce = 1`)
        await run(`insert into archived (key, ${archived}) select 'a' || key, ${archived} from entries where nonce = 1`)
        await run(`delete from entries where key in (select substr(key, 2) from archived) and key not like '%-7' and key not like '%-8%'`)
        for (const table of ['entries', 'archived']) {
          const damaged = place().kind === 'embedded' ? "x'00'" : `'\\x00'`
          await run(`update ${table} set body = ${damaged} where key like '%-7'`)
        }
      })
      await (await place().open()).close()
      const after = await contentsOf(place())
      for (const table of ['entries', 'archived']) {
        const rows = asRows(after[table]).map((row) => ({ client: '', kind: '', ...row }))
        const shown = rows.map((row) => `${String(Reflect.get(row, 'key')).endsWith('-7') ? 'damaged' : 'whole'} ${row.client} ${row.kind}`)
        expect(new Set(shown), table).to.deep.equal(new Set(['whole bot trade', 'damaged  ']))
        expect(rows.length, table).to.be.above(table === 'archived' ? 1_000 : 100)
      }
    })
  })
})

describe('a store whose checkpoints have the number of transactions in a row of its own', () => {
  onBothEmptyStores((place) => {
    it('has it beside the balances of that block', async () => {
      await (await place().open()).close()
      await outside(place(), async (run) => {
        await undoListIndexes(run)
        for (const later of ['alerts', 'alert_messages', 'alert_silences', 'key_leads', 'market_samples', 'refused_positions'])
          await run(`drop table ${later}`)
        await run('alter table checkpoints drop column nonce')
        await run('drop index deliveries_reported')
        await run('alter table deliveries drop column answer_id')
        await run(`delete from kysely_migration where name >= '014-checkpoint-nonces'`)
        for (const [block, token, balance] of [
          [1, 'nonce', 4],
          [1, '0xa', 10],
          [1, '0xb', 11],
          [2, '0xa', 12],
        ])
          await run(`insert into checkpoints (block, block_time, chain, network, wallet, token, balance)
            values (${block}, 0, 'ethereum', 'local', '0x1', '${token}', '${balance}')`)
      })
      const store = await place().open()
      const rows = await store.read((db) =>
        db.selectFrom('checkpoints').select(['block', 'token', 'nonce']).orderBy('block').orderBy('token').execute(),
      )
      expect(rows.map((row) => Object.values(row))).to.deep.equal([
        [1, '0xa', 4],
        [1, '0xb', 4],
        [2, '0xa', null],
      ])
    })
  })
})

describe('a store from before proxies reported which answers were read', () => {
  onBothEmptyStores((place) => {
    it('keeps its lost answers, which equal requests get', async () => {
      await (await place().open()).close()
      await outside(place(), async (run) => {
        await undoListIndexes(run)
        await run('drop table refused_positions')
        await run('drop index deliveries_reported')
        await run('alter table deliveries drop column answer_id')
        await run(`delete from kysely_migration where name >= '020-reported-answers'`)
        const { answer_id: _, ...row } = newDeliveryRow('once-1')
        const values = Object.values({ ...row, state: 'lost', losses: 1 }).map((value) =>
          typeof value === 'number' ? value : `'${value}'`,
        )
        await run(`insert into deliveries (${Object.keys(row).join(', ')}) values (${values.join(', ')})`)
      })
      const store = await place().open()
      const rows = await store.read((db) => db.selectFrom('deliveries').selectAll().execute())
      expect(rows).to.deep.equal([{ ...newDeliveryRow('once-1'), state: 'lost', losses: 1 }])
    })
  })
})

describe('a store from before positions were kept whose clients were refused', () => {
  onBothEmptyStores((place) => {
    it('keeps what it has, and these from then on', async () => {
      await (await place().open()).close()
      await outside(place(), async (run) => {
        await undoListIndexes(run)
        await run('drop table refused_positions')
        await run(`delete from kysely_migration where name >= '021-refused-positions'`)
        await run(`insert into preferences (interface, client, name, value) values ('bots', 'bot', 'wallet', '0x1')`)
      })
      const store = await place().open()
      const kept = await store.read((db) => db.selectFrom('preferences').selectAll().execute())
      expect(kept).to.deep.equal([{ interface: 'bots', client: 'bot', name: 'wallet', value: '0x1' }])
      const position = { chain: 'ethereum', network: 'local', connector: 'uniswap', version: 'v3', tokenId: '38', client: 'bot' }
      const refused = createRefusedPositions(store, log)
      await refused.refuse(position, 'close', new Error('of the plugin'))
      expect((await refused.list()).map(({ token_id: id, error }) => [id, error])).to.deep.equal([['38', 'UNKNOWN_ERROR']])
    })
  })
})

describe('a store whose wallets were found by a number', () => {
  onBothEmptyStores((place) => {
    it('lists its transactions by wallet, network, state and pair as before', async () => {
      const before = await place().open()
      const about = { side: 'BUY', base: { symbol: 'WETH' }, quote: { symbol: 'USDC' } }
      const opened = Array.from({ length: 4 }, (_, index) => newEntry({ address: `0x${'0'.repeat(39)}${index % 2}`, about }))
      await sqlJournal(before).open(opened, await giveLease(before))
      await before.close()
      await outside(place(), async (run) => {
        await undoListIndexes(run)
        await run(`delete from kysely_migration where name >= '022-list-indexes'`)
      })
      const journal = sqlJournal(await place().open())
      const [oldest] = opened
      if (!oldest) throw new Error('There are four.')
      const { chain, network, address } = oldest
      for (const filter of [
        { address },
        { chain, network, address },
        { address, state: 'QUEUED' as const },
        { address, pair: 'usdc-weth' },
      ])
        expect((await journal.list(filter)).entries, JSON.stringify(filter)).to.deep.equal([opened[2], oldest])
      expect((await journal.list({ chain, network })).entries).to.deep.equal(opened.toReversed())
    })
  })
})

describe('a migration', () => {
  onBothEmptyStores((place) => {
    it('that fails leaves nothing behind, and the next start makes all tables', async () => {
      await outside(place(), (run) => run('create table probes (id bigint)'))
      expect(await messageOf(place().open())).to.contain('probes')
      await outside(place(), (run) => run('drop table probes'))
      expect(await contentsOf(place())).to.not.have.any.keys('entries', 'requests', 'servers')
      const store = await place().open()
      expect(await store.failing()).to.equal(undefined)
    })
  })

  describe('of a later version, in PostgreSQL', () => {
    const { place } = places('postgres', { isEmpty: true })
    const note: Migration = { up: async (db) => void (await sql`alter table servers add column note text`.execute(db)) }
    const openLater = ({ options: { url = '' } }: StorePlace) =>
      openPostgres({ url, serverName: 'later', log, later: { '999-note': note } })

    it('does not touch a store that a server runs on, and the refusal names the server', async () => {
      const before = await place().open()
      const lease = await giveLease(before)
      const entry = newEntry()
      await sqlJournal(before).open([entry], lease)
      const now = sql`extract(epoch from clock_timestamp()) * 1000`
      await before.write((tx) => sql`insert into servers values ('old', 'the old one on host 7', ${now} + 9500, '002-stops')`.execute(tx))
      expect(await messageOf(openLater(place()))).to.match(
        /server of an earlier version still runs on it: the old one on host 7. Stop every server/,
      )
      const { rows } = await before.read((db) => sql`select name from kysely_migration`.execute(db))
      expect(rows).to.deep.equal([
        { name: '001-tables' },
        { name: '002-stops' },
        { name: '003-kept-thin' },
        { name: '004-budgets' },
        { name: '005-server-limits' },
        { name: '006-approvals' },
        { name: '007-refundable' },
        { name: '008-entry-filters' },
        { name: '009-checkpoints' },
        { name: '010-order-fills' },
        { name: '011-deliveries' },
        { name: '012-lost-answers' },
        { name: '013-preferences' },
        { name: '014-checkpoint-nonces' },
        { name: '015-bodies-in-two' },
        { name: '016-alerts' },
        { name: '017-alerts-found' },
        { name: '018-key-leads' },
        { name: '019-market-samples' },
        { name: '020-reported-answers' },
        { name: '021-refused-positions' },
        { name: '022-list-indexes' },
      ])
      await before.write((tx) => sql`update servers set alive_until = 0`.execute(tx))
      const later = await openLater(place())
      expect(await sqlJournal(later).read(entry.key)).to.deep.equal(entry)
      await later.close()
      expect(await messageOf(place().open())).to.match(/newer version of Sluice \(it has 999-note\)/)
    })
  })
})

/** As the tables were before migration 022. */
async function undoListIndexes(run: Run): Promise<void> {
  const made = ['of_address', 'of_address_on_network', 'of_address_and_pair', 'on_network', 'of_state'].map((name) => `entries_${name}`)
  for (const name of [...made, 'archived_of_address']) await run(`drop index ${name}`)
  await run('alter table entries add column wallet integer not null default 0')
  await run('create index entries_in_state on entries (chain, network, state, key)')
  await run('create index entries_of_wallet on entries (wallet, key)')
  await run('create index entries_of_wallet_in_state on entries (wallet, state, key)')
}

const withoutWallet = (row: object): object => {
  const { wallet: _, ...others } = row as { wallet?: unknown }
  return others
}

const asRows = (rows: unknown): readonly object[] => (Array.isArray(rows) ? rows.filter(isObject) : [])

/** In PostgreSQL with as much as tells it apart; the embedded one is a real store. */
async function putStoreBefore(place: StorePlace): Promise<void> {
  if (place.kind === 'embedded') return writeFile(fileOf(place), gunzipSync(await readFile(storeBefore)))
  await outside(place, async (run) => {
    await run('create table kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null)')
    await run("insert into kysely_migration values ('001-transactions', ''), ('002-orders', ''), ('011-breaches', '')")
    await run('create table entries (key text primary key, version bigint not null, lane text not null, body bytea not null)')
    await run("insert into entries values ('k', 1, 'ethereum/local/0x00', 'body')")
  })
}

const fileOf = ({ options: { dataDir } }: StorePlace): string => path.join(dataDir, 'sluice.db')

/** Every table with its rows. */
async function contentsOf(place: StorePlace): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {}
  await outside(place, async (run) => {
    const tables =
      place.kind === 'embedded'
        ? "select name from sqlite_master where type = 'table'"
        : "select tablename as name from pg_tables where schemaname = 'public'"
    for (const { name } of await run(tables)) contents[String(name)] = await run(`select * from "${String(name)}"`)
  })
  return contents
}

type Run = (text: string) => Promise<Record<string, unknown>[]>

/** Runs SQL where no store is open. */
async function outside(place: StorePlace, work: (run: Run) => Promise<unknown>): Promise<void> {
  const { url } = place.options
  if (url === undefined) {
    const db = new Database(fileOf(place))
    await work(async (text) => {
      if (text.startsWith('select')) return db.prepare(text).all([]).filter(isObject)
      db.exec(text)
      return []
    })
    db.close()
    return
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  await work(async (text) => (await client.query<Record<string, unknown>>(text)).rows)
  await client.end()
}
