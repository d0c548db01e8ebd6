import type { Migration } from 'kysely'
import type { Store } from '../store.ts'
import { transactions } from './001-transactions.ts'

/** Every change of the tables, in order. What was released is never edited: the next change is another one. */
export const migrationsFor = (kind: Store['kind']): Readonly<Record<string, Migration>> => ({
  '001-transactions': transactions(kind),
})
