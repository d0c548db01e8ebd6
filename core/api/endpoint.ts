import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { ErrorName } from '../errors.ts'
import { envelopeFields } from './fields.ts'

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
