import { printable, printableTexts } from './printable.ts'

/** The table of all errors. `when` is shown in the documentation. Codes and HTTP statuses are part of the interface. */
export const errorTable = {
  NETWORK: { code: 1001, http: 503, when: 'The RPC nodes of the chain cannot be reached.' },
  RATE_LIMIT: { code: 1002, http: 429, when: 'The caller, or every RPC node, is over its limit.' },
  OUT_OF_GAS: { code: 1003, http: 422, when: 'The wallet cannot pay for the gas, or the gas estimate failed for lack of gas.' },
  TRANSACTION_GAS_PRICE_TOO_LOW: { code: 1004, http: 422, when: 'The fees of the request are below what the network accepts.' },
  LOAD_WALLET: { code: 1005, http: 404, when: 'The server holds no key for the address on that chain.' },
  TOKEN_NOT_SUPPORTED: {
    code: 1006,
    http: 404,
    when: 'The token is unknown, or cannot be traded exactly because it charges a fee on transfer or rounds what it moves.',
  },
  TRADE_FAILED: {
    code: 1007,
    http: 422,
    when: 'The exchange would refuse the trade; details.reason says why. details.cause is slippage where the price has moved past the bound.',
  },
  SWAP_PRICE_EXCEEDS_LIMIT_PRICE: { code: 1008, http: 422, when: 'A BUY now costs more than limitPrice.' },
  SWAP_PRICE_LOWER_THAN_LIMIT_PRICE: { code: 1009, http: 422, when: 'A SELL now brings less than limitPrice.' },
  SERVICE_UNINITIALIZED: { code: 1010, http: 503, when: 'The plugin is still starting.' },
  UNKNOWN_CHAIN_ERROR: { code: 1011, http: 404, when: 'The chain or network is unknown, or the connector does not serve it.' },
  INVALID_NONCE: { code: 1012, http: 409, when: "The nonce is used, or not the caller's to replace." },
  PRICE_FAILED: {
    code: 1013,
    http: 422,
    when: 'No pool or route has a price (or enough liquidity), or an oracle does not reach so far back.',
  },
  INCOMPLETE_PARAMS: { code: 1014, http: 400, when: 'A field is missing, unknown or malformed; details lists each.' },
  UNKNOWN_CONNECTOR: { code: 1015, http: 404, when: 'There is no such connector.' },
  UNSUPPORTED: { code: 1016, http: 501, when: 'The connector does not have that trading type or endpoint.' },
  INSUFFICIENT_ALLOWANCE: { code: 1017, http: 422, when: 'The spender may not move that much; details: spender, token, current, needed.' },
  INSUFFICIENT_BALANCE: { code: 1018, http: 422, when: 'The wallet does not hold that much; details: token, current, needed.' },
  INSUFFICIENT_MARGIN: { code: 1019, http: 422, when: 'The free collateral is too small; details: free, needed.' },
  UNKNOWN_TRANSACTION: { code: 1020, http: 404, when: 'There is no such transaction in the journal.' },
  FORBIDDEN: {
    code: 1021,
    http: 403,
    when: 'The client certificate may not do this, or not with this wallet, or the plugin is quarantined.',
  },
  IDEMPOTENCY_CONFLICT: { code: 1022, http: 422, when: 'The idempotency key was used with another request.' },
  UNKNOWN_ORDER: { code: 1023, http: 404, when: 'There is no such order or market.' },
  UNKNOWN_POSITION: { code: 1024, http: 404, when: 'There is no such position.' },
  PAIR_NOT_FOUND: { code: 1025, http: 404, when: 'The exchange has no such pair or market.' },
  TIMEOUT: { code: 1026, http: 504, when: "No answer within the server's time limit; /transactions shows what happened to a transaction." },
  OVERLOADED: {
    code: 1027,
    http: 503,
    when: 'The server is overloaded or stopping, or its store or its signer cannot be used: nothing was done.',
  },
  IN_FLIGHT: { code: 1028, http: 409, when: 'The first request with this idempotency key is still in progress.' },
  UNKNOWN_ERROR: { code: 1099, http: 500, when: 'A defect in the server or a plugin; logged with its requestId.' },
} as const satisfies Record<string, { code: number; http: number; when: string }>

export type ErrorName = keyof typeof errorTable

/** What a request can be refused by for what others are doing, each named as its setting: under `limits`, of a client, and what a wait may take. */
export type Bound =
  | 'requestsPerSecond'
  | 'requestTimeoutSeconds'
  | 'clientInFlight'
  | 'clientUnsentBytes'
  | 'clientConnections'
  | 'clientBodyBytes'
  | 'clientStreams'
  | 'inFlight'
  | 'allBodyBytes'
  | 'streams'
  | 'walletQueue'

export interface ErrorExtras {
  /** Shown to the caller unchanged: no secrets. */
  details?: unknown
  /** When to try again; becomes the header `Retry-After`. */
  retryAfterSeconds?: number
  /** A status other than the table's, where HTTP has a more precise one (405, 413, 415). */
  http?: number
  /** The bound that the request was over; counted. */
  bound?: Bound
  cause?: unknown
}

/** An error for callers. `message` says what is wrong and what to do about it, in one or two sentences. */
export class SluiceError extends Error {
  override readonly name: ErrorName
  readonly code: number
  readonly http: number
  readonly details: unknown
  readonly retryAfterSeconds: number | undefined
  readonly bound: Bound | undefined

  constructor(name: ErrorName, message: string, extras: ErrorExtras = {}) {
    // It may have words of a plugin, a node or a token in it.
    super(printable(message), { cause: extras.cause })
    this.name = name
    this.code = errorTable[name].code
    this.http = extras.http ?? errorTable[name].http
    this.details = extras.details
    this.retryAfterSeconds = wholeSeconds(extras.retryAfterSeconds)
    this.bound = extras.bound
  }
}

const maxRetryAfterSeconds = 3_600

/** The same from whoever said it: a bounded whole number, and undefined where it is none. */
const wholeSeconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined || !(seconds >= 0) ? undefined : Math.min(Math.max(1, Math.ceil(seconds)), maxRetryAfterSeconds)

const troubles: ReadonlySet<ErrorName> = new Set(['NETWORK', 'RATE_LIMIT', 'TIMEOUT'])

/** Whether a node or an exchange could not tell: it says nothing of what was asked. */
export const isTrouble = (error: unknown): error is SluiceError => error instanceof SluiceError && troubles.has(error.name)

/** An error as a part of an answer. */
export const errorFields = ({ code, name, message, http, details }: SluiceError) => ({
  errorCode: code,
  name,
  message,
  httpErrorCode: http,
  ...(details !== undefined && { details: printableTexts(details) }),
})

/** One wrong field, in `details` of INCOMPLETE_PARAMS. */
export interface FieldProblem {
  field: string
  problem: string
  /** Similar values that are valid. */
  nearest?: readonly string[]
}

export function badFields(problems: readonly [FieldProblem, ...FieldProblem[]]): SluiceError {
  const message = problems.map(({ field, problem }) => `${field}: ${problem}`).join('; ')
  return new SluiceError('INCOMPLETE_PARAMS', message, { details: problems })
}
