import type { Migration } from 'kysely'
import type { Store } from '../store.ts'
import { transactions } from './001-transactions.ts'
import { orders } from './002-orders.ts'
import { requestTags } from './003-request-tags.ts'

/** Every change of the tables, in order. What was released is never edited: the next change is another one. */
export const migrationsFor = (kind: Store['kind']): Readonly<Record<string, Migration>> => ({
  '001-transactions': transactions(kind),
  '002-orders': orders(kind),
  '003-request-tags': requestTags,
})
