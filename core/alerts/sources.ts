// What rules look at. The server knows all of it: no node is asked for a rule, but as the portfolio asks.
import type { PortfolioResponse } from '../api/portfolio.ts'
import type { RuleName, RuleSettings } from '../config/alerts-file.ts'
import type { NodeState } from '../contracts/index.ts'
import type { LimitUsage } from '../limits/usage.ts'
import type { Entry } from '../transactions/entry.ts'

interface Place {
  readonly chain: string
  readonly network: string
}

export interface AlertSources {
  portfolio(signal: AbortSignal): Promise<PortfolioResponse>
  /** Transactions that are not final, of all servers. */
  openTransactions(): Promise<{
    readonly entries: readonly Pick<Entry, 'chain' | 'network' | 'address' | 'key' | 'kind' | 'state' | 'createdAt' | 'nonce'>[]
    /** Why those of some wallets could not be read. */
    readonly unread?: string
  }>
  /** All that the server has. */
  networks(): readonly Place[]
  /** What keeps the server from being ready. */
  failing(): Promise<readonly { readonly part: string; readonly reason: string; readonly remedy?: string }[]>
  waitingApprovals(): Promise<
    readonly { readonly id: number; readonly client: string; readonly endpoint: string; readonly expiresAt: number }[]
  >
  /** In force. */
  stops(): readonly { readonly mode: string; readonly of: string; readonly setBy: string; readonly reason?: string }[]
  clientsFileWrong(): boolean
  /** Of those that were allowed or are built in: refused, changed in a way that is not in force, with a process that is down, or with a network whose settings are wrong. */
  refusedPlugins(): readonly { readonly plugin: string; readonly reason: string }[]
  /** Of networks in use: required ones, and those that requests have named within a day. */
  nodes(): readonly (Place & Pick<NodeState, 'url' | 'state' | 'lagBlocks' | 'trouble'>)[]
  /** Networks in use whose blocks are followed, without local ones: how old the newest is. */
  blockAges(): readonly (Place & { readonly seconds: number })[]
  /** The number of the newest block of each network whose blocks are followed. */
  heads(): ReadonlyMap<string, number>
  /** Of each client; one whose limits cannot be read now has none. */
  limitUsage(): Promise<readonly { readonly client: string; readonly usage?: readonly LimitUsage[] }[]>
  /** By client and limit: refusals since the start. */
  limitRefusals(): Promise<readonly { readonly client: string; readonly limit: string; readonly count: number }[]>
  /** By the last check of each network. */
  unexplainedBalances(): Promise<readonly (Place & { readonly token: string; readonly count: number })[]>
  quarantined(): readonly { readonly plugin: string; readonly chain: string; readonly network: string; readonly txHash: string }[]
  /** By connector: since the start. */
  memoryDifferences(): Promise<readonly (Place & { readonly connector: string; readonly count: number })[]>
  /** By connector: since the start. */
  quotes(): readonly (Place & { readonly connector: string; readonly count: number })[]
  /** Those that are in use: of the server, of its CA and of clients. Milliseconds since the Unix epoch. */
  certificates(): Promise<readonly { readonly name: string; readonly validTo: number; readonly renew: string }[]>
}

/** What a rule found now. */
export interface Reading {
  readonly found: readonly { readonly subject: string; readonly words: string }[]
  /** Whether nothing can be said of it now: then it stays as it was. */
  isUnknown?(subject: string): boolean
  /** What could not be looked at, and why. */
  readonly unread?: string | undefined
}

export interface LookAt {
  readonly nowMs: number
  /** A clock that is never set. */
  readonly steadyMs: number
  readonly signal: AbortSignal
  /** When some server found it last, by the clock of `nowMs`; undefined where there is no alert of it. */
  foundAt(subject: string): number | undefined
}

export type Reader = (at: LookAt) => Reading | Promise<Reading>

/** What makes a rule look at once. */
export type Trigger = 'journal' | 'plugins' | 'blocks'

export interface Rule<Name extends RuleName = RuleName> {
  /** In a few words: the first line of a message. */
  readonly title: string
  /** What to do. */
  readonly remedy: string
  /** What its end means, where nobody has seen that all is well: a line of the message that it is over. */
  readonly over?: string
  /** What one alert of it is about. */
  readonly about: string
  /** What it looks at. */
  readonly looksAt: string
  /** How often it looks; `portfolio`: by `portfolioSeconds`. */
  readonly every: number | 'portfolio'
  readonly triggers?: readonly Trigger[]
  create(threshold: RuleSettings[Name], sources: AlertSources): Reader
}
