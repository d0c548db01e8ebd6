import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { ErrorName } from '../errors.ts'

export type Permission = 'read' | 'trade' | 'admin'

/** What the server looks up before it calls the verb. */
export type Target = 'service' | 'chain' | 'connector'

/** The interface sets of order books. */
export type BookSet = 'CLOB' | 'MARGIN_CLOB' | 'PERP_CLOB'

export interface Endpoint<
  Name extends string = string,
  Req extends TObject = TObject,
  Res extends TSchema = TSchema,
  On extends Target = Target,
> {
  /** The URL in capitals: the interfaces are `<name>Request` and `<name>Response`. */
  readonly name: Name
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** The interface set it belongs to, as the OpenAPI document groups it. */
  readonly set: 'Service' | 'NetworkBase' | 'EVM' | 'altchain' | 'ConnectorBase' | 'AMM' | 'AMM_RANGE' | 'PERP_AMM' | BookSet
  readonly summary: string
  readonly request: Req
  readonly response: Res
  readonly on: On
  /** Absent: any certificate that the CA signed. */
  readonly permission?: Permission
  /** The request's `address` (or `wallet_address`) is a wallet of which something is shown or spent: it must be one of the caller's. */
  readonly wallet?: true
  /** Makes a transaction, so it takes an `Idempotency-Key`. */
  readonly acts?: true
  /** Errors beyond those that follow from the above. */
  readonly errors?: readonly ErrorName[]
}

export function endpoint<const Name extends string, Req extends TObject, Res extends TSchema, const On extends Target>(
  definition: Endpoint<Name, Req, Res, On>,
): Endpoint<Name, Req, Res, On> {
  return definition
}

export const request = <P extends TProperties>(fields: P) => Type.Object(fields, { additionalProperties: false })
export const response = <P extends TProperties>(fields: P) => Type.Object(fields)
/** An answer of a chain or DEX endpoint: with `network`, `timestamp` and `latency`. */
export const enveloped = <P extends TProperties>(fields: P) => Type.Object({ ...fields, ...envelopeFields })

export type RequestOf<E> = E extends Endpoint<string, infer Req, TSchema> ? Static<Req> : never
export type ResponseOf<E> = E extends Endpoint<string, TObject, infer Res> ? Static<Res> : never
/** What a verb returns: the envelope is the server's to add, but for the time of an answer that is about another moment than now. */
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
]

/** Every error that an endpoint may answer with, as the OpenAPI document lists them. */
export function errorsOf({ on, acts, errors = [] }: Endpoint): readonly ErrorName[] {
  const byTarget = { service: [], chain: onChain, connector: onConnector }[on]
  return [...new Set([...everywhere, ...byTarget, ...(acts ? acting : []), ...errors])]
}

// The fields that requests share. `expects` completes the sentence "must be …" in the error of a malformed one;
// `acceptsNumber` lets a JSON body hold a number where it is exact.

const text = (expects: string, options: object = {}) => Type.String({ minLength: 1, maxLength: 256, expects, ...options })

export const decimalPattern = '^\\d{1,80}(\\.\\d{1,120})?([eE][+-]?\\d{1,2})?$'

/** A non-negative decimal in a token's human units. */
export const Decimal = (description: string) =>
  text('a decimal string such as "1.5"', { pattern: decimalPattern, maxLength: 220, acceptsNumber: true, description })

export const ChainName = text('the name of a chain, such as ethereum', { description: 'Name of a chain.' })
export const NetworkName = text('the name of a network, such as mainnet', { description: "One of the chain's networks." })
export const ConnectorName = text('the name of a connector', { description: 'Name of a registered connector.' })
export const WalletAddress = text('a wallet address', { description: 'Address of a wallet; the server holds its key.' })
export const TokenName = text('a token symbol or address', { description: "A symbol of the network's token list, or a token's address." })
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
  description: 'Used exactly. Absent, the server assigns the next one.',
})

export const Slippage = text('a fraction such as "1/200"', {
  pattern: '^\\d{1,9}/[1-9]\\d{0,8}$',
  description: 'How far the execution price may move against the caller; may only tighten the configured one.',
})

/** What requests that make a transaction take, all optional. */
export const transactionFields = {
  nonce: Type.Optional(Nonce),
  maxFeePerGas: Type.Optional(Decimal('The most to pay per gas, in gwei.')),
  maxPriorityFeePerGas: Type.Optional(Decimal('The tip per gas, in gwei.')),
}

export const chainFields = { chain: ChainName, network: NetworkName }
export const connectorFields = { ...chainFields, connector: ConnectorName }

/** Added to every object that a chain or DEX endpoint answers. */
const envelopeFields = {
  network: Type.String(),
  timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  latency: Type.Number({ description: 'Seconds that the server took.' }),
}

export const gasFields = {
  gasPrice: Type.Number({ description: 'Base fee plus tip, in gwei: 10^-9 of the coin.' }),
  gasPriceToken: Type.String({ description: 'Symbol of the token that pays for gas.' }),
  gasLimit: Type.Number({ description: 'Gas units that are, or would be, signed.' }),
  gasCost: Type.String({ description: 'In the gas token, a decimal string.' }),
}

const mostPerPage = 500

export const pageFields = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostPerPage,
      expects: `an integer from 1 to ${mostPerPage}`,
      description: 'At most so many; 100 without it.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the nextCursor of an earlier answer',
      description: '`nextCursor` of the page before.',
    }),
  ),
}
