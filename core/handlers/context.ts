import type { LiveClients } from '../config/live-clients.ts'
import type { AnswerOf, EndpointName, EndpointByName, RequestEffect, RequestOf, Target, Permission } from '../api/index.ts'
import type { Client, ClientLimits } from '../config/clients.ts'
import type { AlertDesk } from '../alerts/index.ts'
import type { Settings } from '../config/settings.ts'
import type { At, Head } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import type { FairTurns, Payer } from '../base/fair-turns.ts'
import type { Books } from '../live-state/books.ts'
import type { Quotes } from '../live-state/quotes.ts'
import type { Synchronisers } from '../live-state/synchroniser.ts'
import type { AllowLists } from '../limits/allow-lists.ts'
import type { PerpetualTurns } from '../limits/perpetual-limits.ts'
import type { Replay } from '../limits/replay.ts'
import type { ApprovalCheck } from '../limits/approval-check.ts'
import type { Approval, Approvals } from '../limits/approvals.ts'
import type { HoldingsReader } from '../limits/holdings.ts'
import type { NetworkLimits } from '../limits/limit-checks.ts'
import type { LimitUsage } from '../limits/usage.ts'
import type { Checkpoints } from '../books/checkpoints.ts'
import type { Market } from '../market/market.ts'
import type { WalletChecks } from '../live-state/wallets.ts'
import type { BookRuns } from '../books/runs.ts'
import type { Archiver } from '../transactions/archiver.ts'
import type { OrderFills } from './clob/order-fills.ts'
import type { Deliveries } from '../transactions/deliveries.ts'
import type { Answer } from '../transactions/idempotency.ts'
import type { ApprovalMark } from '../transactions/budgets.ts'
import type { RequestWords } from '../transactions/entry-terms.ts'
import type { IdempotencyContext } from '../transactions/submit-request.ts'
import type { Quarantine } from '../transactions/quarantine.ts'
import type { RefusedPositions } from '../transactions/refused-positions.ts'
import type { Stops } from '../transactions/stops.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { ApprovedSpenders } from './amm/approved.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../plugins/index.ts'
import { addressKey } from '../base/addresses.ts'
import type { NetworkName } from '../base/networks.ts'

/** The function behind an endpoint. The envelope of the response is added around it. */
export type Handler<N extends EndpointName> = (
  request: RequestOf<EndpointByName<N>>,
  context: RequestContext & TargetContext<EndpointByName<N>['on']>,
) => AnswerOf<EndpointByName<N>> | Promise<AnswerOf<EndpointByName<N>>>

export type Handlers = { readonly [N in EndpointName]: Handler<N> }

/** One request while it is handled. */
export interface RequestContext {
  services: Services
  caller: Caller
  requestId: string
  /** Aborted at the request's deadline. The clock starts when the signal is first read: a response from memory needs none. A copy by `...` has none. */
  signal: AbortSignal
  /** The request in its own words, where it makes a transaction: the journal keeps them. */
  words?: RequestWords
  /** The request has an Idempotency-Key. */
  keyed?: IdempotencyContext
  /** The request has waited for a second person, or is looked at by one. */
  approval?: ApprovalMark
}

/** The parts of the server that handlers use. */
export interface Services {
  registry: Registry
  transactions: Transactions
  archiver: Archiver
  /** What wallets held at earlier blocks. */
  checkpoints: Checkpoints
  /** Of orders in books: learnt from their exchanges. */
  orderFills: Pick<OrderFills, 'want' | 'look'>
  deliveries: Pick<Deliveries, 'lostOf' | 'recent'>
  refusedPositions: Pick<RefusedPositions, 'list'>
  /** The books that are being read. */
  bookRuns: BookRuns
  /** Plugins for which nothing is signed. */
  quarantine: Pick<Quarantine, 'refuse' | 'lift'>
  /** What is stopped: in the store. */
  stops: Stops
  /** Absent without conf/alerts.yml. */
  alerts: AlertDesk | undefined
  /** Of conf/clients.yml, as it is now. */
  clients: Pick<LiveClients, 'list' | 'onChange'>
  /** What each client may touch. */
  allowLists: Pick<AllowLists, 'require' | 'requireSlippage' | 'maxPriceImpact'>
  /** The strictest of a client, by its id, on all servers as they are now; undefined: it has none. */
  limitsOf(client: string): ClientLimits | undefined
  /** The same on one network, with defaults where it has none of its own. */
  limitsOn(client: string, on: NetworkName): NetworkLimits | undefined
  /** Holds transactions of before against the limits that a client has now; undefined: it has none. */
  limitReplay(client: string): Replay | undefined
  /** Requests that wait for a second person. */
  approvals: Approvals & Pick<ApprovalCheck, 'concerns' | 'require'>
  approvalRuns: ApprovalRuns
  /** Of a client, by its id. @throws StoreUnavailable */
  limitUsage(client: string): Promise<readonly LimitUsage[]>
  /** Of clients with limits of what they have open. */
  perpetuals: PerpetualTurns
  /** When certificates end: those of the server, and those of clients that its folder knows. Undefined where it cannot be read. */
  certificateEnds(): Promise<readonly { readonly name: string; readonly expiresAt: number; readonly fingerprint256?: string }[] | undefined>
  /** The wallets that the server holds keys of. */
  wallets: { all(): readonly WalletEntry[] }
  settings: Settings
  books: Books
  market: Market
  /** What wallets hold: read of a client on a network from then on. */
  holdings: Pick<HoldingsReader, 'follow'>
  quotes: Quotes
  walletChecks: WalletChecks
  approvedSpenders: ApprovedSpenders
  /** Of the event loop, among those who cause long pieces of work. */
  turns: FairTurns
  following: Pick<Synchronisers, 'ageSeconds' | 'expectBlock'> & {
    /** From memory, at once if it can: it is followed from then on. @throws SluiceError NETWORK where the network is away */
    newestHead(network: NetworkEntry, at: At): Head | Promise<Head>
  }
  /** Parts that keep the server from being ready. */
  failing(): Promise<readonly { part: string; reason: string; remedy?: string }[]>
}

/** Carries out requests that have waited, each as its own client. */
export interface ApprovalRuns {
  /** Once, however often and wherever it is called. @throws SluiceError that of the request, and nothing was signed; IN_FLIGHT, TIMEOUT */
  run(approval: Approval, signal: AbortSignal): Promise<Answer>
  /** Plans and simulates it, and signs nothing. @throws SluiceError that of the request */
  preview(approval: Approval, signal: AbortSignal): Promise<RequestEffect>
  /** Denies or withdraws it, unless it is being carried out. @throws SluiceError IN_FLIGHT, APPROVAL_EXPIRED */
  end(approval: Approval, state: 'denied' | 'withdrawn', by: string): Promise<void>
  /** Who calls endpoints, by their names. */
  runBy(answer: (endpoint: string, call: WaitedCall, request: RequestFields) => Answer | Promise<Answer>): void
}

export type RequestFields = Readonly<Record<string, unknown>>

/** A request that has waited for a second person, or is looked at by one. */
export interface WaitedRequest {
  readonly mark: ApprovalMark
  /** What bounds it where it has no bound itself. */
  readonly bound: RequestFields
}

/** It is called as its own client. */
export interface WaitedCall {
  readonly caller: Caller
  readonly client: Payer
  readonly requestId: string
  /** By `performance.now`. */
  readonly startedAt: number
  readonly signal: AbortSignal
  readonly key?: string
  readonly waited: WaitedRequest
}

interface WalletEntry {
  chain: string
  address: string
  label?: string
  /** A well-known key: only for local networks. */
  devnet?: true
}

/** The network and connector that the request names, by the endpoint's `on`. */
export type TargetContext<T extends Target> = T extends 'connector'
  ? { network: NetworkEntry; venue: VenueEntry }
  : T extends 'connectors'
    ? { network: NetworkEntry; venue: VenueEntry | undefined }
    : T extends 'chain'
      ? { network: NetworkEntry }
      : object

export type NetworkContext = RequestContext & TargetContext<'chain'>
export type ConnectorContext = RequestContext & TargetContext<'connector'>
/** No venue where the request is to all connectors of the network. */
export type ConnectorsContext = RequestContext & TargetContext<'connectors'>
export const isOfOne = (context: ConnectorsContext): context is ConnectorContext => context.venue !== undefined

/** Passes the signal on without reading it, so that the deadline's clock starts only if somebody waits. */
export class LazySignal implements At {
  readonly #context: Pick<RequestContext, 'signal'>

  constructor(context: Pick<RequestContext, 'signal'>) {
    this.#context = context
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }
}

/** Reads something by a connector that the response can do without. A connector that fails here has logged its defect. */
export async function orUndefined<T>(read: () => T | Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await read()
  } catch {
    return undefined
  }
}

/** Who sends a request: a client certificate and its entry in `conf/clients.yml`. */
export interface Caller {
  /**
   * Names the client in Idempotency-Keys, the journal and the log: the key of its entry in `conf/clients.yml`. A certificate without an entry is
   * named by its common name.
   */
  id: string
  /** Under which its Idempotency-Keys were stored before: the common name of a certificate that is listed by its fingerprint. */
  formerId?: string
  /** SHA-256 of the certificate. */
  fingerprint: string
  /** Its serial number. */
  serialNumber?: string
  permissions: ReadonlySet<Permission>
  /** Addresses, by `addressKey`. */
  wallets: 'all' | ReadonlySet<string>
  /** By a wallet, by `addressKey`, the addresses that this caller may have it send to; absent: to none. */
  sendTo?: ReadonlyMap<string, readonly string[]>
  /** What is wrong with its entry in `conf/clients.yml`: then it has no permission. */
  closed?: string
  /** Requests per second; absent: no limit of its own. */
  requestsPerSecond?: number
  /** Streams of events at once; absent: `limits.clientStreams`. */
  streams?: number
}

/** What an entry of `conf/clients.yml` gives whoever it is of. */
export const rightsOf = (client: Client): Pick<Caller, 'permissions' | 'wallets' | 'sendTo' | 'closed'> => ({
  permissions: new Set(client.closed === undefined ? client.permissions : []),
  wallets: client.wallets === 'all' ? 'all' : new Set(client.wallets.map(addressKey)),
  ...(client.sendTo && { sendTo: new Map([...client.sendTo].map(([wallet, all]) => [addressKey(wallet), all])) }),
  ...(client.closed !== undefined && { closed: client.closed }),
})

export const hasPermission = (caller: Caller, permission: Permission) => caller.permissions.has(permission)

export const mayUseWallet = ({ wallets }: Caller, address: string) => wallets === 'all' || wallets.has(addressKey(address))

/** The wallets, by `addressKey`, that a list for the caller is limited to; undefined: all. */
export const visibleWallets = ({ wallets }: Caller): ReadonlySet<string> | undefined => (wallets === 'all' ? undefined : wallets)

/** Equal for callers who see the same: what a certificate may do changes with conf/clients.yml. */
export const rightsKey = ({ id, permissions, wallets }: Caller): string =>
  JSON.stringify([id, [...permissions], wallets === 'all' ? wallets : [...wallets]])

/** @throws SluiceError FORBIDDEN */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (hasPermission(caller, permission)) return
  if (caller.closed !== undefined)
    throw new SluiceError(
      'FORBIDDEN',
      `The client certificate "${caller.id}" has no permission, because conf/clients.yml is wrong: ${caller.closed}. An operator corrects it.`,
    )
  throw new SluiceError(
    'FORBIDDEN',
    `The client certificate "${caller.id}" lacks the permission ${permission}; an operator gives it in conf/clients.yml.`,
  )
}

/** @throws SluiceError FORBIDDEN */
export function requireWallet(caller: Caller, address: string): void {
  if (mayUseWallet(caller, address)) return
  throw new SluiceError(
    'FORBIDDEN',
    `The client certificate "${caller.id}" may not use the wallet ${address}; an operator allows it in conf/clients.yml.`,
  )
}
