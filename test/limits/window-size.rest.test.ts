// What limits cost in the store: the same for many entries in a window as for a thousand.
import path from 'node:path'
import { expect } from 'chai'
import { PostgresQueryCompiler, SqliteQueryCompiler, type CompiledQuery, type KyselyPlugin } from 'kysely'
import Libsql from 'libsql'
import { isObject } from '../../core/base/json.ts'
import { writeAccount } from '../../core/limits/account.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import { readUsage } from '../../core/limits/usage.ts'
import type { Store } from '../../core/store/store.ts'
import type { Spending } from '../../core/transactions/budgets.ts'
import { newEntry } from '../transactions/journal/entries.ts'
import { onBothStores } from '../store/stores.ts'
import { accountOf, fillWindow, windowLimits as limits } from './filled-windows.ts'

/** A million by `npm run test:limits`. */
const most = process.env.SLUICE_LIMITS_TURNS === 'all' ? 1_000_000 : 100_000

describe('what limits ask of the store', function () {
  this.timeout(240_000)
  onBothStores((place) => {
    it(`is the same for ${most} entries as for a thousand: statements, rows read and bytes`, async () => {
      const store = await place().open()
      const few = await costsOf(store, 1_000)
      const many = await costsOf(store, most)
      expect(many).to.deep.equal(few)
      expect(many.settle.statements.join()).to.contain('insert into "refundable"')
      for (const [what, { rows }] of Object.entries(many)) expect(rows, what).to.be.below(10)
      expect(bytesOf(most)).to.be.below(2 * bytesOf(1_000))
      await store.close()
      if (store.kind === 'embedded')
        for (const { statements } of Object.values(many)) expectIndexes(path.join(place().options.dataDir, 'sluice.db'), statements)
    })
  })
})

const bytesOf = (entries: number): number => writeAccount(accountOf(entries)).length

interface Cost {
  readonly statements: readonly string[]
  /** In PostgreSQL, which tells. */
  readonly rows: number
}

/** Of a client with so many entries that have ended. */
async function costsOf(store: Store, entries: number): Promise<Record<'reserve' | 'settle' | 'show', Cost>> {
  await fillWindow(store, entries)
  const budgets = createSpendingLimits(() => limits, store.kind)
  // An allowance, which may be revoked later.
  const name = 'allowance new'
  budgets.readBy({
    gains: () => undefined,
    tells: () => undefined,
    gasCost: () => 1n,
    heldChanges: () => [{ name, returnedRaw: 0n, held: { ofRaw: 1n, heldRaw: 1n } }],
    token: () => undefined,
    value: () => ({ is: 'no market' }),
    reference: () => undefined,
  })
  const entry = newEntry({ key: 'new', client: 'bot', kind: 'approve' })
  const ended = { ...entry, landed: { id: '0x1', ok: true, blockNumber: 1, receipt: null } }
  const spending: Spending = {
    client: 'bot',
    is: 'new',
    coin: { symbol: 'ETH', decimals: 18 },
    commitment: { gives: { in: 1n }, market: { lossMicros: 1n, prices: {} } },
    steps: [{ entry, maxCostRaw: 2n, valueRaw: 0n }],
  }
  return {
    reserve: await costOf(store, (plugin) => store.write((tx) => budgets.reserve(spending, tx.withPlugin(plugin)))),
    settle: await costOf(store, (plugin) => store.write(async (tx) => budgets.settle?.([ended], tx.withPlugin(plugin)))),
    show: await costOf(store, async (plugin) => {
      const read: Store['read'] = (work) => store.read((db) => work(db.withPlugin(plugin)))
      await readUsage({ read }, 'bot', { own: limits, limitsOn: () => undefined, networks: [], token: () => undefined })
    }),
  }
}

async function costOf(store: Store, work: (plugin: KyselyPlugin) => Promise<unknown>): Promise<Cost> {
  const queries: CompiledQuery[] = []
  const compiler = store.kind === 'postgres' ? new PostgresQueryCompiler() : new SqliteQueryCompiler()
  await work({
    transformQuery({ node, queryId }) {
      queries.push(compiler.compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  let rows = 0
  if (store.kind === 'postgres') for (const query of queries) rows += await rowsOf(store, query)
  return { statements: queries.map((query) => query.sql), rows }
}

const undone = new Error('It is undone.')

/** In PostgreSQL: carries a statement out, and undoes it. */
async function rowsOf(store: Store, query: CompiledQuery): Promise<number> {
  let rows = 0
  await store
    .write(async (tx) => {
      const { rows: plan } = await tx.executeQuery({ ...query, sql: `explain (analyze, format json) ${query.sql}` })
      rows = rowsRead(Object(plan[0])['QUERY PLAN'])
      throw undone
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error
    })
  return rows
}

/** What scans found, and what they passed over. */
function rowsRead(plan: unknown): number {
  if (Array.isArray(plan)) return plan.reduce<number>((sum, each) => sum + rowsRead(each), 0)
  if (!isObject(plan)) return 0
  const { Plan, Plans, ...node } = plan
  const isScan = String(node['Node Type']).includes('Scan')
  const own = isScan ? Number(node['Actual Rows'] ?? 0) + Number(node['Rows Removed by Filter'] ?? 0) : 0
  return own + rowsRead(Plan) + rowsRead(Plans)
}

/** In SQLite a search by an index finds a few rows, and a scan reads all of a table. The store's time has one row, and a subquery those that its own searches found. */
function expectIndexes(file: string, statements: readonly string[]): void {
  const database = new Libsql(file)
  for (const statement of statements) {
    const values = Array.from({ length: statement.split('?').length - 1 }, () => '')
    const plan = database.prepare(`explain query plan ${statement}`).all(values)
    const scans = plan
      .map((step) => String(Object(step)['detail']))
      .filter((detail) => /^SCAN (?!store_time|CONSTANT|\(subquery)/.test(detail))
    expect(scans, statement).to.deep.equal([])
  }
  database.close()
}
