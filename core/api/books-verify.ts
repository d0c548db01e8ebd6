import * as Type from 'typebox'
import type { Static } from 'typebox'
import { momentForms } from '../base/moments.ts'
import { chainFields, endpoint, enveloped, request, WalletAddress } from './endpoint.ts'

const Moment = (description: string) => Type.String({ minLength: 1, maxLength: 40, expects: momentForms, description })

export const BooksVerifyRequest = request({
  ...chainFields,
  address: WalletAddress,
  since: Type.Optional(
    Moment('The balances before this moment are the start: a date (UTC) or a moment with its zone. A day ago without it.'),
  ),
  until: Type.Optional(Moment('The balances before this moment are the end. Now without it: the newest block that is final.')),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      expects: 'the nextCursor of an earlier answer',
      description: '`nextCursor` of the answer before: it goes on from there, and `since` and `until` do not count.',
    }),
  ),
  tokens: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 500,
      description:
        'Addresses of tokens that are on no list and are held against the chain all the same: with a `cursor`, those that the answers before had.',
    }),
  ),
})

const TokenNames = {
  token: Type.String({ description: 'Its address.' }),
  symbol: Type.Optional(Type.String({ description: 'Absent: the contract does not tell, and amounts are in smallest units.' })),
}
const Block = Type.Object({
  blockNumber: Type.Number(),
  timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
})

export const BooksVerifyResponse = enveloped({
  chain: Type.String(),
  address: Type.String(),
  start: Block,
  end: Block,
  range: Type.Object(
    { first: Type.Number(), last: Type.Number() },
    { description: 'The blocks of all answers together, from the first request on: how far it is.' },
  ),
  tokens: Type.Array(
    Type.Object({
      ...TokenNames,
      start: Type.String(),
      own: Type.String({ description: 'What the journal’s transactions moved, without fees.' }),
      fees: Type.String({ description: 'What they cost: 0 or less.' }),
      foreign: Type.String({ description: 'Of transactions that the journal does not know, with their fees.' }),
      unexplained: Type.String(),
      end: Type.String(),
    }),
    { description: 'Decimal strings. In each row `start` and the four that follow add up to `end`, to the unit.' },
  ),
  unexplained: Type.Array(
    Type.Object({
      ...TokenNames,
      kind: Type.String({
        description:
          '`inside-a-call`: the native coin moved without being the value of a transaction. `without-event`: a balance changed and no event says so. `not-in-book`: the events of an own transaction say something else than the book. `taken-back`: an own transaction is in no block any more.',
      }),
      amount: Type.String({ description: 'Above 0 the wallet has more than is explained.' }),
      firstBlock: Type.Number(),
      lastBlock: Type.Number({ description: 'The same as `firstBlock` where the block was found.' }),
      txHash: Type.Optional(Type.String()),
      unknownTransactions: Type.Optional(
        Type.Number({
          description:
            'Where the block was not found: so many transactions more than are known the wallet sent in these blocks, by its nonce.',
        }),
      ),
    }),
  ),
  transactions: Type.Object({ own: Type.Number(), foreign: Type.Number() }),
  unlistedTokens: Type.Number({
    description:
      'Tokens that are on no list and that no own transaction moved, which anybody can send: they are not held against their balances.',
  }),
  lost: Type.Optional(
    Type.Object(
      { what: Type.String({ description: '`events` or `state`.' }), before: Type.Number() },
      { description: 'What the nodes do not have any more before a block: it begins there.' },
    ),
  ),
  nextCursor: Type.Optional(Type.String({ description: 'More is to be checked. Absent: that was all.' })),
})

export type BooksVerifyRequest = Static<typeof BooksVerifyRequest>
export type BooksVerifyResponse = Static<typeof BooksVerifyResponse>

export const booksVerifyEndpoints = [
  endpoint({
    method: 'POST',
    set: 'Service',
    on: 'chain',
    permission: 'read',
    wallet: true,
    name: 'BooksVerify',
    path: '/books/verify',
    summary:
      "Holds the journal of a wallet against the chain: the balances at the start and all that is known to have moved are the balances at the end, or what is unexplained is listed. A few hours' blocks at a time.",
    request: BooksVerifyRequest,
    response: BooksVerifyResponse,
    errors: ['UNSUPPORTED'],
  }),
]
