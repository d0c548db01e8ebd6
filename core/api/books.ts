// The book: what many transactions moved, earned and cost together.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { momentForms } from '../base/moments.ts'
import { ChainName, ConnectorName, endpoint, NetworkName, request, response, WalletAddress } from './endpoint.ts'

export const BooksRequest = request({
  since: Type.Optional(
    Type.String({
      maxLength: 64,
      expects: momentForms,
      description: 'Only what was requested then or later. A date begins at midnight UTC. Absent: all of it.',
    }),
  ),
  until: Type.Optional(Type.String({ maxLength: 64, expects: momentForms, description: 'Only what was requested before.' })),
  chain: Type.Optional(ChainName),
  network: Type.Optional(NetworkName),
  address: Type.Optional(WalletAddress),
  client: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the id of a client',
      description: 'Only what this client asked for, and what the server signed because of it.',
    }),
  ),
  connector: Type.Optional(ConnectorName),
  pair: Type.Optional(
    Type.String({
      pattern: '^[^-]{1,128}-[^-]{1,128}$',
      expects: 'two tokens such as WETH-USDC',
      description: 'Only what is of these two tokens, in either order, as in /transactions.',
    }),
  ),
})

const place = { chain: Type.String(), network: Type.String() }
const named = {
  token: Type.String({ description: 'Its address.' }),
  symbol: Type.Optional(Type.String({ description: 'Absent of a token that is on no list.' })),
}
const byMethod = (description: string) => Type.Object({ averageCost: Type.String(), fifo: Type.String() }, { description })
const noValue = Type.Optional(Type.String({ description: 'Why there is no price; absent where there is one.' }))
const value = (description: string) => ({
  value: Type.Union([Type.String(), Type.Null()], { description }),
  valueToken: Type.Optional(Type.String()),
  noValue,
})

export const BooksResponse = response({
  complete: Type.Boolean({ description: 'false: it is still being read, and the lists are empty. Send the same request again.' }),
  transactions: Type.Number({ description: 'How many were read, final or not.' }),
  damaged: Type.Optional(Type.Number({ description: 'Those that cannot be read: the log names them. The sums lack them.' })),
  readUntil: Type.Optional(
    Type.Number({ description: 'Everything that was requested before was read: milliseconds since the Unix epoch.' }),
  ),
  part: Type.Optional(Type.Number({ description: 'How much of the time that was asked for was read, from 0 to 1.' })),
  pairs: Type.Array(
    Type.Object({
      ...place,
      connector: Type.Optional(
        Type.String({ description: 'Of fills of orders on an exchange whose tokens are not known to be those of the chain.' }),
      ),
      base: Type.String({ description: 'Its symbol; of a token that is on no list its address.' }),
      quote: Type.String(),
      trades: Type.Number({ description: 'With each fill of an order in a book.' }),
      bought: Type.String({ description: 'Of the base.' }),
      spent: Type.String({ description: 'Of the quote, for what was bought.' }),
      sold: Type.String({ description: 'Of the base.' }),
      received: Type.String({ description: 'Of the quote, for what was sold.' }),
      position: Type.String({ description: 'Bought less sold. Below 0 more was sold: a short position, whatever the wallet held before.' }),
      opening: Type.Optional(
        Type.Object(
          { amount: Type.String({ description: 'Of the base.' }), cost: Type.String({ description: 'Of the quote.' }) },
          {
            description:
              'What was held before, by the setting `books.opening`: in `position`, `open` and `realized`, and in no sum of trades.',
          },
        ),
      ),
      realized: byMethod(
        'In quote: what was sold or bought back, less what that had cost; rounded down. Fees of order books included, without gas.',
      ),
      open: byMethod('In quote: what the position cost; of a short one what it brought.'),
      otherFees: Type.Optional(
        Type.Array(Type.Object({ token: Type.String(), amount: Type.String() }), {
          description: 'What order books took in other tokens than the two, by symbol: no part of the profit. Below 0 they paid.',
        }),
      ),
      unrealized: Type.Union([
        byMethod('In quote: what the position is worth now by the market of limits, less what it cost.'),
        Type.Null(),
      ]),
      noValue,
    }),
    { description: 'Trades and fills of orders, each pair by itself.' },
  ),
  tokens: Type.Array(
    Type.Object({
      ...place,
      ...named,
      came: Type.Optional(Type.String()),
      left: Type.Optional(Type.String()),
      net: Type.Optional(Type.String({ description: 'Absent, as the two before, of a token that is on no list.' })),
      rawNet: Type.String({ description: 'In the smallest unit.' }),
    }),
    { description: 'What moved into and out of the wallets by all transactions, to the unit, without fees of the network.' },
  ),
  fees: Type.Array(
    Type.Object({
      ...place,
      transactions: Type.Number({ description: 'Those that were mined, also those that failed.' }),
      fee: Type.Optional(Type.String({ description: 'In the native coin. Absent where its network is not there.' })),
      feeToken: Type.Optional(Type.String()),
      rawFee: Type.String(),
      ...value('What it is worth now at most, in the reference token of the network; null where that has no price.'),
    }),
    { description: 'What the network took: gas, with the part of layer 1.' },
  ),
  perpetuals: Type.Array(
    Type.Object({
      ...place,
      connector: Type.String(),
      market: Type.String(),
      fills: Type.Number(),
      fee: Type.String({ description: 'In quote; of order books in the unit of account of the exchange.' }),
      funding: Type.String({ description: 'In quote: received less paid, as far as it is known.' }),
      noFunding: Type.Optional(Type.String({ description: 'Why `funding` lacks something; absent where it lacks nothing.' })),
      realizedProfit: Type.String({
        description:
          'In quote, fees and funding included. Of order books wallet by wallet, by the average cost of what orders from `since` on filled: a position from before `since` has no cost in it. What others traded with the wallet is in none.',
      }),
      liquidations: Type.Optional(
        Type.Number({
          description:
            'Of the fills: what the exchange liquidated, by its events or by the fills that it tells, with its penalty in `fee`. On a chain of positions that the book has changed, or the newest changes before `since`; of order books in markets in which the wallet placed orders; absent where it is none, and of one client.',
        }),
      ),
      lacksFills: Type.Optional(
        Type.String({
          description:
            'Why `fills`, `fee` and `realizedProfit` lack something: what was liquidated cannot be read, or is of blocks that are too old to be searched, or may be of positions that none of the 2,000 newest changes before `since` changed, or is of wallets in a book of one client, or the net of the fills is not the position that the exchange has. The latter is looked for in a book of all time and all clients alone.',
        }),
      ),
    }),
    { description: 'Perpetuals on a chain, and fills of orders in books of perpetuals.' },
  ),
  liquidity: Type.Array(
    Type.Object({
      ...place,
      connector: Type.String(),
      position: Type.String({ description: 'Its tokenId, or the pool of shares.' }),
      version: Type.Optional(Type.String({ description: 'The ids of each version are its own.' })),
      closed: Type.Boolean({ description: 'All that was added in this time was removed, or the chain says that it has ended.' }),
      ended: Type.Optional(
        Type.String({
          description:
            'How a position ended that no transaction of this book has closed, by the chain: `emptied`, `burnt`, or `given to` an address that is none of the wallets of this book.',
        }),
      ),
      notCompared: Type.Optional(Type.String({ description: 'Why nobody could tell whether the chain still has it.' })),
      tokens: Type.Array(
        Type.Object({
          ...named,
          paid: Type.String({ description: 'In the smallest unit of a token that is on no list.' }),
          received: Type.String(),
          fees: Type.String({
            description: 'Fees that were collected, alone or with liquidity that was removed; they are in `received`, too.',
          }),
        }),
      ),
      lacksFees: Type.Optional(
        Type.Boolean({
          description: 'true: removals have paid out fees that their receipts do not tell from the rest. `fees` lacks these.',
        }),
      ),
      againstHolding: Type.Union([Type.String(), Type.Null()], {
        description:
          'Of a closed one: what was received less what was paid in, at the prices of now, in the reference token. Below 0 holding the tokens would have been better. null where it is open, a token has no price, or nobody knows all that it moved.',
      }),
      noValue,
    }),
  ),
  lacking: Type.Object(
    {
      movements: Type.Number({ description: 'Of which nothing tells what they moved, as those of an earlier version.' }),
      coin: Type.Number({ description: 'Which may have moved the native coin, and nobody could tell how much.' }),
      fills: Type.Number({
        description:
          'Trades and changes of positions without a fill, which no pair, perpetual or position has; and orders of which more was filled than is known fill by fill.',
      }),
      fees: Type.Number({ description: 'Whose receipt does not say what they cost.' }),
    },
    { description: 'How many transactions the sums lack something of.' },
  ),
})

/** One line where all values are streamed. */
export const BooksLine = response({
  part: Type.String({ description: 'trades, moved, fees, perpetuals or liquidity; read: how much was read, and what the sums lack.' }),
  network: Type.String({ description: 'chain/network; empty where it is of all.' }),
  name: Type.String({ description: 'The pair, token, market or position.' }),
  field: Type.String({ description: 'Of the answer as JSON; `group.field` of one in a group.' }),
  value: Type.String(),
})
export type BooksLine = Static<typeof BooksLine>

export type BooksRequest = Static<typeof BooksRequest>
export type BooksResponse = Static<typeof BooksResponse>

export const bookEndpoints = [
  endpoint({
    method: 'GET',
    set: 'Service',
    on: 'service',
    permission: 'read',
    wallet: true,
    name: 'Books',
    path: '/books',
    summary: "What the transactions of the caller's wallets moved, earned and cost.",
    request: BooksRequest,
    response: BooksResponse,
    line: BooksLine,
  }),
]
