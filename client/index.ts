// The client for bots, "sluice/client": every endpoint with its types, over mutual TLS.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Static, TObject, TSchema } from 'typebox'
import type { AnyEndpoint, Endpoint, EventsRequest, NetworkPollResponse, TransactionsLine, TransactionsRequest } from '../core/api/index.ts'
import { NoAnswerError, RefusedError } from './errors.ts'
import { followEvents, type EventsOptions, type SluiceEvent } from './events.ts'
import { exportTransactions, type ExportOptions } from './transactions.ts'
import { createTransport, type CallOptions, type ClientOptions } from './transport.ts'

export type { NetworkPollResponse, TransactionsLine } from '../core/api/index.ts'
export { CertificateError, InterfaceVersionError, NoAnswerError, RefusedError } from './errors.ts'
export type { EventsOptions, SluiceEvent } from './events.ts'
export type { ExportOptions } from './transactions.ts'
export type { CallOptions, ClientOptions } from './transport.ts'

type By<Method extends Endpoint['method']> = Extract<AnyEndpoint, { method: Method }>
type At<Method extends Endpoint['method'], Path> = Extract<By<Method>, { path: Path }>
/** The fields of a request. Amounts and prices are decimal strings. */
export type RequestAt<Method extends Endpoint['method'], Path> =
  At<Method, Path> extends { request: infer R extends TObject } ? Static<R> : never
export type ResponseAt<Method extends Endpoint['method'], Path> =
  At<Method, Path> extends { response: infer R extends TSchema } ? Static<R> : never

export interface TransactionName {
  readonly chain: string
  readonly network: string
  readonly txHash: string
}

export interface WaitOptions {
  /** 300,000 by default. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * Requests are repeated until there is an answer: a request that acts has an idempotency key, so that it is done once however often it is sent.
 * All throw RefusedError for what the server refuses, NoAnswerError where no answer came within the time, CertificateError,
 * InterfaceVersionError, and TypeError for amounts that are floating-point numbers.
 */
export interface SluiceClient {
  get<Path extends By<'GET'>['path']>(path: Path, request: RequestAt<'GET', Path>, options?: CallOptions): Promise<ResponseAt<'GET', Path>>
  post<Path extends By<'POST'>['path']>(
    path: Path,
    request: RequestAt<'POST', Path>,
    options?: CallOptions,
  ): Promise<ResponseAt<'POST', Path>>
  delete<Path extends By<'DELETE'>['path']>(
    path: Path,
    request: RequestAt<'DELETE', Path>,
    options?: CallOptions,
  ): Promise<ResponseAt<'DELETE', Path>>
  /**
   * Waits until a transaction is over, through restarts of the server and under every hash that higher fees give it. Look at `txState`: only
   * `CONFIRMED` has a `fill`.
   */
  waitFor(transaction: TransactionName, options?: WaitOptions): Promise<NetworkPollResponse>
  /** Events without end. After a cut they go on after the last one: no change of a transaction is missing or comes twice. */
  events(request: EventsRequest, options?: EventsOptions): AsyncGenerator<SluiceEvent, void>
  /**
   * All transactions that match, newest first, archived ones too, as fast as they are taken. After a cut it goes on after the last one. What has
   * `unavailable` in place of a transaction is damaged in the server's store.
   */
  exportTransactions(request?: TransactionsRequest, options?: ExportOptions): AsyncGenerator<TransactionsLine, void>
  /** Ends idle connections. */
  close(): void
}

const [firstPollMs, longestPollMs] = [150, 1_000]

export function createClient(options: ClientOptions = {}): SluiceClient {
  const transport = createTransport(options)
  const call = (method: Endpoint['method']) => (path: string, request: object, how?: CallOptions) =>
    // eslint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-explicit-any -- the types of answers are those of the endpoints
    transport.call(method, path, request, how) as Promise<any>
  const [get, post, del] = [call('GET'), call('POST'), call('DELETE')]
  return {
    get,
    post,
    delete: del,
    async waitFor({ chain, network, txHash }, { timeoutMs = 300_000, signal } = {}) {
      const end = performance.now() + timeoutMs
      let hash = txHash
      for (let pauseMs = firstPollMs; ; pauseMs = Math.min(longestPollMs, pauseMs * 1.5)) {
        const leftMs = Math.max(1, end - performance.now())
        const poll: NetworkPollResponse = await get(
          '/network/poll',
          { chain, network, txHash: hash },
          { timeoutMs: leftMs, ...(signal && { signal }) },
        )
        if (poll.txState === 'REPLACED' && poll.replacedBy !== undefined) {
          hash = poll.replacedBy
          continue
        }
        if (poll.final) return poll
        if (poll.txState === undefined && poll.txStatus === -1)
          throw new RefusedError(`${hash} is no transaction of this server, and no node of ${chain}/${network} knows it.`, {
            name: 'UNKNOWN_TRANSACTION',
            code: 1020,
            status: 404,
            details: undefined,
            requestId: undefined,
          })
        if (performance.now() + pauseMs >= end)
          throw new NoAnswerError(
            `${hash} is not over after ${timeoutMs / 1000} s: it is ${poll.txState ?? 'pending'}. Wait for it again.`,
            {
              idempotencyKey: undefined,
              cause: undefined,
            },
          )
        await sleep(pauseMs, undefined, signal && { signal })
      }
    },
    events: (request, how = {}) => followEvents(transport, request, how),
    exportTransactions: (request = {}, how = {}) =>
      exportTransactions(transport, request, { ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }), ...how }),
    close: () => transport.close(),
  }
}
