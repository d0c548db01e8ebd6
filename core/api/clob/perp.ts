import type { Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import {
  CLOBPerpAccountRequest,
  CLOBPerpAccountResponse,
  CLOBPerpFundingInfoRequest,
  CLOBPerpFundingInfoResponse,
  CLOBPerpFundingPaymentsRequest,
  CLOBPerpFundingPaymentsResponse,
  CLOBPerpLastTradePriceRequest,
  CLOBPerpLastTradePriceResponse,
  CLOBPerpPositionsRequest,
  CLOBPerpPositionsResponse,
} from './accounts.ts'
import {
  bookEndpoints,
  perpOrderFields,
  CLOBPerpLeverageRequest,
  CLOBPerpLeverageResponse,
  batchOrdersRequest,
  ordersPostRequest,
} from '../clob.ts'

export const CLOBPerpOrdersPostRequest = ordersPostRequest(perpOrderFields)
export const CLOBPerpBatchOrdersRequest = batchOrdersRequest(perpOrderFields)
export type CLOBPerpOrdersPostRequest = Static<typeof CLOBPerpOrdersPostRequest>
export type CLOBPerpBatchOrdersRequest = Static<typeof CLOBPerpBatchOrdersRequest>
export {
  CLOBMarketsRequest as CLOBPerpMarketsRequest,
  CLOBMarketsResponse as CLOBPerpMarketsResponse,
  CLOBTickerRequest as CLOBPerpTickerRequest,
  CLOBTickerResponse as CLOBPerpTickerResponse,
  CLOBOrderBookRequest as CLOBPerpOrderBookRequest,
  CLOBOrderBookResponse as CLOBPerpOrderBookResponse,
  CLOBTradesRequest as CLOBPerpTradesRequest,
  CLOBTradesResponse as CLOBPerpTradesResponse,
} from '../clob.ts'
export {
  CLOBOrdersRequest as CLOBPerpOrdersRequest,
  CLOBOrdersResponse as CLOBPerpOrdersResponse,
  CLOBOrdersPostResponse as CLOBPerpOrdersPostResponse,
  CLOBOrdersDeleteRequest as CLOBPerpOrdersDeleteRequest,
  CLOBOrdersDeleteResponse as CLOBPerpOrdersDeleteResponse,
  CLOBBatchOrdersResponse as CLOBPerpBatchOrdersResponse,
} from '../clob.ts'
export {
  CLOBBalancesRequest as CLOBPerpBalancesRequest,
  CLOBBalancesResponse as CLOBPerpBalancesResponse,
  CLOBEstimateGasRequest as CLOBPerpEstimateGasRequest,
  CLOBEstimateGasResponse as CLOBPerpEstimateGasResponse,
  DepositRequest as CLOBPerpDepositRequest,
  DepositResponse as CLOBPerpDepositResponse,
  MoveRequest as CLOBPerpWithdrawRequest,
  MoveResponse as CLOBPerpWithdrawResponse,
} from '../clob.ts'

const reading = { set: 'PERP_CLOB', on: 'connector', method: 'GET', permission: 'read' } as const
const ofMarket = ['UNKNOWN_ORDER'] as const

export const clobPerpEndpoints = [
  ...bookEndpoints(
    { set: 'PERP_CLOB', prefix: 'CLOBPerp', root: '/clob/perp', errors: ['INSUFFICIENT_MARGIN'] },
    { post: CLOBPerpOrdersPostRequest, batch: CLOBPerpBatchOrdersRequest },
  ),
  endpoint({
    ...reading,
    wallet: true,
    name: 'CLOBPerpPositions',
    path: '/clob/perp/positions',
    summary: "A wallet's positions.",
    errors: ofMarket,
    request: CLOBPerpPositionsRequest,
    response: CLOBPerpPositionsResponse,
  }),
  endpoint({
    ...reading,
    wallet: true,
    name: 'CLOBPerpAccount',
    path: '/clob/perp/account',
    summary: "What a wallet's account is worth, and what it needs.",
    request: CLOBPerpAccountRequest,
    response: CLOBPerpAccountResponse,
  }),
  endpoint({
    set: 'PERP_CLOB',
    on: 'connector',
    method: 'POST',
    permission: 'trade',
    wallet: true,
    acts: true,
    name: 'CLOBPerpLeverage',
    path: '/clob/perp/leverage',
    summary: 'Sets the leverage of a market for a wallet.',
    errors: [...ofMarket, 'INSUFFICIENT_MARGIN'],
    request: CLOBPerpLeverageRequest,
    response: CLOBPerpLeverageResponse,
  }),
  endpoint({
    ...reading,
    name: 'CLOBPerpFundingInfo',
    path: '/clob/perp/funding/info',
    summary: 'Funding rate, index price and mark price of a market.',
    errors: ofMarket,
    request: CLOBPerpFundingInfoRequest,
    response: CLOBPerpFundingInfoResponse,
  }),
  endpoint({
    ...reading,
    wallet: true,
    name: 'CLOBPerpFundingPayments',
    path: '/clob/perp/funding/payments',
    summary: 'Funding that a wallet paid and received, newest first.',
    errors: ofMarket,
    request: CLOBPerpFundingPaymentsRequest,
    response: CLOBPerpFundingPaymentsResponse,
  }),
  endpoint({
    ...reading,
    name: 'CLOBPerpLastTradePrice',
    path: '/clob/perp/lastTradePrice',
    summary: 'The price of the last trade, from memory.',
    errors: [...ofMarket, 'PRICE_FAILED'],
    request: CLOBPerpLastTradePriceRequest,
    response: CLOBPerpLastTradePriceResponse,
  }),
] as const
