// A store in which a client has so many entries in the windows of its limits, made directly: nobody waits for a million trades.
import { sql } from 'kysely'
import { emptyAccount, settle, windows, writeAccount, type Account } from '../../core/limits/account.ts'
import type { Store } from '../../core/store/store.ts'

const dayMs = windows.day.bucketMs * windows.day.buckets
const owner = 'client bot'
/** Entries that one statement writes. */
const piece = 50_000
export const windowLimits = { transactionsPerHour: 2_000_000, maxDailyLoss: '2000000' }

/** So many entries that have ended within a day. */
export function accountOf(entries: number): Account {
  let account: Account = emptyAccount
  // All buckets are in use by then; the others would change their sums alone.
  const buckets = Math.min(entries, 1_000)
  for (let index = 0; index < buckets; index += 1)
    account = settle(
      account,
      {},
      { count: BigInt(entries / buckets), loss: BigInt(entries) },
      { nowMs: dayMs + (index * dayMs) / buckets, lagMs: 0 },
    )
  return account
}

/** Of so few that are open a database reads all. */
const minOpen = 2_000

/** Of the client `bot`. A tenth as many are open. */
export async function fillWindow(store: Store, entries: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.deleteFrom('budgets').execute()
    await tx.deleteFrom('reservations').execute()
    await tx.deleteFrom('refundable').execute()
    await sql`update store_time set elapsed = ${2 * dayMs}`.execute(tx)
    await tx
      .insertInto('budgets')
      .values({ owner, body: writeAccount(accountOf(entries)) })
      .execute()
  })
  const body = JSON.stringify({ amounts: { count: '1' }, prices: {} })
  const open = Math.max(minOpen, entries / 10)
  for (let from = 0; from < open; from += piece) {
    const to = Math.min(open, from + piece)
    const numbers =
      store.kind === 'postgres'
        ? sql`generate_series(${from}::integer, ${to - 1}::integer) as n`
        : sql`(with recursive s(n) as (select ${from} union all select n + 1 from s where n < ${to - 1}) select n from s)`
    await store.write(async (tx) => {
      await sql`insert into reservations (entry_key, owner, nonce, body) select 'k' || n, ${owner}, 'k' || n, ${body} from ${numbers}`.execute(
        tx,
      )
      await sql`insert into refundable (name, owner, counted_at, body) select 'k' || n, ${owner}, ${2 * dayMs} + n, ${body} from ${numbers}`.execute(
        tx,
      )
    })
  }
  if (store.kind === 'postgres') await store.write((tx) => sql`analyze`.execute(tx))
}
