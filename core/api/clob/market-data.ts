import Type, { type Static } from 'typebox'
import { enveloped, request } from '../endpoint.ts'
import { connectorFields, pageFields, WalletAddress } from '../fields.ts'
import { amountOf, MarketName, msTimestamp, nextCursor, OrderId, OrderTypes, TimesInForce } from '../clob.ts'

const Price = amountOf('Quote per one base.')
const Maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const CLOBMarketsRequest = request({ ...connectorFields, market: Type.Optional(MarketName) })
export const CLOBMarketsResponse = enveloped({
  markets: Type.Record(
    Type.String(),
    Type.Object({
      market: Type.String(),
      base: Type.String(),
      quote: Type.String(),
      tickSize: Type.Optional(amountOf('Prices are multiples of it.')),
      priceSignificantFigures: Type.Optional(Type.Number({ description: 'Prices have at most so many; a whole number may have more.' })),
      priceDecimals: Type.Optional(Type.Number({ description: 'Prices have at most so many decimals.' })),
      lotSize: amountOf('Amounts are multiples of it.'),
      minOrderSize: Type.Optional(amountOf('Of base.')),
      minNotional: Type.Optional(amountOf('Of price times amount, in quote.')),
      orderTypes: Type.Array(Type.Enum(OrderTypes)),
      timeInForce: Type.Array(Type.Enum(TimesInForce)),
      takes: Type.Record(Type.String(), Type.Array(Type.Enum(TimesInForce)), {
        description: 'Times in force by order type; the first is what is meant where an order says none.',
      }),
      makerFee: amountOf('Part of what is traded; below 0 where the exchange pays it.'),
      takerFee: amountOf('Part of what is traded.'),
      maxLeverage: Type.Optional(amountOf('The most that an order may ask for.')),
      status: Type.Enum(['open', 'paused', 'closed']),
    }),
    { description: 'By the name of the market, BASE-QUOTE.' },
  ),
})

export const CLOBTickerRequest = CLOBMarketsRequest
export const CLOBTickerResponse = enveloped({
  markets: Type.Record(
    Type.String(),
    Type.Object({
      bestBid: Maybe('null where nobody buys.'),
      bestAsk: Maybe('null where nobody sells.'),
      lastPrice: Maybe('null where the exchange tells of no trade.'),
      volume24h: Type.Optional(amountOf('Of base.')),
      timestamp: msTimestamp,
    }),
    { description: 'By the name of the market.' },
  ),
  failing: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Markets of which nothing can be said now, and why: where all were asked for.',
    }),
  ),
})

const Level = Type.Object({ price: Price, quantity: amountOf('Of base.') })
export const CLOBOrderBookRequest = request({
  ...connectorFields,
  market: MarketName,
  depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      expects: 'an integer from 1 to 10000',
      description: 'So many levels of each side at most.',
    }),
  ),
})
export const CLOBOrderBookResponse = enveloped({
  market: Type.String(),
  buys: Type.Array(Level, { description: 'Best first.' }),
  sells: Type.Array(Level, { description: 'Best first.' }),
  sequence: Type.Number({ description: 'Increases with every change of this book.' }),
  blockNumber: Type.Optional(Type.Number({ description: 'The block that the book is of, where it is on chain.' })),
})

export const CLOBTradesRequest = request({
  ...connectorFields,
  address: Type.Optional({ ...WalletAddress, description: 'Only trades of this wallet; without it those of everybody.' }),
  market: MarketName,
  orderId: Type.Optional(OrderId),
  ...pageFields,
})
export const CLOBTradesResponse = enveloped({
  trades: Type.Array(
    Type.Object({
      tradeId: Type.String(),
      orderId: Type.Optional(Type.String()),
      market: Type.String(),
      side: Type.Enum(['BUY', 'SELL'], { description: "The wallet's, where one was asked about; else that of who came to the book." }),
      price: Price,
      amount: amountOf('Of base.'),
      fee: amountOf('In `feeToken`; below 0 where it was received.'),
      feeToken: Type.String(),
      timestamp: msTimestamp,
      txHash: Type.Optional(Type.String()),
    }),
    { description: 'Newest first.' },
  ),
  nextCursor,
})

export type CLOBMarketsRequest = Static<typeof CLOBMarketsRequest>
export type CLOBMarketsResponse = Static<typeof CLOBMarketsResponse>
export type CLOBTickerRequest = Static<typeof CLOBTickerRequest>
export type CLOBTickerResponse = Static<typeof CLOBTickerResponse>
export type CLOBOrderBookRequest = Static<typeof CLOBOrderBookRequest>
export type CLOBOrderBookResponse = Static<typeof CLOBOrderBookResponse>
export type CLOBTradesRequest = Static<typeof CLOBTradesRequest>
export type CLOBTradesResponse = Static<typeof CLOBTradesResponse>
