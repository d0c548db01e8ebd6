import type { At, Head, Types } from './family.ts'

/**
 * State of an exchange that is kept in memory and moved by what happens on the chain: by key, such as a pool or a market. States are never
 * changed, so that a reorganisation goes back to an older one. All but `load` is pure.
 */
export interface Followed<F extends Types = Types, S = unknown> {
  /** What is asked of every block: for EVM the first topics of events, whichever contract emits them. */
  readonly follow: readonly string[]
  /** The state that a change is about; undefined where it is about none of this exchange's. */
  keyOf(change: F['change']): string | undefined
  /** Several at once, as they are after a block: the head that was read, all of it in one round trip where that can be. */
  load(keys: readonly string[], at: At): Promise<{ head: Head; states: ReadonlyMap<string, S> }>
  /** The state after a change. `reload` where the change does not tell all of it. */
  apply(state: S, change: F['change']): S | 'reload'
}
