import * as Type from 'typebox'
import type { Static } from 'typebox'
import { Hop } from './amm.ts'
import { Fill } from './network.ts'
import { momentForms } from '../base/moments.ts'
import {
  ChainName,
  ConnectorName,
  endpoint,
  NetworkName,
  pageFields,
  request,
  response,
  TransactionHash,
  unavailable,
  WalletAddress,
} from './endpoint.ts'

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

/**
 * The purpose of a transaction. `order` and `order-cancel` belong to order books, `funds` is what a book holds and lends. A `cancel` replaces
 * another transaction and does nothing; a `fill` closes a nonce gap below later transactions and does nothing.
 */
export const transactionKinds = [
  'trade',
  'liquidity',
  'position',
  'collateral',
  'order',
  'order-cancel',
  'funds',
  'token-account',
  'approve',
  'wrap',
  'send',
  'cancel',
  'fill',
] as const

/** What came to a wallet or left it, of one token. */
const Movement = Type.Object({
  token: Type.String({ description: 'Its address; of one that is not counted in units `address/id`.' }),
  symbol: Type.Optional(Type.String({ description: 'Absent of a token that is on no list.' })),
  amount: Type.Optional(Type.String({ description: 'Above 0 it came, below 0 it left. Absent of a token that is on no list.' })),
  rawAmount: Type.Union([Type.String(), Type.Null()], {
    description: 'In the smallest unit. null: the native coin may have moved, and neither the receipt nor a balance told how much.',
  }),
})

/** A transaction of the journal, as `/transactions` and `/events` show it. */
export const LostAnswers = Type.Object({
  lost: Type.Number({ description: 'Answers that did not reach their caller, or did not say what became of it.' }),
  joined: Type.Number({ description: 'Equal requests that took the place of one whose answer was lost: they were not done again.' }),
  state: Type.Enum(['open', 'lost', 'delivered', 'uncollected'], {
    description: 'open: a request waits for the answer. lost: an equal request would get it. uncollected: nobody asked again in time.',
  }),
})

export const JournaledTransaction = response({
  id: Type.String({
    description: 'Of its row in the store, for ever. Ids sort by the time of the request, and one is a `cursor`: that of what is older.',
  }),
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  client: Type.Optional(
    Type.String({ description: 'Who asked for it: the key of its entry in conf/clients.yml. `sluice` is the server itself.' }),
  ),
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
  attempts: Type.Array(
    Type.Object({
      txHash: Type.String(),
      signedAt: Type.Number(),
      sends: Type.Number(),
      sentAt: Type.Optional(Type.Number({ description: 'The last time that it was sent. Absent before the first, and in events.' })),
      node: Type.Optional(
        Type.String({
          description:
            'The node that was the first to accept it when it was sent last. Absent where none did, of what an earlier version made, and in events.',
        }),
      ),
      maxFee: Type.Optional(
        Type.String({
          description: 'The most that it pays for its execution, in `feeToken`. Absent where its network is not there, or has no such fee.',
        }),
      ),
      feeToken: Type.Optional(Type.String()),
    }),
    {
      description:
        'Everything that was signed for it on its nonce: at most one of them is ever mined. Times in milliseconds since the Unix epoch.',
    },
  ),
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
  request: Type.Optional(
    Type.Object(
      { path: Type.String(), fields: Type.Unknown() },
      {
        description: 'What was asked for, in its own words. Absent of what the server does by itself, and of what an earlier version made.',
      },
    ),
  ),
  planned: Type.Optional(
    Type.Unknown({
      description:
        'What its answer said that it does, without gas, nonce and hashes: of a trade `expectedAmount`, `price` and `limitPrice`, the worst price that the chain accepts. Of a plan with several transactions the last one has it.',
    }),
  ),
  quote: Type.Optional(
    Type.Object(
      {
        blockNumber: Type.Number(),
        source: Type.Enum(['memory', 'rpc'], { description: 'memory: no node was asked for it.' }),
        route: Type.Array(Hop),
        marketPrice: Type.Optional(
          Type.String({
            description:
              'Quote per one base by the market that limits hold trades against, over all connectors of the release, when it was planned: to SELL the highest, to BUY the lowest. Without such a market, of a request to any connector: the best price of those that were asked. Absent where neither was known.',
          }),
        ),
        coinPrice: Type.Optional(
          Type.String({
            description: 'Quote per one native coin when it was planned, rounded up. Absent where it was not known without asking.',
          }),
        ),
      },
      { description: 'Of a trade: what it was quoted by.' },
    ),
  ),
  simulated: Type.Optional(
    Type.Array(Movement, {
      description:
        'What the whole plan would do to its wallet, by its simulation before it was signed: of connectors that are not built in. A contract may have done something else: `movements` has what it did.',
    }),
  ),
  fill: Type.Optional(Fill),
  cost: Type.Optional(
    Type.Object(
      {
        fee: Type.Optional(
          Type.String({ description: 'In the native coin, the part of layer 1 with it. Absent where its network is not there.' }),
        ),
        feeToken: Type.Optional(Type.String()),
        feeInQuote: Type.Optional(
          Type.String({ description: 'Of a trade: `fee` in its quote token, at `coinPrice`. Absent where that was not known.' }),
        ),
        rawFee: Type.String({ description: "In the native coin's smallest unit." }),
        layer1Fee: Type.Optional(Type.String({ description: 'The part that a rollup charges for layer 1.' })),
        gasUsed: Type.Optional(Type.String()),
        rent: Type.Optional(
          Type.String({
            description:
              'What accounts that it made keep of the native coin, beside `fee`, at most: on Solana. It comes back when they are closed. Absent where it made none, or its network is not there.',
          }),
        ),
      },
      { description: 'What it cost, by its receipt, also where it failed. Once it is final.' },
    ),
  ),
  slippage: Type.Optional(
    Type.Object(
      {
        quote: Type.String({ description: 'Against the price that was quoted.' }),
        market: Type.Optional(Type.String({ description: 'Against `marketPrice`.' })),
      },
      { description: 'Of a trade that is final: how much worse the price of its fill is, as a fraction. Below 0 it is better.' },
    ),
  ),
  movements: Type.Optional(
    Type.Array(Movement, {
      description:
        'What a final transaction moved into and out of its wallet, to the unit, by its receipt: without the fee, which is in `cost`. Absent on the own rail of an exchange, and of what an earlier version made final.',
    }),
  ),
  orders: Type.Optional(
    Type.Array(
      Type.Object({
        clientOrderId: Type.String(),
        orderId: Type.Optional(Type.String()),
        market: Type.String(),
        side: Type.Enum(['BUY', 'SELL']),
        price: Type.String({ description: 'The limit; of a MARKET order the worst price.' }),
        amount: Type.String({ description: 'In base, as ordered.' }),
        state: Type.Optional(Type.String({ description: 'As the exchange reported it last.' })),
        filledAmount: Type.Optional(Type.String({ description: 'In base, as the exchange reported it last.' })),
        averagePrice: Type.Optional(Type.String()),
        fills: Type.Array(
          Type.Object({
            tradeId: Type.String(),
            price: Type.String({ description: 'Quote per one base.' }),
            amount: Type.String({ description: 'In base.' }),
            fee: Type.String({ description: 'In `feeToken`; below 0 where the exchange paid.' }),
            feeToken: Type.String(),
            timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
            txHash: Type.Optional(Type.String()),
          }),
          { description: 'Oldest first, the newest 1,000: as far as they are known. They are learnt from the exchange by and by.' },
        ),
      }),
      {
        description:
          'Of an order: what was placed, and what was filled of it since. Only of transactions that are mined, or actions that the exchange has answered; not in /events.',
      },
    ),
  ),
  delivery: Type.Optional({
    ...LostAnswers,
    description: 'Of a request without an Idempotency-Key by another interface, of which an answer was lost. Absent where none was.',
  }),
  archived: Type.Optional(
    Type.Boolean({ description: 'true: it ended long ago and left the journal. This is its outcome; the archive has all of it.' }),
  ),
})
export type JournaledTransaction = Static<typeof JournaledTransaction>

/** One line where all are streamed. */
export const TransactionsLine = Type.Union([
  JournaledTransaction,
  response({ id: Type.String(), unavailable: Type.String({ description: 'Why this one is not shown: its row in the store is damaged.' }) }),
])
export type TransactionsLine = Static<typeof TransactionsLine>

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
  client: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, expects: 'the id of a client', description: 'Only those that this client asked for.' }),
  ),
  kind: Type.Optional(
    Type.Enum(transactionKinds, { expects: `one of ${transactionKinds.join(', ')}`, description: 'Only those of this kind.' }),
  ),
  connector: Type.Optional(ConnectorName),
  pair: Type.Optional(
    Type.String({
      pattern: '^[^-]{1,128}-[^-]{1,128}$',
      expects: 'two tokens such as WETH-USDC',
      description:
        'Only those of these two tokens, in either order: trades, changes of liquidity, orders that one transaction placed in one market, and perpetuals, by the symbols of their tokens or as the request named them. A token that is in no list goes by its address: anybody can deploy one of any symbol. One that is listed, or was, goes by both, also for what was asked before it was.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      maxLength: 64,
      expects: momentForms,
      description: 'Only those that were requested then or later. A date begins at midnight UTC.',
    }),
  ),
  until: Type.Optional(Type.String({ maxLength: 64, expects: momentForms, description: 'Only those that were requested before.' })),
  txHash: Type.Optional({ ...TransactionHash, description: 'Of any attempt, also of one that was replaced.' }),
  idempotencyKey: idOfRequest('The Idempotency-Key of the request.', 'an Idempotency-Key'),
  requestId: idOfRequest('The X-Request-Id of the request.', 'a request id'),
  nonce: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      expects: 'a nonce',
      description: 'Only those on this nonce: what was mined on it, and what was to be.',
    }),
  ),
  archived: Type.Optional(
    Type.Boolean({
      expects: 'true or false',
      description:
        'true: archived ones, too. A page may then have fewer entries than `limit`, or none, though there is a `nextCursor`. By txHash, idempotencyKey or requestId they are always listed, and as NDJSON or CSV unless this is false.',
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
    line: TransactionsLine,
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
