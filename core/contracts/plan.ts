import type { Json, Types } from './family.ts'

/** What must hold of a wallet before a plan is signed. `token` is an address; the native coin is its zero address. */
export type Need<A = string> =
  | { is: 'balance'; token: A; amountRaw: bigint }
  | { is: 'allowance'; token: A; spender: A; amountRaw: bigint }
  /** No more than that: where the spender could take the token besides what the plan gives it. */
  | { is: 'allowance-at-most'; token: A; spender: A; amountRaw: bigint }

/** What every acting verb returns: what is to be done, never a transaction. All of it but the needs goes into the journal. */
export interface Plan<F extends Types = Types> {
  /** Several steps take consecutive slots, claimed at once. */
  steps: readonly [F['intent'], ...F['intent'][]]
  needs: readonly Need<F['address']>[]
  /** Seconds since the Unix epoch, after which the chain refuses the steps; absent where they do not expire. */
  deadline?: number
  /** What `fill` needs to read the outcome from a receipt, also after a restart. */
  memo: Json
}

/** What is done by the exchange's own rail (`Connector.actions`) rather than by the chain's: actions that are signed, and cost no gas. */
export interface VenuePlan<A = string> {
  via: 'venue'
  /** Whose key signs: an agent's that the wallet allowed to act for it. Absent: the wallet's own. */
  signer?: A
  steps: readonly [Json, ...Json[]]
  /** Seconds since the Unix epoch, after which the exchange refuses the steps. */
  deadline?: number
  memo: Json
}

/** What is done on another chain by the venue's bridge from it: the amount that was asked for is transferred there, and nothing else. */
export interface BridgePlan {
  readonly via: 'bridge'
}
