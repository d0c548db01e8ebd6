import { isDeepStrictEqual } from 'node:util'
import type { At, Head, Types } from './family.ts'

/** What `load` gets about a key besides its name. */
export interface KnownOf {
  /** What was given with the first request for the key. */
  readonly about?: unknown
  /** What readers found missing in its states, the newest last. */
  readonly more: readonly unknown[]
  /** The state in memory after the same block: what it knows beyond the loaded one may be kept where both agree. */
  readonly state?: unknown
}

/**
 * States of an exchange that are kept in memory and updated by events on the chain, by key: a pool, a market. States are immutable, so that a
 * reorganisation returns to an older one. All methods but `load` are pure.
 *
 * On a chain of accounts (`Chain.images`) a state is made of some accounts, which `followOf` names; those that only the state tells are its
 * `aliases`, too, unless `keysOf` knows the key by the account's address.
 */
export interface Followed<F extends Types = Types, S = unknown> {
  /** What is read of every block: for EVM the first topics of events, whichever contract emits them. */
  readonly follow: readonly string[]
  /**
   * What is also read of every block, as long as a key is followed: on a chain of accounts their addresses. A state whose accounts were not all
   * read is loaded again.
   * @param state in memory, where there is one
   */
  followOf?(key: string, state?: S): readonly string[]
  /** All contracts that can emit events about these keys, in lower case. Some nodes return events of named contracts only. */
  emitters?(keys: readonly string[]): readonly string[]
  /**
   * Further names of a state that only the state tells, such as the address of a pool that a factory made: `keysOf` may give one in place of the key, and
   * `emitters` gets them beside the keys.
   */
  aliases?(state: S): readonly string[]
  /** The keys that a change may concern: several where it names none; none where it is not an event of this exchange. */
  keysOf(change: F['change']): readonly string[]
  /**
   * The states of several keys after exactly this block, in one round trip where possible; on a chain of accounts after this one or a newer one,
   * and never an older one. Returns the head that was read. A key without a state is not on the chain. `known`: what readers said about some of
   * the keys.
   */
  load(
    keys: readonly string[],
    after: Head,
    at: At,
    known?: ReadonlyMap<string, KnownOf>,
  ): Promise<{ head: Head; states: ReadonlyMap<string, S> }>
  /**
   * The state after a change in the block of this head; the same state where the change concerns another key. `reload` where the change does
   * not contain the whole new state. On a chain of accounts: the state with this account as it is now.
   */
  apply(state: S, change: F['change'], head: Head): S | 'reload'
  /**
   * Whether the state in memory agrees with the one just loaded after the same block, that of this head. Where absent, they must be equal.
   * Where one state knows more than the other, compare what both know.
   */
  same?(inMemory: S, loaded: S, head: Head): boolean
  /**
   * What answers need to know of the block of this head besides its changes, and the state does not have: `load` gets it as `more`, once, when the block
   * comes for states that were used a moment ago, else before the first answer of that block. No answer is made of a part of it. None where nothing is
   * needed.
   */
  ofBlock?(state: S, head: Head): readonly unknown[]
  /** Called with a state in memory that differed from the chain in two readings. The state is loaded again. */
  foundWrong?(state: S): void
}

/** A state in memory that a quote depends on. */
export interface Basis<F extends Types = Types> {
  readonly followed: Followed<F>
  readonly key: string
  /** What else `load` must know about it; kept with the key. */
  readonly about?: unknown
}

/** What must be known beyond a state, by its index in the basis: `load` gets it as `more`. */
export interface MissingState {
  readonly index: number
  readonly more: unknown
}

/** The first read of a quote's states, and more with what turned out to be missing. A swap needs no more than a few: what is known after so many would depend on what was asked before. */
const maxReads = 16
/** What is missing again so often after it was read stays missing. */
const maxRepeats = 2
/** How often more may be read after the first read. */
export const readsAfterFirst = maxReads - 1

/** What is read for one quote beyond the first read. */
export class MissingReads<T> {
  readonly #known: T[]
  readonly #contentOf: (each: T) => unknown
  #reads = 1
  #repeats = 0

  /** @param contentOf what two of them that ask for the same have in common */
  constructor(known: readonly T[] = [], contentOf: (each: T) => unknown = (each) => each) {
    this.#known = [...known]
    this.#contentOf = contentOf
  }

  /** What was known to be missing at the start, and what was found since. */
  get known(): readonly T[] {
    return this.#known
  }

  /** Whether more was read than at first. */
  get hasReadMore(): boolean {
    return this.#reads > 1
  }

  /** How often more may be read. At 0, what is missing counts as unusable. */
  get left(): number {
    return this.#repeats < maxRepeats ? Math.max(maxReads - this.#reads, 0) : 0
  }

  /** Call with what a quote found missing, before it is read. */
  add(found: readonly T[]): void {
    const isKnown = (each: T) => this.#known.some((known) => isDeepStrictEqual(this.#contentOf(known), this.#contentOf(each)))
    const added = found.filter((each) => !isKnown(each))
    this.#known.push(...added)
    this.#repeats = added.length > 0 ? 0 : this.#repeats + 1
    this.#reads += 1
  }
}
