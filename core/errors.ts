/** The one table of errors. `when` is what the documentation says; the HTTP status is part of the contract. */
export const errorTable = {
  NETWORK: { code: 1001, http: 503, when: 'The RPC nodes of the chain cannot be reached.' },
  RATE_LIMIT: { code: 1002, http: 429, when: 'The caller, or every RPC node, is over its limit.' },
  OUT_OF_GAS: { code: 1003, http: 422, when: 'The wallet cannot pay the gas, or gas estimation failed for gas.' },
  TRANSACTION_GAS_PRICE_TOO_LOW: { code: 1004, http: 422, when: 'The given fees are below what the network takes.' },
  LOAD_WALLET: { code: 1005, http: 404, when: 'The server holds no key for the address on that chain.' },
  TOKEN_NOT_SUPPORTED: {
    code: 1006,
    http: 404,
    when: 'The token is unknown, or one that cannot be traded exactly (it takes a fee on transfer).',
  },
  TRADE_FAILED: { code: 1007, http: 422, when: 'The exchange would refuse the trade; details.reason says why.' },
  SWAP_PRICE_EXCEEDS_LIMIT_PRICE: { code: 1008, http: 422, when: 'A BUY now costs more than limitPrice.' },
  SWAP_PRICE_LOWER_THAN_LIMIT_PRICE: { code: 1009, http: 422, when: 'A SELL now brings less than limitPrice.' },
  SERVICE_UNINITIALIZED: { code: 1010, http: 503, when: 'The plugin is still starting.' },
  UNKNOWN_CHAIN_ERROR: { code: 1011, http: 404, when: 'The chain or network is unknown, or the connector does not serve it.' },
  INVALID_NONCE: { code: 1012, http: 409, when: "The nonce is used, or not the caller's to replace." },
  PRICE_FAILED: {
    code: 1013,
    http: 422,
    when: 'No pool or route gives a price (too little liquidity included), or an oracle does not reach so far back.',
  },
  INCOMPLETE_PARAMS: { code: 1014, http: 400, when: 'A field is missing, unknown or malformed; details lists each.' },
  UNKNOWN_CONNECTOR: { code: 1015, http: 404, when: 'There is no such connector.' },
  UNSUPPORTED: { code: 1016, http: 501, when: 'The connector does not have that trading type or verb.' },
  INSUFFICIENT_ALLOWANCE: { code: 1017, http: 422, when: 'The spender may not move that much; details: spender, token, current, needed.' },
  INSUFFICIENT_BALANCE: { code: 1018, http: 422, when: 'The wallet does not hold that much; details: token, current, needed.' },
  INSUFFICIENT_MARGIN: { code: 1019, http: 422, when: 'The free collateral is too small; details: free, needed.' },
  UNKNOWN_TRANSACTION: { code: 1020, http: 404, when: 'There is no such transaction in the journal.' },
  FORBIDDEN: { code: 1021, http: 403, when: 'The client certificate may not do this, or not with this wallet.' },
  IDEMPOTENCY_CONFLICT: { code: 1022, http: 422, when: 'The idempotency key was used with another request.' },
  UNKNOWN_ORDER: { code: 1023, http: 404, when: 'There is no such order or market.' },
  UNKNOWN_POSITION: { code: 1024, http: 404, when: 'There is no such position.' },
  PAIR_NOT_FOUND: { code: 1025, http: 404, when: 'The exchange has no such pair or market.' },
  TIMEOUT: { code: 1026, http: 504, when: "The answer did not come within the server's limit; what became of it is in /transactions." },
  OVERLOADED: { code: 1027, http: 503, when: 'The server sheds load, its store cannot be used, or it is stopping: nothing was done.' },
  IN_FLIGHT: { code: 1028, http: 409, when: 'The first request with this idempotency key is still under way.' },
  UNKNOWN_ERROR: { code: 1099, http: 500, when: 'A defect in the server or a plugin; logged with its requestId.' },
} as const satisfies Record<string, { code: number; http: number; when: string }>

export type ErrorName = keyof typeof errorTable

export interface ErrorExtras {
  /** Shown to the caller as it is: no secrets. */
  details?: unknown
  /** Seconds after which trying again is worth it; becomes the header `Retry-After`. */
  retryAfterSeconds?: number
  /** A status other than the table's, for what HTTP itself has a number for (405, 413, 415). */
  http?: number
  cause?: unknown
}

/** An error meant for the caller. `message` says what is wrong and what to do about it, in one or two sentences. */
export class SluiceError extends Error {
  override readonly name: ErrorName
  readonly code: number
  readonly http: number
  readonly details: unknown
  readonly retryAfterSeconds: number | undefined

  constructor(name: ErrorName, message: string, extras: ErrorExtras = {}) {
    super(message, { cause: extras.cause })
    this.name = name
    this.code = errorTable[name].code
    this.http = extras.http ?? errorTable[name].http
    this.details = extras.details
    this.retryAfterSeconds = extras.retryAfterSeconds
  }
}

/** What a wrong field is reported as, in `details` of INCOMPLETE_PARAMS. */
export interface FieldProblem {
  field: string
  problem: string
  /** Values that would do, where there are such. */
  nearest?: readonly string[]
}

export function badFields(problems: readonly [FieldProblem, ...FieldProblem[]]): SluiceError {
  const message = problems.map(({ field, problem }) => `${field}: ${problem}`).join('; ')
  return new SluiceError('INCOMPLETE_PARAMS', message, { details: problems })
}
