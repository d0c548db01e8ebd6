import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  CLOBMarketsRequest,
  CLOBMarketsResponse,
  CLOBOrderBookRequest,
  CLOBOrderBookResponse,
  CLOBTickerRequest,
  CLOBTickerResponse,
  CLOBTradesRequest,
  CLOBTradesResponse,
  amountOf,
  MarketName,
  msTimestamp,
  nextCursor,
} from './clob-markets.ts'
import {
  CLOBBalancesRequest,
  CLOBBalancesResponse,
  CLOBBatchOrdersResponse,
  CLOBEstimateGasRequest,
  CLOBEstimateGasResponse,
  CLOBOrdersDeleteRequest,
  CLOBOrdersDeleteResponse,
  CLOBOrdersPostResponse,
  CLOBOrdersRequest,
  CLOBOrdersResponse,
  DepositRequest,
  DepositResponse,
  MoveRequest,
  MoveResponse,
  actingFields,
  anyOrderFields,
  batchOrdersRequest,
  bookEndpoints,
  moved,
  orderFields,
  ordersPostRequest,
  walletFields,
} from './clob.ts'
import { connectorFields, Decimal, endpoint, enveloped, pageFields, request, unavailable } from './endpoint.ts'
import { shownMargin, shownPosition } from './perp.ts'

// What order books of margin accounts and of perpetuals have besides what every order book has.

/** Fields of orders in leveraged markets. */
const leveraged = {
  leverage: Type.Optional(Decimal('The leverage of the order. Absent: that of the account.')),
  reduceOnly: Type.Optional(Type.Boolean({ expects: 'true or false', description: 'The order may only reduce a position.' })),
}

// Margin accounts.

export const CLOBMarginAccountRequest = request(walletFields)
export const CLOBMarginAccountResponse = enveloped({
  mode: amountOf("The exchange's own name of it."),
  sharedWith: Type.Array(Type.String(), { description: 'What shares its equity, such as perpetual positions.' }),
  equity: amountOf('Value of the account, in the unit of account of the exchange.'),
  collateral: Type.String(),
  borrowed: Type.String(),
  freeCollateral: Type.String(),
  initialMargin: Type.String(),
  maintenanceMargin: Type.String(),
  marginRatio: amountOf('As the exchange computes it; "0" without positions.'),
  tokens: Type.Record(
    Type.String(),
    Type.Object({
      deposited: Type.String(),
      borrowed: amountOf('Including interest until now.'),
      available: amountOf('Available for withdrawal now.'),
      borrowRate: amountOf('Per year: "0.05" is 5 %.'),
      borrowCap: Type.Optional(amountOf('Maximum that the wallet may owe.')),
    }),
    { description: 'By symbol.' },
  ),
  unavailable: unavailable({ token: Type.String() }),
})

export type CLOBMarginAccountRequest = Static<typeof CLOBMarginAccountRequest>
export type CLOBMarginAccountResponse = Static<typeof CLOBMarginAccountResponse>

export const CLOBMarginOrdersPostRequest = ordersPostRequest({ ...orderFields, ...leveraged })
export const CLOBMarginBatchOrdersRequest = batchOrdersRequest({ ...orderFields, ...leveraged })
export type CLOBMarginOrdersPostRequest = Static<typeof CLOBMarginOrdersPostRequest>
export type CLOBMarginBatchOrdersRequest = Static<typeof CLOBMarginBatchOrdersRequest>
export {
  CLOBMarketsRequest as CLOBMarginMarketsRequest,
  CLOBMarketsResponse as CLOBMarginMarketsResponse,
  CLOBTickerRequest as CLOBMarginTickerRequest,
  CLOBTickerResponse as CLOBMarginTickerResponse,
  CLOBOrderBookRequest as CLOBMarginOrderBookRequest,
  CLOBOrderBookResponse as CLOBMarginOrderBookResponse,
  CLOBTradesRequest as CLOBMarginTradesRequest,
  CLOBTradesResponse as CLOBMarginTradesResponse,
}
export {
  CLOBOrdersRequest as CLOBMarginOrdersRequest,
  CLOBOrdersResponse as CLOBMarginOrdersResponse,
  CLOBOrdersPostResponse as CLOBMarginOrdersPostResponse,
  CLOBOrdersDeleteRequest as CLOBMarginOrdersDeleteRequest,
  CLOBOrdersDeleteResponse as CLOBMarginOrdersDeleteResponse,
  CLOBBatchOrdersResponse as CLOBMarginBatchOrdersResponse,
}
export {
  CLOBBalancesRequest as CLOBMarginBalancesRequest,
  CLOBBalancesResponse as CLOBMarginBalancesResponse,
  CLOBEstimateGasRequest as CLOBMarginEstimateGasRequest,
  CLOBEstimateGasResponse as CLOBMarginEstimateGasResponse,
  DepositRequest as CLOBMarginDepositRequest,
  DepositResponse as CLOBMarginDepositResponse,
  MoveRequest as CLOBMarginWithdrawRequest,
  MoveResponse as CLOBMarginWithdrawResponse,
  MoveRequest as CLOBMarginBorrowRequest,
  MoveResponse as CLOBMarginBorrowResponse,
  MoveRequest as CLOBMarginRepayRequest,
  MoveResponse as CLOBMarginRepayResponse,
}

const margin = { set: 'MARGIN_CLOB', on: 'connector', wallet: true } as const
const moving = {
  ...margin,
  method: 'POST',
  permission: 'trade',
  acts: true,
  errors: ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_ALLOWANCE', 'INSUFFICIENT_MARGIN'],
  request: MoveRequest,
  response: MoveResponse,
} as const

export const clobMarginEndpoints = [
  ...bookEndpoints(
    { set: 'MARGIN_CLOB', prefix: 'CLOBMargin', root: '/clob/margin', errors: ['INSUFFICIENT_MARGIN'] },
    { post: CLOBMarginOrdersPostRequest, batch: CLOBMarginBatchOrdersRequest },
  ),
  endpoint({
    ...margin,
    method: 'GET',
    permission: 'read',
    name: 'CLOBMarginAccount',
    path: '/clob/margin/account',
    summary: 'The value and the debt of a margin account, and the margin that it requires.',
    request: CLOBMarginAccountRequest,
    response: CLOBMarginAccountResponse,
  }),
  endpoint({ ...moving, name: 'CLOBMarginBorrow', path: '/clob/margin/borrow', summary: 'Borrows a token from the exchange.' }),
  endpoint({ ...moving, name: 'CLOBMarginRepay', path: '/clob/margin/repay', summary: 'Repays a borrowed token.' }),
] as const

// Perpetuals.

/** For perpetuals LONG and SHORT are aliases. */
const PerpOrderSide = Type.Enum(['BUY', 'SELL', 'LONG', 'SHORT'], {
  expects: 'BUY or SELL',
  description: 'BUY or SELL, in any letter case; LONG and SHORT mean the same.',
})

export const CLOBPerpPositionsRequest = request({ ...walletFields, market: Type.Optional(MarketName) })
export const shownBookPosition = Type.Object({
  market: Type.String(),
  ...shownPosition.properties,
  marginMode: Type.Enum(['cross', 'isolated']),
})
export const CLOBPerpPositionsResponse = enveloped({
  positions: Type.Array(shownBookPosition),
  unavailable: unavailable({ market: Type.String() }),
})

export const CLOBPerpAccountRequest = request(walletFields)
export const CLOBPerpAccountResponse = enveloped(shownMargin.properties)

export const CLOBPerpFundingInfoRequest = request({ ...connectorFields, market: MarketName })
export const CLOBPerpFundingInfoResponse = enveloped({
  market: Type.String(),
  fundingRate: amountOf('Per funding interval; above 0 if longs pay shorts.'),
  indexPrice: Type.String(),
  markPrice: Type.String(),
  nextFundingTimestamp: msTimestamp,
})

export const CLOBPerpFundingPaymentsRequest = request({ ...walletFields, market: Type.Optional(MarketName), ...pageFields })
export const CLOBPerpFundingPaymentsResponse = enveloped({
  payments: Type.Array(
    Type.Object({
      market: Type.String(),
      amount: amountOf('In quote; above 0 if the wallet received it.'),
      rate: Type.String(),
      timestamp: msTimestamp,
    }),
    { description: 'Newest first.' },
  ),
  unavailable: unavailable({ market: Type.String() }),
  nextCursor,
})

export const CLOBPerpLastTradePriceRequest = request({ ...connectorFields, market: MarketName })
export const CLOBPerpLastTradePriceResponse = enveloped({ market: Type.String(), lastTradePrice: amountOf('Quote per one base.') })

export const CLOBPerpLeverageRequest = request({
  ...actingFields,
  market: MarketName,
  leverage: Decimal('Maximum value of a position as a multiple of its margin.'),
  marginMode: Type.Optional(
    Type.Enum(['cross', 'isolated'], {
      expects: 'cross or isolated',
      description: 'Absent: the current mode of the exchange, or its default.',
    }),
  ),
})
export const CLOBPerpLeverageResponse = enveloped({ ...moved, market: Type.String(), leverage: Type.String() })

export type CLOBPerpPositionsRequest = Static<typeof CLOBPerpPositionsRequest>
export type CLOBPerpPositionsResponse = Static<typeof CLOBPerpPositionsResponse>
export type CLOBPerpAccountRequest = Static<typeof CLOBPerpAccountRequest>
export type CLOBPerpAccountResponse = Static<typeof CLOBPerpAccountResponse>
export type CLOBPerpFundingInfoRequest = Static<typeof CLOBPerpFundingInfoRequest>
export type CLOBPerpFundingInfoResponse = Static<typeof CLOBPerpFundingInfoResponse>
export type CLOBPerpFundingPaymentsRequest = Static<typeof CLOBPerpFundingPaymentsRequest>
export type CLOBPerpFundingPaymentsResponse = Static<typeof CLOBPerpFundingPaymentsResponse>
export type CLOBPerpLastTradePriceRequest = Static<typeof CLOBPerpLastTradePriceRequest>
export type CLOBPerpLastTradePriceResponse = Static<typeof CLOBPerpLastTradePriceResponse>
export type CLOBPerpLeverageRequest = Static<typeof CLOBPerpLeverageRequest>
export type CLOBPerpLeverageResponse = Static<typeof CLOBPerpLeverageResponse>

const perpOrderFields = { side: PerpOrderSide, ...anyOrderFields, ...leveraged }
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
}
export {
  CLOBOrdersRequest as CLOBPerpOrdersRequest,
  CLOBOrdersResponse as CLOBPerpOrdersResponse,
  CLOBOrdersPostResponse as CLOBPerpOrdersPostResponse,
  CLOBOrdersDeleteRequest as CLOBPerpOrdersDeleteRequest,
  CLOBOrdersDeleteResponse as CLOBPerpOrdersDeleteResponse,
  CLOBBatchOrdersResponse as CLOBPerpBatchOrdersResponse,
}
export {
  CLOBBalancesRequest as CLOBPerpBalancesRequest,
  CLOBBalancesResponse as CLOBPerpBalancesResponse,
  CLOBEstimateGasRequest as CLOBPerpEstimateGasRequest,
  CLOBEstimateGasResponse as CLOBPerpEstimateGasResponse,
  DepositRequest as CLOBPerpDepositRequest,
  DepositResponse as CLOBPerpDepositResponse,
  MoveRequest as CLOBPerpWithdrawRequest,
  MoveResponse as CLOBPerpWithdrawResponse,
}

const perpReading = { set: 'PERP_CLOB', on: 'connector', method: 'GET', permission: 'read' } as const
const ofMarket = ['UNKNOWN_ORDER'] as const

export const clobPerpEndpoints = [
  ...bookEndpoints(
    { set: 'PERP_CLOB', prefix: 'CLOBPerp', root: '/clob/perp', errors: ['INSUFFICIENT_MARGIN'] },
    { post: CLOBPerpOrdersPostRequest, batch: CLOBPerpBatchOrdersRequest },
  ),
  endpoint({
    ...perpReading,
    wallet: true,
    name: 'CLOBPerpPositions',
    path: '/clob/perp/positions',
    summary: "A wallet's positions.",
    errors: ofMarket,
    request: CLOBPerpPositionsRequest,
    response: CLOBPerpPositionsResponse,
  }),
  endpoint({
    ...perpReading,
    wallet: true,
    name: 'CLOBPerpAccount',
    path: '/clob/perp/account',
    summary: "The value of a wallet's account, and the margin that it requires.",
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
    ...perpReading,
    name: 'CLOBPerpFundingInfo',
    path: '/clob/perp/funding/info',
    summary: 'Funding rate, index price and mark price of a market.',
    errors: ofMarket,
    request: CLOBPerpFundingInfoRequest,
    response: CLOBPerpFundingInfoResponse,
  }),
  endpoint({
    ...perpReading,
    wallet: true,
    name: 'CLOBPerpFundingPayments',
    path: '/clob/perp/funding/payments',
    summary: 'Funding that a wallet paid and received, newest first.',
    errors: ofMarket,
    request: CLOBPerpFundingPaymentsRequest,
    response: CLOBPerpFundingPaymentsResponse,
  }),
  endpoint({
    ...perpReading,
    name: 'CLOBPerpLastTradePrice',
    path: '/clob/perp/lastTradePrice',
    summary: 'The price of the last trade, from memory.',
    errors: [...ofMarket, 'PRICE_FAILED'],
    request: CLOBPerpLastTradePriceRequest,
    response: CLOBPerpLastTradePriceResponse,
  }),
] as const
