// The door for limits of what is spent. Who sets limits implements `Budgets`, and passes it to the journal where that is opened.
import type { Transaction } from 'kysely'
import type { Tables } from '../store/tables.ts'
import type { Entry } from './entry.ts'

/**
 * Called in the database transaction that writes new entries, of every kind, before anything is signed for them; and before the fees of an entry
 * are raised, in a transaction that checks the lease. What it writes with `tx` is durable together with them.
 *
 * Several servers call it at once. So it decides by rows that it locks or changes in one statement (`update … where spent + … <= …`), in the
 * same order everywhere. It runs again after a collision, so it has no other effects, and it asks nobody but the database: the wallet's other
 * requests wait for it.
 * @throws SluiceError to refuse: then nothing is written, by it and by the journal, and nothing is signed
 */
export type Budgets = (spending: Spending, tx: Transaction<Tables>) => Promise<void>

/** What one request is about to spend. */
export interface Spending {
  /** Who asks: the client's id in conf/clients.yml, or `sluice` for what the server does by itself. */
  readonly client: string
  readonly is: 'new' | 'raise'
  /** One for each step of the plan, in order. Of a raise the only one. */
  readonly steps: readonly SpendingStep[]
}

export interface SpendingStep {
  /** New: unsigned, with the plan's step and memo, and the wallet as `address`. Of a raise: as it stands in the journal. */
  readonly entry: Entry
  /** The most native coin that it can cost, with its value and the highest fees. */
  readonly maxCostRaw: bigint
  /** Of a raise: what its last attempt can cost. At most one attempt of an entry is mined. */
  readonly lastCostRaw?: bigint
  /** Key of the entry whose nonce it takes: at most one of the two is mined. */
  readonly replaces?: string
}
