// What was asked for and what was answered: an entry of the journal keeps both for as long as there is one.
import type { Json } from '../contracts/index.ts'

/** A request of a client, as it was read. */
export interface RequestWords {
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** What an entry has of its own, or what differs each time the same is asked for. */
const ofEntry: ReadonlySet<string> = new Set(['txHash', 'nonce', 'gasPrice', 'gasPriceToken', 'gasLimit', 'transactions'])

/** What an answer says that the transaction does, without what the entry has itself; undefined where it says nothing. */
export function plannedOf(answer: object): Json | undefined {
  const said = Object.entries(answer).filter(([field]) => !ofEntry.has(field))
  return said.length === 0 ? undefined : JSON.parse(JSON.stringify(Object.fromEntries(said)))
}
