// "sluice/interface": what a plugin implements that is another interface of the server.
import * as Type from 'typebox'
import type { Static, TObject, TSchema } from 'typebox'
import type { Permission } from '../api/endpoint.ts'
import type { EndpointByName, EndpointName, RequestOf, ResponseOf } from '../api/index.ts'
import type { Log } from './family.ts'
import type { Manifest, Plugin } from './plugin.ts'

export { after } from '../base/async.ts'
export { badFields, SluiceError } from '../base/errors.ts'
export type { Permission } from '../api/endpoint.ts'
/** Makes schemas, and the types that they have. */
export { Type }
export type { Log, Manifest, Static, TObject, TSchema }

/** A plugin of any kind. */
export type AnyPlugin = Plugin | InterfacePlugin

/** Another interface of the server: paths, shapes and errors of its own, on a listener of its own. */
export interface InterfacePlugin<C = unknown> {
  readonly kind: 'interface'
  /** It serves all networks, so it names none; and it has no trading type. */
  readonly manifest: Manifest<readonly []> & InterfaceCalls
  /** Called once, only where the operator gave it a port. A throw refuses the plugin. */
  create(context: InterfaceContext<C>): Interface | Promise<Interface>
}

/** What paths of an interface call. The operator sees it before the plugin is allowed, and the server refuses every other call. */
export interface InterfaceCalls {
  /**
   * All paths, by method and path (`POST /wrap`), with the endpoints that each calls. Absent: a path with GET may call each that reads, others also
   * each that makes a transaction. A GET never makes one. Endpoints for people (approvals, stops, quarantine, alerts, lists of tokens) need the operator's word,
   * too: `endpoints` in `conf/interfaces/<name>.yml`.
   */
  readonly calls?: Readonly<Record<string, readonly EndpointName[]>>
  /**
   * Those of the paths that sign what their callers did not send word by word, as amounts that they compute, or more than one transaction of an
   * endpoint for a request. Only where it is contained: what runs in the server is not held to it.
   */
  readonly decides?: readonly string[]
}

export interface InterfaceContext<C = unknown> {
  /** Checked against the manifest's schema; with the keys of its listener. */
  readonly config: C & ListenerConfig
  readonly log: Log
}

/** Where an interface listens: keys that every interface has in `conf/interfaces/<name>.yml`. */
export interface ListenerConfig {
  /** Absent: it does not listen. */
  readonly port?: number
  /** Absent: that of the server's own interface. */
  readonly host?: string
  /** Whether clients may send private keys (`addKey`). Absent: they may not. */
  readonly keys?: 'refuse' | 'accept'
  /** Endpoints for people that it may call, such as `ApprovalsApprove`. Absent: none. */
  readonly endpoints?: readonly string[]
}

export interface Interface {
  /** In this order: the first that fits a request answers it. */
  readonly paths: readonly InterfacePath[]
  /** What a caller sees of an error. */
  showError(error: InterfaceError): { readonly status: number; readonly body: object }
}

/** An error of the server's table, or UNKNOWN_ERROR for a defect, whose details are in the log alone. */
export interface InterfaceError {
  /** By Sluice's own interface. 202 of PENDING_APPROVAL, else 400 to 599: `showError` may give this, or any of 400 to 599. */
  readonly http: number
  readonly name: string
  readonly message: string
  readonly requestId: string
  readonly details?: unknown
  readonly retryAfterSeconds: number | undefined
}

/** One method of one path, declared like an endpoint of the server. */
export interface InterfacePath<Req extends TObject = TObject, Res extends TSchema = TSchema> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With parameters: `/tokens/:address`. A slash at the end of a request's path is ignored. */
  readonly path: string
  readonly summary: string
  /** Absent: any certificate of the CA may call it, and the endpoints that it calls have their own. */
  readonly permission?: Permission
  /** How long a request may take where that is longer than `server.requestTimeoutSeconds`, at most 300: for what waits for a block. */
  readonly timeoutSeconds?: number
  /**
   * The fields of the path, the query and the body together; of a field that is there twice the path's, then the body's counts. Texts are read as
   * the schema has them. A number of a body comes as the text that was written, so that money is never a float. The request is frozen: of a query
   * that comes again it is the same object. `examples` of the schema are requests that succeed on the devnet: contract tests send them.
   */
  readonly request: Req
  /** Held against every answer. Another shape is a defect of the plugin. */
  readonly response: Res
  /**
   * Of a GET without parameters: whether the server answers. It waits behind no other request of its caller, and calls no endpoint. Of one caller 16
   * at once do so; more wait like other requests. Fifty a second do not count towards its `requestsPerSecond`.
   */
  readonly isPing?: boolean
  /**
   * Fields of the body with private keys. The plugin gets none of their values: each reads "hidden", and is handed on by its name (`addKey`).
   */
  readonly secrets?: readonly string[]
  answer(request: Static<Req>, call: InterfaceCall): Static<Res> | Promise<Static<Res>>
}

/** One request to an interface, while it is answered. */
export interface InterfaceCall {
  readonly caller: InterfaceCaller
  readonly requestId: string
  /** Aborted when the request's time is over (`server.requestTimeoutSeconds`, or that of the path), and of a GET when its caller is gone. */
  readonly signal: AbortSignal
  /**
   * true once the answer was written out and the connection still stood; false once the connection is gone before that. Whether it was read at the
   * other end is not known then: `once` hears of a connection that breaks later. To be asked for before `answer` ends.
   */
  readonly delivered: Promise<boolean>
  /**
   * Calls an endpoint of the server as the caller, with its permissions, wallets and limits.
   * @throws SluiceError what the endpoint refuses with
   */
  call<N extends EndpointName>(
    endpoint: N,
    fields: RequestOf<EndpointByName<N>>,
    options?: InterfaceCallOptions,
  ): Promise<ResponseOf<EndpointByName<N>>>
  /**
   * The same for endpoints that read, without a promise where the answer is there at once, as prices from memory are: `after` goes on with either. To
   * wait for what is there costs as much as to find it.
   * @throws SluiceError at once, or by the promise
   */
  ask<N extends EndpointName>(
    endpoint: N,
    fields: RequestOf<EndpointByName<N>>,
  ): ResponseOf<EndpointByName<N>> | Promise<ResponseOf<EndpointByName<N>>>
  /**
   * Does what a request asks for once, though its client sends no key and asks again when an answer did not reach it. An equal request of the same
   * caller takes the place of one whose answer was lost (also later, where the connection breaks before it is used again, or `sluice proxy` reports that its client has not read the answer), or could not say what became of it, and has its key: once for each such answer. While the
   * connection of the earlier request stands, and after a delivered answer, it is a new one. To be called once for a request.
   * @param prepare decides what is done, once for all requests that are one: JSON
   * @param act calls one endpoint that makes a transaction with the key, and throws what that throws. Nothing is signed once the client is gone; and where
   * the answer to an equal request is lost before anything is signed, it is called again, with the key of that one
   */
  once<P extends object, T>(request: OnceRequest, prepare: () => Promise<P>, act: (key: string, prepared: P) => Promise<T>): Promise<T>
  /**
   * Answers what the caller asks of a position that it follows: some clients take any refusal, and an answer that they do not get, for proof that it is gone.
   * `sluice positions --orphaned` lists it then, until the caller is answered, after a close until that is done, or somebody uses it. Not after INCOMPLETE_PARAMS, nor
   * UNKNOWN_POSITION.
   * @throws what the answer throws
   */
  follow<T>(position: FollowedPosition, asked: PositionQuestion, answer: () => Promise<T>): Promise<T>
  readonly preferences: CallerPreferences
  /**
   * Gives the private key in a field of `secrets` to the signer, which keeps it encrypted and signs with it from then on. Only where the operator has
   * `keys: accept`, and for a wallet that the caller may use.
   * @param chains of the server, which have one kind of keys
   * @returns the wallet's address
   * @throws SluiceError FORBIDDEN, INCOMPLETE_PARAMS (it is no key), SERVICE_UNINITIALIZED (the server has no passphrase), OVERLOADED
   */
  addKey(field: string, chains: readonly string[]): Promise<string>
}

/** As endpoints of the server name it. */
export interface FollowedPosition {
  readonly chain: string
  readonly network: string
  readonly connector: string
  readonly version: string
  /** Until that is known, the hash of the transaction that opens it. */
  readonly tokenId: string
}

/** What it is now, or to close it. */
export type PositionQuestion = 'position' | 'close'

/** What a caller has set for itself in this interface: texts by name, which no other client and no other interface reads. They are kept in the store. */
export interface CallerPreferences {
  /** All of them. In a GET those that another server on the store has changed may be a second old. @throws SluiceError OVERLOADED */
  read(): Promise<Readonly<Record<string, string>>>
  /** The same, without a promise where they are known, as of a client that asks again and again. */
  known(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /**
   * At most a hundred, with names of 128 characters and values of a thousand.
   * @throws SluiceError INCOMPLETE_PARAMS beyond that; OVERLOADED, and it may be set all the same
   */
  set(name: string, value: string): Promise<void>
}

/** A request that makes a transaction, of a client that sends no key. */
export interface OnceRequest {
  /** What makes two requests equal: all that decides what is done, in one spelling. */
  readonly fields: object
  /** A connection that has waited so long for its answer counts as gone. */
  readonly staleSeconds: number
  /** A lost answer is given to an equal request until so long after its transaction became final and its client could know of the loss. */
  readonly collectSeconds: number
  /** Equal requests are one however they come, as those with an id of the client's own. Whether it was done is known for a day at least. */
  readonly isOneForEver?: boolean
  /**
   * Of one for ever: an equal request is a new one after `act` threw TRADE_FAILED with the `txHash` of its transaction in `details`, which says that
   * it can never succeed.
   */
  readonly isNewAfterFailure?: boolean
  /** Of one for ever: an equal request is a new one once the answer was delivered. Whoever books each answer is never given one twice. */
  readonly isNewAfterAnswer?: boolean
}

export interface InterfaceCallOptions {
  /** The Idempotency-Key, for endpoints that make a transaction. It is the same as in a request of this caller to the server's own interface. */
  readonly key?: string
  /** Ends this call earlier than the request. */
  readonly signal?: AbortSignal
}

/** Who sends a request: what a certificate is, and may. */
export interface InterfaceCaller {
  readonly id: string
  may(permission: Permission): boolean
  mayUse(wallet: string): boolean
}

export function defineInterface<C = object>(plugin: Omit<InterfacePlugin<C>, 'kind'>): InterfacePlugin<C> {
  return { kind: 'interface', ...plugin }
}

/** One path, with the types of its schemas. */
export const interfacePath = <Req extends TObject, Res extends TSchema>(path: InterfacePath<Req, Res>): InterfacePath => path
