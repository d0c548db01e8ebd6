import type { TObject } from 'typebox'
import { endpoint, type BookSet } from '../endpoint.ts'
import type { ErrorName } from '../../errors.ts'
import {
  CLOBBalancesRequest,
  CLOBBalancesResponse,
  CLOBEstimateGasRequest,
  CLOBEstimateGasResponse,
  DepositRequest,
  DepositResponse,
  MoveRequest,
  MoveResponse,
} from './funds.ts'
import {
  CLOBMarketsRequest,
  CLOBMarketsResponse,
  CLOBOrderBookRequest,
  CLOBOrderBookResponse,
  CLOBTickerRequest,
  CLOBTickerResponse,
  CLOBTradesRequest,
  CLOBTradesResponse,
} from './market-data.ts'
import {
  CLOBBatchOrdersResponse,
  CLOBOrdersDeleteRequest,
  CLOBOrdersDeleteResponse,
  CLOBOrdersPostResponse,
  CLOBOrdersRequest,
  CLOBOrdersResponse,
} from './orders.ts'

/** What the endpoints of a kind of order book begin with. */
interface Kind<Prefix extends string> {
  readonly set: BookSet
  /** Of their names. */
  readonly prefix: Prefix
  /** Of their paths. */
  readonly root: string
  /** Beyond those of every order book. */
  readonly errors?: readonly ErrorName[]
}

const reading = { on: 'connector', method: 'GET', permission: 'read' } as const
const acting = { on: 'connector', permission: 'trade', wallet: true, acts: true } as const

const ofMarket = ['UNKNOWN_ORDER'] as const
const placing = [
  'UNKNOWN_ORDER',
  'PRICE_FAILED',
  'SWAP_PRICE_EXCEEDS_LIMIT_PRICE',
  'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE',
  'INSUFFICIENT_ALLOWANCE',
  'TOKEN_NOT_SUPPORTED',
] as const
const moving = ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_ALLOWANCE', 'INSUFFICIENT_MARGIN'] as const

/** What every kind of order book answers; requests that place orders differ by what an order says. */
export function bookEndpoints<const Prefix extends string, Post extends TObject, Batch extends TObject>(
  { set, prefix, root, errors = [] }: Kind<Prefix>,
  { post, batch }: { post: Post; batch: Batch },
) {
  const named = <const Verb extends string>(verb: Verb) => `${prefix}${verb}` as const
  return [
    endpoint({
      ...reading,
      set,
      name: named('Markets'),
      path: `${root}/markets`,
      summary: 'The markets, with what orders they take.',
      errors: ofMarket,
      request: CLOBMarketsRequest,
      response: CLOBMarketsResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('Ticker'),
      path: `${root}/ticker`,
      summary: 'Best prices and the last one, from memory.',
      errors: ofMarket,
      request: CLOBTickerRequest,
      response: CLOBTickerResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('OrderBook'),
      path: `${root}/orderBook`,
      summary: 'The book, from memory.',
      errors: ofMarket,
      request: CLOBOrderBookRequest,
      response: CLOBOrderBookResponse,
    }),
    endpoint({
      ...reading,
      set,
      wallet: true,
      name: named('Orders'),
      path: `${root}/orders`,
      summary: "A wallet's orders, newest first: what this server placed and what the exchange knows.",
      errors: ofMarket,
      request: CLOBOrdersRequest,
      response: CLOBOrdersResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('OrdersPost'),
      path: `${root}/orders`,
      summary: 'Places an order.',
      errors: [...placing, ...errors],
      request: post,
      response: CLOBOrdersPostResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'DELETE',
      name: named('OrdersDelete'),
      path: `${root}/orders`,
      summary: 'Cancels an order.',
      errors: ofMarket,
      request: CLOBOrdersDeleteRequest,
      response: CLOBOrdersDeleteResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('BatchOrders'),
      path: `${root}/batchOrders`,
      summary: 'Cancels and places many orders, each with its own outcome.',
      errors: [...placing, ...errors],
      request: batch,
      response: CLOBBatchOrdersResponse,
    }),
    endpoint({
      ...reading,
      set,
      wallet: true,
      name: named('Trades'),
      path: `${root}/trades`,
      summary: "A market's trades, or a wallet's in it, newest first.",
      errors: ofMarket,
      request: CLOBTradesRequest,
      response: CLOBTradesResponse,
    }),
    endpoint({
      ...reading,
      set,
      wallet: true,
      name: named('Balances'),
      path: `${root}/balances`,
      summary: 'What a wallet has in the exchange.',
      request: CLOBBalancesRequest,
      response: CLOBBalancesResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('Deposit'),
      path: `${root}/deposit`,
      summary: 'Puts a token into the exchange.',
      errors: moving,
      request: DepositRequest,
      response: DepositResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('Withdraw'),
      path: `${root}/withdraw`,
      summary: 'Takes a token out of the exchange, to the same wallet.',
      errors: moving,
      request: MoveRequest,
      response: MoveResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('EstimateGas'),
      path: `${root}/estimateGas`,
      summary: 'What a typical order costs in gas.',
      request: CLOBEstimateGasRequest,
      response: CLOBEstimateGasResponse,
    }),
  ] as const
}
