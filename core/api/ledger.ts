// The ledger: each change of a wallet's balance by a transaction of the journal.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { endpoint, pageFields, request, response, unavailable, WalletAddress } from './endpoint.ts'
import { TransactionsRequest } from './transactions.ts'

const { chain, network, client, kind, connector, since, until } = TransactionsRequest.properties

export const LedgerRequest = request({
  chain,
  network,
  address: Type.Optional({
    ...WalletAddress,
    description: 'Only changes of this wallet, also what other wallets of the server sent to it.',
  }),
  client,
  kind,
  connector,
  since,
  until,
  ...pageFields,
})

export const LedgerLine = response({
  time: Type.String({ description: 'Of the request, ISO 8601, UTC; of a `fill` when it was filled.' }),
  client: Type.Optional(Type.String()),
  wallet: Type.String(),
  chain: Type.String(),
  network: Type.String(),
  connector: Type.Optional(Type.String()),
  kind: Type.String({ description: 'As in /transactions.' }),
  act: Type.String({
    description:
      'What it was: buy, sell, wrap, unwrap, deposit, withdraw, add, remove, collect_fees, open, close, send, approve, order and the like.',
  }),
  part: Type.String({
    description:
      'moved: by the transaction itself. fee: what the network took. poolFees: of what a position paid out, the part that is fees. fill: an order was filled by somebody else’s transaction, or at an exchange. received: from another wallet of the server.',
  }),
  heldBy: Type.Optional(Type.String({ description: 'The exchange whose account changed. Absent: the wallet itself on its chain.' })),
  token: Type.String({ description: 'Its address, `address/id` of one that is not counted in units; at an exchange its symbol.' }),
  symbol: Type.Optional(Type.String({ description: 'Absent of a token that is on no list.' })),
  change: Type.Optional(
    Type.String({ description: 'Above 0 it came, below 0 it left. Absent of a token that is on no list, and with a `note`.' }),
  ),
  rawChange: Type.Optional(Type.String({ description: 'In the smallest unit. Absent at an exchange, and with a `note`.' })),
  counterparty: Type.Optional(Type.String({ description: 'Of a send: who gets it; of what was received, who sent it.' })),
  position: Type.Optional(Type.String({ description: 'Of liquidity: the tokenId, or the pool of shares.' })),
  order: Type.Optional(Type.String({ description: 'The clientOrderId of a fill.' })),
  txHash: Type.Optional(Type.String()),
  block: Type.Optional(Type.Number({ description: 'Absent of fills by others.' })),
  note: Type.Optional(Type.String({ description: 'Why the change is not known: the sums lack it.' })),
  id: Type.String({ description: 'Of the transaction in /transactions.' }),
})
export type LedgerLine = Static<typeof LedgerLine>

export const LedgerResponse = response({
  lines: Type.Array(LedgerLine, { description: 'Those of `limit` transactions, the newest first.' }),
  unavailable: unavailable({ id: Type.String({ description: 'Of its row in the store. The sums lack it.' }) }),
  nextCursor: Type.Optional(Type.String({ description: 'There are more: request them with this as `cursor`.' })),
})

export type LedgerRequest = Static<typeof LedgerRequest>
export type LedgerResponse = Static<typeof LedgerResponse>

export const ledgerEndpoints = [
  endpoint({
    method: 'GET',
    set: 'Service',
    on: 'service',
    permission: 'read',
    wallet: true,
    name: 'Ledger',
    path: '/ledger',
    summary:
      "Each change of a balance by a final transaction of the caller's wallets: the sum of a wallet and token is the change of its balance.",
    request: LedgerRequest,
    response: LedgerResponse,
    line: LedgerLine,
  }),
]
