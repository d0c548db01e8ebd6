import * as Type from 'typebox'
import type { Static, TObject, TProperties, TSchema } from 'typebox'
import type { ErrorName } from '../base/errors.ts'

/** What a client certificate can be allowed, in `conf/clients.yml`. None includes another. */
export const permissions = ['read', 'trade', 'thin', 'send', 'admin', 'stop', 'resume', 'approve'] as const
export type Permission = (typeof permissions)[number]

/** What each allows, for the documentation. */
export const permissionUses: Readonly<Record<Permission, string>> = {
  read: 'Every endpoint that only reads.',
  trade:
    "Every endpoint that makes a transaction, with the certificate's wallets, but for those of `send`. In many steps it can lose all that these wallets hold.",
  thin: 'With `trade`: trades that no market bears out, of unlisted tokens, in lone or thin pools, or far from the price of the others. Without it such a request is refused, on local networks only with `limits.onLocalNetworks`.',
  send: "Sending the native coin and listed tokens of the certificate's wallets, to the addresses that `sendTo` lists for this certificate and that wallet.",
  admin:
    'Moving old transactions to the archive, adding tokens to the list of a network, lifting the quarantine of a plugin, and what people are told of.',
  stop: 'Stopping everything, any wallet and any certificate. With `trade` a certificate may stop itself.',
  resume: 'Lifting what was stopped, by anybody.',
  approve: "Approving and denying requests of other clients that wait for a second person, with the certificate's wallets.",
}

/** What the server looks up before it calls the handler. `connectors`: one, or the network alone where the request names all of them, by `any`. */
export type Target = 'service' | 'chain' | 'connector' | 'connectors'

/** The interface sets of order books. */
export type BookSet = 'CLOB' | 'MARGIN_CLOB' | 'PERP_CLOB'

export interface Endpoint<
  Name extends string = string,
  Req extends TObject = TObject,
  Res extends TSchema = TSchema,
  On extends Target = Target,
  Method extends 'GET' | 'POST' | 'DELETE' = 'GET' | 'POST' | 'DELETE',
  Path extends string = string,
> {
  /** Derived from the URL: `/amm/price` is `AMMPrice`. Its interfaces are `<name>Request` and `<name>Response`. */
  readonly name: Name
  readonly method: Method
  readonly path: Path
  /** The group of endpoints, a tag of the OpenAPI document. */
  readonly set: 'Service' | 'NetworkBase' | 'EVM' | 'altchain' | 'ConnectorBase' | 'AMM' | 'AMM_RANGE' | 'AMM_SHARES' | 'PERP_AMM' | BookSet
  readonly summary: string
  readonly request: Req
  readonly response: Res
  readonly on: On
  /** Absent: any certificate of the CA is allowed. */
  readonly permission?: Permission
  /** The request's `address` (or `wallet_address`) must be a wallet that the caller may use: the endpoint shows or spends what it has. */
  readonly wallet?: true
  /** It makes a transaction, so it takes an `Idempotency-Key`. */
  readonly acts?: true
  /** By the header `Accept` it answers as NDJSON or CSV too, with all that there is and not a page. This is one line of the NDJSON. */
  readonly line?: TSchema
  /** Errors besides those that follow from the other properties. */
  readonly errors?: readonly ErrorName[]
}

/** Media types of an answer that is streamed, by the names that commands have for them. */
export const streamTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
export type StreamFormat = keyof typeof streamTypes

export function endpoint<
  const Name extends string,
  Req extends TObject,
  Res extends TSchema,
  const On extends Target,
  const Method extends Endpoint['method'],
  const Path extends string,
>(definition: Endpoint<Name, Req, Res, On, Method, Path>): Endpoint<Name, Req, Res, On, Method, Path> {
  return definition
}

/** What a request demands of several of its fields. A type cannot say it: the handler checks it, and the OpenAPI document says it. */
export interface FieldRule {
  /** The rule is only for requests in which the field has one of these values. */
  readonly where?: { readonly field: string; readonly is: readonly string[] }
  /** At least one of these groups is given, each in full. */
  readonly anyOf?: readonly (readonly string[])[]
  /** All of them are given, or none. */
  readonly together?: readonly string[]
  /** None of them is given. */
  readonly without?: readonly string[]
}

export const request = <P extends TProperties>(fields: P, rules?: readonly FieldRule[]) =>
  Type.Object(fields, { additionalProperties: false, ...(rules && { rules }) })
export const response = <P extends TProperties>(fields: P) => Type.Object(fields)
/** The response of a chain or exchange endpoint: with `network`, `timestamp` and `latency`. */
export const enveloped = <P extends TProperties>(fields: P) => Type.Object({ ...fields, ...envelopeFields })

export type RequestOf<E> = E extends Endpoint<string, infer Req> ? Static<Req> : never
export type ResponseOf<E> = E extends Endpoint<string, TObject, infer Res> ? Static<Res> : never
/** What a handler returns: the response without its envelope, which the server adds. It may give the `timestamp` of an answer about another moment than now. */
export type AnswerOf<E> =
  ResponseOf<E> extends infer R
    ? R extends { timestamp: number; latency: number }
      ? Omit<R, 'network' | 'timestamp' | 'latency'> & { timestamp?: number }
      : R
    : never

const everywhere: readonly ErrorName[] = ['INCOMPLETE_PARAMS', 'FORBIDDEN', 'RATE_LIMIT', 'OVERLOADED', 'TIMEOUT']
const onChain: readonly ErrorName[] = ['UNKNOWN_CHAIN_ERROR', 'NETWORK', 'SERVICE_UNINITIALIZED']
const onConnector: readonly ErrorName[] = [...onChain, 'UNKNOWN_CONNECTOR', 'UNSUPPORTED']
const acting: readonly ErrorName[] = [
  'LOAD_WALLET',
  'OUT_OF_GAS',
  'TRANSACTION_GAS_PRICE_TOO_LOW',
  'INVALID_NONCE',
  'TRADE_FAILED',
  'INSUFFICIENT_BALANCE',
  'IDEMPOTENCY_CONFLICT',
  'IN_FLIGHT',
  'LIMIT_EXCEEDED',
  'STOPPED',
  'PENDING_APPROVAL',
  'APPROVAL_DENIED',
  'APPROVAL_EXPIRED',
  'APPROVAL_WITHDRAWN',
]

/** Every error that an endpoint may answer with. */
export function errorsOf({ on, acts, errors = [] }: Endpoint): readonly ErrorName[] {
  const byTarget = { service: [], chain: onChain, connector: onConnector, connectors: onConnector }[on]
  return [...new Set([...everywhere, ...byTarget, ...(acts ? acting : []), ...errors])]
}

// Fields that requests share. `expects` completes the sentence "must be …" in the error about an invalid value. `acceptsNumber` allows
// an exact number in a JSON body.

const text = (expects: string, options: object = {}) => Type.String({ minLength: 1, maxLength: 256, expects, ...options })

export const decimalPattern = '^\\d{1,80}(\\.\\d{1,120})?([eE][+-]?\\d{1,2})?$'

/** A non-negative decimal in a token's human units. */
export const Decimal = (description: string) =>
  text('a decimal string such as "1.5"', { pattern: decimalPattern, maxLength: 220, acceptsNumber: true, description })

export const ChainName = text('the name of a chain, such as ethereum', { description: 'Name of a chain.' })
export const NetworkName = text('the name of a network, such as mainnet', { description: "One of the chain's networks." })
export const ConnectorName = text('the name of a connector', { description: 'Name of a registered connector.' })
/** In the place of a connector's name: all of the network. */
export const anyConnector = 'any'
export const WalletAddress = text('a wallet address', { description: 'Address of a wallet whose key the server has.' })
export const TokenName = text('a token symbol or address', {
  description: "A symbol of the network's token list, or the address of a token.",
})
export const TransactionHash = text('a transaction hash', { description: 'Hash (or signature) of a transaction.' })
export const TokenSymbols = Type.Array(TokenName, {
  minItems: 1,
  maxItems: 1000,
  expects: 'a list of token symbols or addresses',
  description: 'Symbols or addresses.',
})

export const Side = Type.Enum(['BUY', 'SELL'], {
  expects: 'BUY or SELL',
  description: 'BUY or SELL of the base token, in any letter case.',
})

export const Nonce = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  expects: 'a non-negative integer',
  description:
    'Used as it is; one above the lowest free nonce waits, unsigned, until that is used. Absent: the server assigns the next one.',
})

export const Slippage = text('a fraction such as "1/200"', {
  pattern: '^\\d{1,9}/[1-9]\\d{0,8}$',
  description: 'How far the price may move against the caller. It may only be tighter than the configured one.',
})

/** Optional fields of requests that make a transaction. */
export const transactionFields = {
  nonce: Type.Optional(Nonce),
  maxFeePerGas: Type.Optional(Decimal('Maximum fee per gas, in gwei.')),
  maxPriorityFeePerGas: Type.Optional(Decimal('Tip per gas, in gwei.')),
}

export const chainFields = { chain: ChainName, network: NetworkName }
export const connectorFields = { ...chainFields, connector: ConnectorName }

/** Added to every response of a chain or exchange endpoint. */
export const envelopeFields = {
  network: Type.String(),
  timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  latency: Type.Number({ description: 'Seconds from the request to the answer.' }),
}

/** Text of an answer that JSON has as it is: digits that the server itself wrote, with a sign and a point at most. Nothing of it is escaped. */
export const Digits = (description: string) => Type.String({ description, digits: true })

export const gasFields = {
  gasPrice: Type.Number({ description: 'Base fee plus tip, in gwei: 10^-9 of the native coin.' }),
  gasPriceToken: Type.String({ description: 'Symbol of the token that pays for gas.' }),
  gasLimit: Type.Number({ description: 'Gas limit in units, as it is or would be signed.' }),
  gasCost: Type.String({ description: 'In the gas token, as a decimal string.' }),
  rent: Type.Optional(
    Type.String({
      description:
        'What new accounts of the wallet keep of the gas token, beside `gasCost`: on Solana, where a token needs an account. It comes back when the account is closed. In a price only if the request has an address.',
    }),
  ),
}

const maxPerPage = 500

export const pageFields = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPerPage,
      expects: `an integer from 1 to ${maxPerPage}`,
      description: 'Maximum of entries. 100 without it.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the nextCursor of an earlier answer',
      description: '`nextCursor` of the previous page.',
    }),
  ),
}

/** Of a list that is answered without some of its entries. @param names what says which entry it is */
export const unavailable = <P extends TProperties>(names: P) =>
  Type.Optional(
    Type.Array(Type.Object({ ...names, reason: Type.String() }), {
      description: 'What is missing in this answer, and why. Absent: nothing is missing.',
    }),
  )

/** An error that is a part of an answer whose other parts are none. */
export const refusalFields = {
  errorCode: Type.Number(),
  name: Type.String(),
  message: Type.String(),
  httpErrorCode: Type.Number(),
  details: Type.Optional(Type.Unknown()),
}
