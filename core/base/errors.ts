import { printable, printableTexts } from './printable.ts'

/** The table of all errors. `when` and `remedy`, in Markdown, are shown in the documentation. Codes and HTTP statuses are part of the interface. */
export const errorTable = {
  NETWORK: {
    code: 1001,
    http: 503,
    when: 'The RPC nodes of the chain cannot be reached.',
    remedy:
      'Wait for `Retry-After` and try again. If the error stays: `/network/status` shows which network it is, and `bin/sluice doctor` the cause. Correct `rpcUrls` in `conf/chains/<chain>.yml`, or add a second node.',
  },
  RATE_LIMIT: {
    code: 1002,
    http: 429,
    when: 'The caller, or every RPC node, is over its limit.',
    remedy:
      'Wait for `Retry-After`. The message says whose limit it is: raise `requestsPerSecond` in `conf/clients.yml`, send fewer requests at once (`limits.clientInFlight`, `limits.clientBodyBytes`), read the answers (`limits.clientUnsentBytes`), use fewer connections (`limits.clientConnections`), or use another node or a larger plan of its provider.',
  },
  OUT_OF_GAS: {
    code: 1003,
    http: 422,
    when: 'The wallet cannot pay for the gas, or the gas estimate failed for lack of gas.',
    remedy: 'Fund the wallet with the native coin, or trade less. The balance must cover the value and the maximum cost of the gas.',
  },
  TRANSACTION_GAS_PRICE_TOO_LOW: {
    code: 1004,
    http: 422,
    when: 'The fees of the request are below what the network accepts.',
    remedy:
      'Leave `maxFeePerGas` and `maxPriorityFeePerGas` to the server, or offer at least what the message says. If the message names `feeCap`: wait, or raise that setting.',
  },
  LOAD_WALLET: {
    code: 1005,
    http: 404,
    when: 'The server holds no key for the address on that chain.',
    remedy:
      '`GET /wallet` lists the addresses. Add the key with `bin/sluice wallet add` and restart. Devnet wallets sign on the devnet only.',
  },
  TOKEN_NOT_SUPPORTED: {
    code: 1006,
    http: 404,
    when: 'The token is unknown, or cannot be traded exactly because it charges a fee on transfer or rounds what it moves, or the operator refuses what others may do to it (`refuseWarnings` of a network of Solana).',
    remedy:
      'Use a symbol of `GET /network/tokens`, or the address. For a symbol of your own add a list in `conf/tokens/`. A token with a fee on transfer cannot be traded, nor one that rounds by a unit, such as stETH: its wrapped form can. Where `details.warnings` says what others may do to it, sell it or leave it: an operator sets `refuseWarnings`.',
  },
  TRADE_FAILED: {
    code: 1007,
    http: 422,
    when: 'The exchange would refuse the trade; details.reason says why. details.cause is slippage where the price has moved past the bound.',
    remedy:
      'Nothing was sent. Read `details.reason`: it is the text of the exchange or the token. With `details.cause` `slippage` send the request again, for a new quote. Without it the state may have changed: ask for a new quote first.',
  },
  SWAP_PRICE_EXCEEDS_LIMIT_PRICE: {
    code: 1008,
    http: 422,
    when: 'A BUY now costs more than limitPrice.',
    remedy: 'Nothing was sent. Raise `limitPrice`, or wait.',
  },
  SWAP_PRICE_LOWER_THAN_LIMIT_PRICE: {
    code: 1009,
    http: 422,
    when: 'A SELL now brings less than limitPrice.',
    remedy: 'Nothing was sent. Lower `limitPrice`, or wait.',
  },
  SERVICE_UNINITIALIZED: {
    code: 1010,
    http: 503,
    when: 'The plugin is still starting.',
    remedy: 'Wait for `Retry-After` and try again: a request starts the network that it names. The message says what the start waits for.',
  },
  UNKNOWN_CHAIN_ERROR: {
    code: 1011,
    http: 404,
    when: 'The chain or network is unknown, or the connector does not serve it.',
    remedy:
      'The message names the nearest known name and lists the others; `GET /connectors` shows what each connector serves. `local` exists only with the devnet.',
  },
  INVALID_NONCE: {
    code: 1012,
    http: 409,
    when: "The nonce is used, not the caller's to replace, or above one that stayed free.",
    remedy:
      'Leave `nonce` out to have one assigned. Above a free one nothing is signed: send the nonces from `details.next` on first, or at the same time. To replace the transaction that has the nonce, offer at least the fees that the message names. `details` has `nonce`, `next` and the `txHash` of that transaction.',
  },
  PRICE_FAILED: {
    code: 1013,
    http: 422,
    when: 'No pool or route has a price (or enough liquidity), or an oracle does not reach so far back.',
    remedy:
      'Ask for a smaller amount (`details.most`, if present, is the maximum), for a larger amount if it is worth less than the smallest unit, for a period of at most `details.holdsSeconds`, or try another connector.',
  },
  INCOMPLETE_PARAMS: {
    code: 1014,
    http: 400,
    when: 'A field is missing, unknown or malformed; details lists each.',
    remedy:
      'Correct the fields in `details`: each is `{ field, problem }`. Other mistakes have their own status: 404 unknown path, 405 wrong method (see `Allow`), 413 body too large, 415 not `application/json`, 431 URL and headers over 64 kB together (send long lists by POST).',
  },
  UNKNOWN_CONNECTOR: {
    code: 1015,
    http: 404,
    when: 'There is no such connector.',
    remedy: '`GET /connectors` lists them. If a connector is missing, `GET /plugins` says why it was refused.',
  },
  UNSUPPORTED: {
    code: 1016,
    http: 501,
    when: 'The connector does not have that trading type or endpoint.',
    remedy: 'Use a connector that has it: `GET /plugins` lists the trading types.',
  },
  INSUFFICIENT_ALLOWANCE: {
    code: 1017,
    http: 422,
    when: 'The spender may not move that much; details: spender, token, current, needed.',
    remedy: 'Approve with `/evm/approve`: `details.spender`, `details.token`, `details.needed`.',
  },
  INSUFFICIENT_BALANCE: {
    code: 1018,
    http: 422,
    when: 'The wallet does not hold that much; details: token, current, needed.',
    remedy: 'Fund the wallet, or trade less. `details` has `current` and `needed`.',
  },
  INSUFFICIENT_MARGIN: {
    code: 1019,
    http: 422,
    when: 'The free collateral is too small; details: free, needed.',
    remedy: 'Deposit collateral, or open a smaller position.',
  },
  UNKNOWN_TRANSACTION: {
    code: 1020,
    http: 404,
    when: 'There is no such transaction in the journal.',
    remedy:
      "Check `txHash`, `nonce`, `chain` and `network`; `GET /transactions` lists the wallet's. Only a pending transaction can be cancelled or sped up.",
  },
  FORBIDDEN: {
    code: 1021,
    http: 403,
    when: 'The client certificate may not do this, or not with this wallet, or the plugin is quarantined, or the signer has no count for a wallet with limits.',
    remedy:
      'An operator gives the permission or the wallet to the certificate in `conf/clients.yml`. A spender that belongs to no connector needs an entry in `wallet.allowedSpenders`. With `details.reason` `quarantined` the plugin did more to a wallet than it was allowed: an operator looks at it, and lifts it by `bin/sluice plugin lift`. With `signer count` the signer cannot count what it signs for wallets of `conf/limits.yml`: the message says why; an operator stops the server and begins a new count by `bin/sluice limits reset-count`, or restarts it.',
  },
  IDEMPOTENCY_CONFLICT: {
    code: 1022,
    http: 422,
    when: 'The idempotency key was used with another request.',
    remedy: 'Use a new key for a new request. Repeat a request with exactly the same fields.',
  },
  UNKNOWN_ORDER: { code: 1023, http: 404, when: 'There is no such order or market.', remedy: "Check the market and the order's id." },
  UNKNOWN_POSITION: {
    code: 1024,
    http: 404,
    when: 'There is no such position.',
    remedy: "Check the id and the wallet: `details.owner`, if present, is the position's owner.",
  },
  PAIR_NOT_FOUND: {
    code: 1025,
    http: 404,
    when: 'The exchange has no such pair or market.',
    remedy: 'Check the pair, use a fee tier that has a pool (`details.fees`), or try another connector.',
  },
  TIMEOUT: {
    code: 1026,
    http: 504,
    when: "No answer within the server's time limit; /transactions shows what happened to a transaction.",
    remedy:
      'For a request that only reads: try again. For any other: send the same request with the same `Idempotency-Key`, or look at `GET /transactions?requestId=…` with the `requestId` of this answer. Do not send a new request before you know the outcome of the first one.',
  },
  OVERLOADED: {
    code: 1027,
    http: 503,
    when: 'The server is overloaded or stopping, its store or its signer cannot be used, or an approval of the wallet has to be mined first: nothing was done.',
    remedy:
      'Wait for `Retry-After` and try again. The message has the cause. Load: send fewer requests at once; the limits are `limits.inFlight`, `limits.allBodyBytes` and `limits.walletQueue`, and for `/events` the number of streams. Store: an operator has to repair its disk or database; the server then continues by itself. Signer: it is being started again, within seconds; or the disk of its count is full. Approval: `details.reason` is `an approval under way`, `details.txHash` its transaction.',
  },
  IN_FLIGHT: {
    code: 1028,
    http: 409,
    when: 'The first request with this idempotency key is still in progress.',
    remedy:
      'Wait for `Retry-After` and repeat the same request with the same key: it returns the answer when there is one. If the server that processed it died, the next repeat takes the request over.',
  },
  LIMIT_EXCEEDED: {
    code: 1029,
    http: 403,
    when: 'The request would lose, spend or risk more than a limit allows; details: limit, left, freesAt.',
    remedy:
      'Nothing was signed. `details.limit` is the setting, `details.left` what is left of it, `details.freesAt` (milliseconds since 1970) when so much is free. Without it no moment is known: what is open counts until it has ended, and what came of it then counts for the hour or day of its limit. Ask for at most what is left, or at a price nearer to the market; or the operator raises the limit.',
  },
  STOPPED: {
    code: 1030,
    http: 403,
    when: 'An operator has stopped trading: for all, for the wallet, or for the client. details: mode, of, setBy, since, reason.',
    remedy:
      'Nothing was signed. With `details.mode` `stop` only cancels go through; with `reduce-only` also what closes, removes, repays or revokes. Do not repeat the request by itself: it goes through once somebody with the permission `resume` has lifted the stop (`bin/sluice resume`, `DELETE /stops`). `GET /stops` shows what is in force.',
  },
  PENDING_APPROVAL: {
    code: 1031,
    http: 202,
    when: 'The request gives away more than the client may without a second person, so it waits for one. details: id, expiresAt.',
    remedy:
      'Nothing was signed yet. Send the same request again with the same `Idempotency-Key`: it gives this answer while it waits, then the outcome. Without a key, `GET /approvals?id=…` with `details.id` shows it. Somebody with another certificate and the permission `approve` decides (`bin/sluice approve`).',
  },
  APPROVAL_DENIED: {
    code: 1032,
    http: 403,
    when: 'Somebody has denied the request that waited for an approval. details: id.',
    remedy: 'Nothing was signed. Ask who denied it, `decidedBy` in `GET /approvals?id=…`. A new request needs a new `Idempotency-Key`.',
  },
  APPROVAL_EXPIRED: {
    code: 1033,
    http: 403,
    when: 'Nobody approved the request in time, or its approval was not carried out in time. details: id.',
    remedy:
      'Nothing was signed. Send a new request with a new `Idempotency-Key`, at the price of now. The operator sets how long a request waits, with `limits.approvalMinutes`.',
  },
  APPROVAL_WITHDRAWN: {
    code: 1034,
    http: 403,
    when: 'The client has withdrawn the request while it waited for an approval. details: id.',
    remedy: 'Nothing was signed. A new request needs a new `Idempotency-Key`.',
  },
  UNKNOWN_ERROR: {
    code: 1099,
    http: 500,
    when: 'A defect in the server or a plugin; logged with its requestId.',
    remedy:
      "It is a bug: find the `requestId` in the server's log and report what the log says. If the request makes a transaction, look at the wallet's transactions before you repeat it.",
  },
} as const satisfies Record<string, { code: number; http: number; when: string; remedy: string }>

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

/** What an error says. Of anything else that was thrown nothing is asked but a text: it may be a plugin's. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : typeof error === 'string' ? error : 'unknown')

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
