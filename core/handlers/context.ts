import type { AnswerOf, EndpointName, EndpointNamed, RequestOf, Target } from '../api/index.ts'
import type { Settings } from '../config/settings.ts'
import type { At } from '../contracts/index.ts'
import type { Books } from '../live-state/books.ts'
import type { Quotes } from '../live-state/quotes.ts'
import type { Following } from '../live-state/synchroniser.ts'
import type { WalletChecks } from '../live-state/wallets.ts'
import type { IdempotencyContext } from '../transactions/submit-request.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { Caller } from './caller.ts'
import type { Registry, NetworkEntry, VenueEntry } from './registry.ts'
import type { Wallets } from './wallets.ts'

/** What verbs work with, besides their request. */
export interface Services {
  registry: Registry
  transactions: Transactions
  wallets: Wallets
  settings: Settings
  books: Books
  quotes: Quotes
  recalls: WalletChecks
  following: Pick<Following, 'expectBlock'>
  /** Parts that keep the server from being ready. */
  failing(): Promise<readonly { part: string; reason: string }[]>
}

/** One request under way. */
export interface RequestContext {
  caller: Caller
  requestId: string
  /** Its clock starts with the first who asks for it: what is answered at once needs none. */
  signal: AbortSignal
  keyed?: IdempotencyContext
}

/** What the server has looked up for the request, by the endpoint's `on`. */
export type TargetContext<T extends Target> = T extends 'connector'
  ? { network: NetworkEntry; venue: VenueEntry }
  : T extends 'chain'
    ? { network: NetworkEntry }
    : object

/** One function per endpoint. The envelope is added around it. */
export type Handler<N extends EndpointName> = (
  request: RequestOf<EndpointNamed<N>>,
  context: RequestContext & { services: Services } & TargetContext<EndpointNamed<N>['on']>,
) => AnswerOf<EndpointNamed<N>> | Promise<AnswerOf<EndpointNamed<N>>>

export type Handlers = { readonly [N in EndpointName]: Handler<N> }

/**
 * What follows from a value: at once where it is there, else when it comes. A price from memory waits for nothing, not even for a turn of the
 * event loop, and so costs no promise and no timer.
 */
export const after = <T, R>(value: T | Promise<T>, make: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(make) : make(value)

/** The signal of a call, which nobody has asked for yet, for those who may never need it. */
export const lazySignal = (call: Pick<RequestContext, 'signal'>): At => ({
  get signal() {
    return call.signal
  },
})
