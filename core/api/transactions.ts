import Type, { type Static } from 'typebox'
import { endpoint, request, response } from './endpoint.ts'
import { ChainName, NetworkName, pageFields, TransactionHash, WalletAddress } from './fields.ts'

/** QUEUED → SIGNED → BROADCAST → MINED → CONFIRMED, and the other ends. */
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
  'EXPIRED',
] as const

/** A transaction of the journal, as `/transactions` lists it and `/events` tells its changes. */
export const JournaledTransaction = response({
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  kind: Type.String({
    description:
      'trade, liquidity, position (perpetual), collateral, order, order-cancel, funds (of an order book), token-account, approve, cancel, or fill: one of the server’s own that closes a gap in the nonces.',
  }),
  connector: Type.Optional(Type.String()),
  signer: Type.Optional(
    Type.String({
      description: 'Only of what an exchange takes by itself, beside the chain: whose key signed, the wallet’s own or an agent’s.',
    }),
  ),
  txHash: Type.Union([Type.String(), Type.Null()], { description: 'The one that is mined, or the newest; null before it is signed.' }),
  nonce: Type.Number(),
  txState: Type.String({ description: `${transactionStates.slice(0, -1).join(', ')} or ${transactionStates.at(-1)}.` }),
  txStatus: Type.Number({ description: 'As /network/poll has it, by what the journal knows.' }),
  txBlock: Type.Number({ description: '-1 until mined.' }),
  replacedBy: Type.Optional(Type.String({ description: 'Hash of what is to take, or took, its place.' })),
  reason: Type.Optional(
    Type.String({ description: 'Why it was given up, why the chain reverted it, or what a node last said against it.' }),
  ),
  attempts: Type.Array(Type.Object({ txHash: Type.String(), signedAt: Type.Number(), sends: Type.Number() }), {
    description: 'Everything that was signed on its nonce for it: at most one of them is ever mined. Times in ms since the Unix epoch.',
  }),
  requestId: Type.String(),
  idempotencyKey: Type.Optional(Type.String()),
  createdAt: Type.Number({ description: 'ms since the Unix epoch.' }),
  updatedAt: Type.Number({ description: 'ms since the Unix epoch.' }),
  deadline: Type.Optional(Type.Number({ description: 'Seconds since the Unix epoch; the chain refuses the trade after it.' })),
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
  txHash: Type.Optional({ ...TransactionHash, description: 'Of any attempt, also of one whose place another took.' }),
  idempotencyKey: idOfRequest('The Idempotency-Key that the request came with.', 'an Idempotency-Key'),
  requestId: idOfRequest('The X-Request-Id of the request that made it.', 'a request id'),
  ...pageFields,
})
export const TransactionsResponse = response({
  transactions: Type.Array(JournaledTransaction, { description: 'Newest first.' }),
  nextCursor: Type.Optional(Type.String({ description: 'There is more: ask again with it as `cursor`.' })),
})

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
]
