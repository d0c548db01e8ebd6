import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  endpoint,
  request,
  response,
  ChainName,
  NetworkName,
  pageFields,
  TransactionHash,
  unavailable,
  WalletAddress,
  ConnectorName,
} from './endpoint.ts'

/** `stop`: only cancels go through. `reduce-only`: only what cancels, closes, removes, repays or revokes. */
export const stopModes = ['stop', 'reduce-only'] as const
export type StopMode = (typeof stopModes)[number]

const NetworkNames = Type.Object({ chain: Type.String(), networks: Type.Array(Type.String()) })

export const StatusRequest = request({})
export const StatusResponse = response({ status: Type.Literal('ok') })

export const ConnectorsRequest = request({})
export const ConnectorsResponse = Type.Record(Type.String(), Type.Array(NetworkNames))

export const PluginsRequest = request({})
/** Of one token, what a transaction did to a wallet beyond what its plan was allowed. */
const Loss = Type.Object({
  token: Type.String({ description: 'Its address; the zero address for the native coin.' }),
  symbol: Type.Optional(Type.String()),
  amount: Type.String({
    description: 'A decimal string; in smallest units where the symbol is missing, since the decimals are not known.',
  }),
  how: Type.Union([Type.Literal('taken'), Type.Literal('not brought')], {
    description:
      'taken: it left the wallet beyond what the plan was allowed to take. not brought: so much of what it had to bring is missing.',
  }),
})

/** A plugin as `/plugins` and the events of the topic `plugins` show it. */
export const ShownPlugin = Type.Object({
  name: Type.String(),
  kind: Type.Union([Type.Literal('chain'), Type.Literal('connector'), Type.Literal('unknown')]),
  version: Type.String({ description: 'Its own word: in quotes where it is more than letters, digits and signs of versions.' }),
  trading_type: Type.Array(Type.String()),
  available_networks: Type.Array(NetworkNames),
  state: Type.Union([Type.Literal('loaded'), Type.Literal('refused'), Type.Literal('pending'), Type.Literal('leaving')], {
    description:
      'pending: its process is started after the server is ready; then it is loaded or refused. leaving: it was removed, and its open transactions are followed to their end.',
  }),
  tier: Type.Optional(
    Type.Union([Type.Literal('built in'), Type.Literal('trusted'), Type.Literal('contained'), Type.Literal('data')], {
      description:
        'Of a loaded plugin: of this release, of a third party that the operator trusts, of any other, or data alone, without code.',
    }),
  ),
  allowedBy: Type.Optional(
    Type.Union([Type.Literal('release'), Type.Literal('operator'), Type.Literal('nobody')], {
      description: 'Who allowed it to run: the release, the operator in sluice.lock, or nobody, where a server only tries.',
    }),
  ),
  sha256: Type.Optional(Type.String({ description: 'The hash of its files, where the operator allowed it.' })),
  reason: Type.Optional(Type.String({ description: 'Why it was refused, and what to do about it.' })),
  notTakenUp: Type.Optional(
    Type.String({
      description:
        'Why a change of it in sluice.lock is not in force, or its contracts are not on the devnet, and what to do about it. What ran before goes on.',
    }),
  ),
  earlier: Type.Optional(
    Type.Array(Type.Object({ version: Type.String(), sha256: Type.Optional(Type.String()) }), {
      description: 'Versions that it had since the server started, and that still read what their open transactions bring.',
    }),
  ),
  deprecated: Type.Optional(
    Type.Array(Type.String(), { description: 'What it, or conf for it, still has of an earlier interface, and what to use instead.' }),
  ),
  quarantine: Type.Optional(
    Type.Object(
      {
        since: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
        chain: Type.String(),
        network: Type.String(),
        lost: Type.Array(Loss, { description: 'By the first of these transactions.' }),
        breaches: Type.Integer({ description: 'How many transactions did so since it was last lifted.' }),
        txHash: Type.Optional(Type.String({ description: 'The first of them. Only for who may use its wallet, and not in events.' })),
        address: Type.Optional(Type.String({ description: 'The wallet. Only for who may use it, and not in events.' })),
      },
      {
        description:
          'Nothing is signed for it: a mined transaction of it took more from a wallet, or brought less, than its plan was allowed. An operator lifts it.',
      },
    ),
  ),
  starting: Type.Optional(Type.Array(Type.String(), { description: 'Those of its networks that are not ready yet.' })),
  host: Type.Optional(
    Type.Object(
      { deaths: Type.Integer({ description: 'How often it has ended since the server started.' }) },
      { description: 'The contained process that it runs in; absent where it runs in the server.' },
    ),
  ),
})

export const PluginsResponse = Type.Array(ShownPlugin)

export const PluginsLiftRequest = request({
  plugin: Type.String({ minLength: 1, maxLength: 64, expects: 'the name of a plugin', description: 'Its name.' }),
})
export const PluginsLiftResponse = response({
  plugin: Type.String(),
  lifted: Type.Array(
    Type.Object({
      since: Type.Number(),
      chain: Type.String(),
      network: Type.String(),
      address: Type.String(),
      txHash: Type.String(),
      lost: Type.Array(Loss),
    }),
    { description: 'The transactions for which it was quarantined, oldest first.' },
  ),
})

/** A stop in force. */
const ShownStop = Type.Object({
  mode: Type.Union([Type.Literal('stop'), Type.Literal('reduce-only')], {
    description: 'stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.',
  }),
  of: Type.Union([Type.Literal('all'), Type.Literal('wallet'), Type.Literal('client')]),
  address: Type.Optional(Type.String({ description: 'Of a wallet.' })),
  client: Type.Optional(Type.String({ description: 'The id of a client: the key of its entry in conf/clients.yml.' })),
  setBy: Type.String({ description: 'The id of the client that set it.' }),
  since: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  reason: Type.Optional(Type.String()),
  file: Type.Optional(Type.String({ description: 'The file in the data folder of this server that says it. It is not in the store.' })),
})

const stopScope = {
  address: Type.Optional({ ...WalletAddress, description: 'One wallet. Without it, and without client, it is for all.' }),
  client: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the id of a client',
      description: 'One client: the key of its entry in conf/clients.yml.',
    }),
  ),
}
const stopModeOptions = { expects: 'stop or reduce-only' }

export const StopsRequest = request({})
export const StopsResponse = response({ stops: Type.Array(ShownStop, { description: 'Oldest first.' }) })

export const StopsPostRequest = request({
  mode: Type.Enum(stopModes, {
    ...stopModeOptions,
    description: 'stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.',
  }),
  ...stopScope,
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, expects: 'a text of at most 200 characters', description: 'Shown to whoever is refused.' }),
  ),
})
export const StopsPostResponse = ShownStop

export const StopsDeleteRequest = request({
  mode: Type.Optional(Type.Enum(stopModes, { ...stopModeOptions, description: 'Without it both are lifted.' })),
  ...stopScope,
})
export const StopsDeleteResponse = response({ lifted: Type.Array(ShownStop, { description: 'Empty where none was in force.' }) })

export const LimitsRequest = request({
  client: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the id of a client',
      description: 'Another client than the caller: the key of its entry in conf/clients.yml. Needs the permission admin.',
    }),
  ),
})
export const LimitsResponse = response({
  client: Type.String(),
  limits: Type.Array(
    Type.Object({
      limit: Type.String({ description: 'Its key in `limits` of the client, such as `maxFee` or `allowed.tokens`.' }),
      allowed: Type.String({ description: 'A decimal in the unit, or a list.' }),
      unit: Type.String({ description: 'A symbol, `transactions`, `reference token`, `%`, `times`, or `list`.' }),
      window: Type.Optional(Type.Union([Type.Literal('hour'), Type.Literal('day')])),
      used: Type.Optional(Type.String({ description: 'What was spent in the window, and what open transactions may still spend.' })),
      left: Type.Optional(Type.String()),
      freesAt: Type.Optional(Type.Integer({ description: 'When all of it has left the window: milliseconds since 1970.' })),
      chain: Type.Optional(Type.String()),
      network: Type.Optional(Type.String()),
    }),
    { description: 'Empty where the client has none.' },
  ),
})

const Health = response({
  status: Type.Union([Type.Literal('ok'), Type.Literal('failing')]),
  failing: Type.Optional(Type.Array(Type.Object({ part: Type.String(), reason: Type.String() }))),
})
export const HealthLiveRequest = request({})
export const HealthLiveResponse = Health
export const HealthReadyRequest = request({})
export const HealthReadyResponse = Health

export const WalletRequest = request({})
export const WalletResponse = Type.Array(Type.Object({ chain: Type.String(), address: Type.String(), label: Type.Optional(Type.String()) }))

export type StatusRequest = Static<typeof StatusRequest>
export type StatusResponse = Static<typeof StatusResponse>
export type ConnectorsRequest = Static<typeof ConnectorsRequest>
export type ConnectorsResponse = Static<typeof ConnectorsResponse>
export type PluginsRequest = Static<typeof PluginsRequest>
export type ShownPlugin = Static<typeof ShownPlugin>
export type PluginsResponse = Static<typeof PluginsResponse>
export type PluginsLiftRequest = Static<typeof PluginsLiftRequest>
export type PluginsLiftResponse = Static<typeof PluginsLiftResponse>
export type LimitsRequest = Static<typeof LimitsRequest>
export type LimitsResponse = Static<typeof LimitsResponse>
export type StopsRequest = Static<typeof StopsRequest>
export type StopsResponse = Static<typeof StopsResponse>
export type StopsPostRequest = Static<typeof StopsPostRequest>
export type StopsPostResponse = Static<typeof StopsPostResponse>
export type StopsDeleteRequest = Static<typeof StopsDeleteRequest>
export type StopsDeleteResponse = Static<typeof StopsDeleteResponse>
export type HealthLiveRequest = Static<typeof HealthLiveRequest>
export type HealthLiveResponse = Static<typeof HealthLiveResponse>
export type HealthReadyRequest = Static<typeof HealthReadyRequest>
export type HealthReadyResponse = Static<typeof HealthReadyResponse>
export type WalletRequest = Static<typeof WalletRequest>
export type WalletResponse = Static<typeof WalletResponse>

const service = { method: 'GET', set: 'Service', on: 'service' } as const

export const serviceEndpoints = [
  endpoint({ ...service, name: 'Status', path: '/', summary: 'The server answers.', request: StatusRequest, response: StatusResponse }),
  endpoint({
    ...service,
    name: 'Connectors',
    path: '/connectors',
    summary: 'The registered connectors and the networks that each serves.',
    permission: 'read',
    request: ConnectorsRequest,
    response: ConnectorsResponse,
  }),
  endpoint({
    ...service,
    name: 'Plugins',
    path: '/plugins',
    summary: 'The plugins that were loaded, those that were refused, with the reason, and those that are still being started.',
    permission: 'read',
    request: PluginsRequest,
    response: PluginsResponse,
  }),
  endpoint({
    method: 'POST',
    set: 'Service',
    on: 'service',
    permission: 'admin',
    name: 'PluginsLift',
    path: '/plugins/lift',
    summary: 'Lets a quarantined plugin act again, once the operator has looked at what it did.',
    request: PluginsLiftRequest,
    response: PluginsLiftResponse,
  }),
  endpoint({
    ...service,
    name: 'Limits',
    path: '/limits',
    summary: 'What a client may spend by its limits, and what is left.',
    permission: 'read',
    request: LimitsRequest,
    response: LimitsResponse,
  }),
  endpoint({
    ...service,
    name: 'Stops',
    path: '/stops',
    summary: 'What is stopped: for all, for wallets that the caller may use, and for the caller. With stop, resume or admin all of it.',
    permission: 'read',
    request: StopsRequest,
    response: StopsResponse,
  }),
  endpoint({
    method: 'POST',
    set: 'Service',
    on: 'service',
    name: 'StopsPost',
    path: '/stops',
    summary:
      'Stops all, a wallet or a client: needs the permission stop, or trade for the caller’s own id. What is journaled after the answer is held by it on every server of the store.',
    request: StopsPostRequest,
    response: StopsPostResponse,
  }),
  endpoint({
    method: 'DELETE',
    set: 'Service',
    on: 'service',
    permission: 'resume',
    name: 'StopsDelete',
    path: '/stops',
    summary: 'Lifts what was stopped for all, for a wallet or for a client. Each is lifted by itself.',
    request: StopsDeleteRequest,
    response: StopsDeleteResponse,
  }),
  endpoint({
    ...service,
    name: 'HealthLive',
    path: '/health/live',
    summary: 'The process is alive.',
    request: HealthLiveRequest,
    response: HealthLiveResponse,
  }),
  endpoint({
    ...service,
    name: 'HealthReady',
    path: '/health/ready',
    summary: 'The listener, the wallets and every required network are ready; 503 names the failing part.',
    request: HealthReadyRequest,
    response: HealthReadyResponse,
  }),
  endpoint({
    ...service,
    name: 'Wallet',
    path: '/wallet',
    summary: 'The addresses that the caller may use.',
    permission: 'read',
    request: WalletRequest,
    response: WalletResponse,
  }),
]

/** QUEUED → SIGNED → BROADCAST → MINED → CONFIRMED, and the other final states. */
export const transactionStates = [
  'QUEUED',
  'SIGNED',
  'BROADCAST',
  'MINED',
  'CONFIRMED',
  'REVERTED',
  'REPLACED',
  'CANCELLED',
  'DROPPED',
  'OVERTAKEN',
  'EXPIRED',
] as const

/** A transaction of the journal, as `/transactions` and `/events` show it. */
export const JournaledTransaction = response({
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  kind: Type.String({
    description:
      'trade, liquidity, position (perpetual), collateral, order, order-cancel, funds (of an order book), token-account, approve, wrap (and unwrap), send, cancel, or fill: one of the server’s own that fills a nonce gap.',
  }),
  connector: Type.Optional(Type.String()),
  signer: Type.Optional(
    Type.String({
      description:
        'Only of signed actions, which an exchange takes instead of transactions: the address whose key signed, the wallet’s own or an agent’s.',
    }),
  ),
  txHash: Type.Union([Type.String(), Type.Null()], { description: 'The mined one, or the newest. null before it is signed.' }),
  nonce: Type.Number(),
  txState: Type.String({
    description: `${transactionStates.slice(0, -1).join(', ')} or ${transactionStates.at(-1)}. Later versions may add others: \`final\` says whether it is over.`,
  }),
  final: Type.Boolean({ description: 'It never changes again.' }),
  txStatus: Type.Number({ description: 'As in /network/poll, by what the journal knows.' }),
  txBlock: Type.Number({ description: '-1 until mined.' }),
  replacedBy: Type.Optional(Type.String({ description: 'Hash of the transaction that replaces, or replaced, it.' })),
  reason: Type.Optional(Type.String({ description: "Why it was dropped, why the chain reverted it, or a node's last objection." })),
  attempts: Type.Array(Type.Object({ txHash: Type.String(), signedAt: Type.Number(), sends: Type.Number() }), {
    description:
      'Everything that was signed for it on its nonce: at most one of them is ever mined. Times in milliseconds since the Unix epoch.',
  }),
  requestId: Type.String(),
  idempotencyKey: Type.Optional(Type.String()),
  createdAt: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  updatedAt: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  deadline: Type.Optional(Type.Number({ description: 'Seconds since the Unix epoch. The chain refuses the trade after it.' })),
  privateOnly: Type.Optional(Type.Boolean({ description: 'true: it goes to private relays only, and so does what replaces it.' })),
  permits: Type.Optional(
    Type.Array(
      Type.Object({
        token: Type.String({ description: 'Its address.' }),
        spender: Type.String(),
        amount: Type.String(),
        expires: Type.Number({ description: 'Seconds since the Unix epoch.' }),
        nonce: Type.Number({ description: 'Of Permit2, for this wallet, token and spender.' }),
        state: Type.String({
          description:
            'outstanding: whoever has seen the transaction may use it, whatever becomes of the transaction; used, or expired by the time of the blocks, once that is final.',
        }),
      }),
      {
        description: 'The rights that the wallet signed for it (`signedPermits`): the spender may take the amount of the token by Permit2.',
      },
    ),
  ),
  archived: Type.Optional(
    Type.Boolean({ description: 'true: it ended long ago and left the journal. This is its outcome; the archive has all of it.' }),
  ),
})
export type JournaledTransaction = Static<typeof JournaledTransaction>

const idOfRequest = (what: string, expects: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 255, expects, description: what }))

export const TransactionsRequest = request({
  chain: Type.Optional(ChainName),
  network: Type.Optional(NetworkName),
  address: Type.Optional(WalletAddress),
  state: Type.Optional(
    Type.Enum(transactionStates, {
      expects: `one of ${transactionStates.join(', ')}`,
      description: 'Only those in this state, in any letter case.',
    }),
  ),
  txHash: Type.Optional({ ...TransactionHash, description: 'Of any attempt, also of one that was replaced.' }),
  idempotencyKey: idOfRequest('The Idempotency-Key of the request.', 'an Idempotency-Key'),
  requestId: idOfRequest('The X-Request-Id of the request.', 'a request id'),
  archived: Type.Optional(
    Type.Boolean({
      expects: 'true or false',
      description:
        'true: archived ones, too. A page may then have fewer entries than `limit`, or none, though there is a `nextCursor`. By txHash, idempotencyKey or requestId they are always listed.',
    }),
  ),
  ...pageFields,
})
export const TransactionsResponse = response({
  transactions: Type.Array(JournaledTransaction, { description: 'Newest first.' }),
  unavailable: unavailable({ id: Type.String({ description: 'Of its row in the store, `key` of the table `entries` or `archived`.' }) }),
  nextCursor: Type.Optional(Type.String({ description: 'There are more entries: request them with this as `cursor`.' })),
})

/** Where a page of ended transactions begins. */
const PrunePosition = Type.String({
  pattern: '^\\d{1,15}:[0-9a-z-]{1,64}$',
  expects: 'the next of an earlier answer',
  description: '`next` of the previous answer: it goes on from there.',
})

export const TransactionsPruneRequest = request({
  olderThanDays: Type.Number({
    minimum: 1,
    maximum: 36_500,
    expects: 'a duration in days, a number from 1 to 36500',
    description: 'Transactions that became final at least so long ago, in days in which servers ran.',
  }),
  dryRun: Type.Optional(Type.Boolean({ expects: 'true or false', description: 'true: only counts them.' })),
  after: Type.Optional(PrunePosition),
})
export const TransactionsPruneResponse = response({
  archived: Type.Integer({ description: 'Transactions that were moved; those that would be, with `dryRun`.' }),
  kept: Type.Integer({
    description:
      'Those that are old enough and stay: the newest of each wallet, those that placed an order which may be open, those whose nonce a transaction waits for, and damaged ones.',
  }),
  folder: Type.String({ description: "The folder of the archive, on the server's machine." }),
  next: Type.Optional(Type.String({ description: 'There may be more: request them with this as `after`.' })),
})

export type TransactionsPruneRequest = Static<typeof TransactionsPruneRequest>
export type TransactionsPruneResponse = Static<typeof TransactionsPruneResponse>

export type TransactionsRequest = Static<typeof TransactionsRequest>
export type TransactionsResponse = Static<typeof TransactionsResponse>

export const transactionEndpoints = [
  endpoint({
    method: 'GET',
    set: 'Service',
    on: 'service',
    permission: 'read',
    wallet: true,
    name: 'Transactions',
    path: '/transactions',
    summary: "The journal of the caller's wallets, newest first.",
    request: TransactionsRequest,
    response: TransactionsResponse,
  }),
  endpoint({
    method: 'POST',
    set: 'Service',
    on: 'service',
    permission: 'admin',
    name: 'TransactionsPrune',
    path: '/transactions/prune',
    summary: 'Moves old transactions from the journal to the archive, about a thousand at a time. Their outcomes stay.',
    request: TransactionsPruneRequest,
    response: TransactionsPruneResponse,
  }),
]

export const ConnectorConfigRequest = request({ connector: ConnectorName })
export const ConnectorConfigResponse = Type.Record(Type.String(), Type.Unknown())

export type ConnectorConfigRequest = Static<typeof ConnectorConfigRequest>
export type ConnectorConfigResponse = Static<typeof ConnectorConfigResponse>

export const connectorEndpoints = [
  endpoint({
    method: 'GET',
    set: 'ConnectorBase',
    on: 'service',
    permission: 'read',
    name: 'ConnectorConfig',
    path: '/connector/config',
    summary: "The connector's configuration and effective settings, secrets masked.",
    errors: ['UNKNOWN_CONNECTOR'],
    request: ConnectorConfigRequest,
    response: ConnectorConfigResponse,
  }),
]
