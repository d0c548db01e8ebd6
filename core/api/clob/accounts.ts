import Type, { type Static } from 'typebox'
import { enveloped, request, connectorFields, pageFields } from '../endpoint.ts'
import { shownMargin, shownPosition } from '../perp-amm.ts'
import { amountOf, MarketName, msTimestamp, nextCursor, walletFields } from '../clob.ts'

// What only margin accounts and perpetuals have.

export const CLOBMarginAccountRequest = request(walletFields)
export const CLOBMarginAccountResponse = enveloped({
  mode: amountOf("By the exchange's own name."),
  sharedWith: Type.Array(Type.String(), { description: 'What it shares its equity with, such as perpetual positions.' }),
  equity: amountOf('What the account is worth, in the unit of account of the exchange.'),
  collateral: Type.String(),
  borrowed: Type.String(),
  freeCollateral: Type.String(),
  initialMargin: Type.String(),
  maintenanceMargin: Type.String(),
  marginRatio: amountOf('As the exchange reckons it; "0" where nothing is at stake.'),
  tokens: Type.Record(
    Type.String(),
    Type.Object({
      deposited: Type.String(),
      borrowed: amountOf('With interest until now.'),
      available: amountOf('What may be taken out now.'),
      borrowRate: amountOf('Per year: "0.05" is 5 %.'),
      borrowCap: Type.Optional(amountOf('The most that the wallet may owe.')),
    }),
    { description: 'By symbol.' },
  ),
})

export const CLOBPerpPositionsRequest = request({ ...walletFields, market: Type.Optional(MarketName) })
export const shownBookPosition = Type.Object({
  market: Type.String(),
  ...shownPosition.properties,
  marginMode: Type.Enum(['cross', 'isolated']),
})
export const CLOBPerpPositionsResponse = enveloped({ positions: Type.Array(shownBookPosition) })

export const CLOBPerpAccountRequest = request(walletFields)
export const CLOBPerpAccountResponse = enveloped(shownMargin.properties)

export const CLOBPerpFundingInfoRequest = request({ ...connectorFields, market: MarketName })
export const CLOBPerpFundingInfoResponse = enveloped({
  market: Type.String(),
  fundingRate: amountOf('Per funding interval; above 0 where longs pay shorts.'),
  indexPrice: Type.String(),
  markPrice: Type.String(),
  nextFundingTimestamp: msTimestamp,
})

export const CLOBPerpFundingPaymentsRequest = request({ ...walletFields, market: Type.Optional(MarketName), ...pageFields })
export const CLOBPerpFundingPaymentsResponse = enveloped({
  payments: Type.Array(
    Type.Object({
      market: Type.String(),
      amount: amountOf('In quote; above 0 where the wallet received it.'),
      rate: Type.String(),
      timestamp: msTimestamp,
    }),
    { description: 'Newest first.' },
  ),
  nextCursor,
})

export const CLOBPerpLastTradePriceRequest = request({ ...connectorFields, market: MarketName })
export const CLOBPerpLastTradePriceResponse = enveloped({ market: Type.String(), lastTradePrice: amountOf('Quote per one base.') })

export type CLOBMarginAccountRequest = Static<typeof CLOBMarginAccountRequest>
export type CLOBMarginAccountResponse = Static<typeof CLOBMarginAccountResponse>
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
