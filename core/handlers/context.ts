import type { AnswerOf, EndpointName, EndpointNamed, RequestOf, Target } from '../api/index.ts'
import type { Settings } from '../config/settings.ts'
import type { Books } from '../live-state/books.ts'
import type { Following } from '../market/following/following.ts'
import type { Quotes } from '../live-state/quotes.ts'
import type { Recalls } from '../live-state/wallets.ts'
import type { Keyed } from '../transactions/submit-request.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { Caller } from './caller.ts'
import type { Directory, NetworkEntry, VenueEntry } from './registry.ts'
import type { Wallets } from './wallets.ts'

/** What verbs work with, besides their request. */
export interface Services {
  directory: Directory
  transactions: Transactions
  wallets: Wallets
  settings: Settings
  books: Books
  quotes: Quotes
  recalls: Recalls
  following: Pick<Following, 'heardOf'>
  /** Parts that keep the server from being ready. */
  failing(): Promise<readonly { part: string; reason: string }[]>
}

/** One request under way. */
export interface Call {
  caller: Caller
  requestId: string
  /** Its clock starts with the first who asks for it: what is answered at once needs none. */
  signal: AbortSignal
  keyed?: Keyed
}

/** What the server has looked up for the request, by the endpoint's `on`. */
export type On<T extends Target> = T extends 'connector'
  ? { network: NetworkEntry; venue: VenueEntry }
  : T extends 'chain'
    ? { network: NetworkEntry }
    : object

/** One function per endpoint. The envelope is added around it. */
export type Verb<N extends EndpointName> = (
  request: RequestOf<EndpointNamed<N>>,
  context: Call & { services: Services } & On<EndpointNamed<N>['on']>,
) => AnswerOf<EndpointNamed<N>> | Promise<AnswerOf<EndpointNamed<N>>>

export type Verbs = { readonly [N in EndpointName]: Verb<N> }
