import type { At, Head, Types } from './family.ts'

/** What `load` is told of a key besides its name. */
export interface KnownOf {
  /** What it was first asked for with. */
  readonly about?: unknown
  /** What readers found wanting in its states, the newest last. */
  readonly more: readonly unknown[]
}

/**
 * State of an exchange that is kept in memory and moved by what happens on the chain: by key, such as a pool or a market. States are never
 * changed, so that a reorganisation goes back to an older one. All but `load` is pure.
 */
export interface Followed<F extends Types = Types, S = unknown> {
  /** What is asked of every block: for EVM the first topics of events, whichever contract emits them. */
  readonly follow: readonly string[]
  /** What is asked of every block besides, for as long as a key is followed. */
  followOf?(key: string): readonly string[]
  /** All who can say anything of these keys: on EVM contracts, in lower case. Some nodes tell of nobody who is not named. */
  emitters?(keys: readonly string[]): readonly string[]
  /** The states that a change may be about: several where it names none of them; none where it is not of this exchange. */
  keysOf(change: F['change']): readonly string[]
  /**
   * Several at once, as they are after this very block, all of it in one round trip where that can be. Gives the head that was read; a
   * key that has no state there is not on the chain. `known`: what readers said of some of the keys.
   */
  load(
    keys: readonly string[],
    after: Head,
    at: At,
    known?: ReadonlyMap<string, KnownOf>,
  ): Promise<{ head: Head; states: ReadonlyMap<string, S> }>
  /**
   * The state after a change in the block of this head, the same where it was about another one. `reload` where the change does not tell
   * all of it.
   */
  apply(state: S, change: F['change'], head: Head): S | 'reload'
  /**
   * Whether what is in memory says the same as what was just loaded after the same block; where absent, whether all of it is equal. Of
   * states that know more or less of the same thing, what both know counts.
   */
  same?(inMemory: S, loaded: S): boolean
  /** Told of a state in memory that was not the same as what the chain has, in two readings. It is loaded anew. */
  foundWrong?(state: S): void
}

/** A state in memory that a quote goes by. */
export interface Basis<F extends Types = Types> {
  readonly followed: Followed<F>
  readonly key: string
  /** What `load` must know of it besides; kept with the key. */
  readonly about?: unknown
}

/** What must be known beyond a state, by its place in the basis: `load` gets it as `more`. */
export interface Wanting {
  readonly index: number
  readonly more: unknown
}
