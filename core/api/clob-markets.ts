// What markets of order books show: their rules, tickers, books and trades. A market is named BASE-QUOTE.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { connectorFields, WalletAddress, enveloped, request, pageFields, unavailable } from './endpoint.ts'

export const visible = (maxLength: number) => `^[\\x21-\\x7e]{1,${maxLength}}$`

export const MarketName = Type.String({
  minLength: 3,
  maxLength: 128,
  expects: 'the name of a market, such as WETH-USDC',
  description: 'BASE-QUOTE, in any letter case; /clob/markets lists them.',
})

export const OrderId = Type.String({
  pattern: visible(128),
  expects: 'the id that the exchange gave the order',
  acceptsNumber: true,
  description: 'The id of the order on the exchange.',
})

export const OrderTypes = ['LIMIT', 'LIMIT_MAKER', 'MARKET'] as const
export const TimesInForce = ['GTC', 'IOC', 'FOK'] as const

export const nextCursor = Type.Optional(Type.String({ description: 'There are more entries: request them with this as `cursor`.' }))

export const amountOf = (description: string) => Type.String({ description })
export const msTimestamp = Type.Number({ description: 'Milliseconds since the Unix epoch.' })

const Price = amountOf('Quote per one base.')
const Nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const CLOBMarketsRequest = request({ ...connectorFields, market: Type.Optional(MarketName) })
export const CLOBMarketsResponse = enveloped({
  markets: Type.Record(
    Type.String(),
    Type.Object({
      market: Type.String(),
      base: Type.String(),
      quote: Type.String(),
      tickSize: Type.Optional(amountOf('Prices are multiples of it.')),
      priceSignificantFigures: Type.Optional(
        Type.Number({ description: 'Maximum of significant figures of prices; an integer may have more.' }),
      ),
      priceDecimals: Type.Optional(Type.Number({ description: 'Maximum of decimals of prices.' })),
      lotSize: amountOf('Amounts are multiples of it.'),
      minOrderSize: Type.Optional(amountOf('Of base.')),
      minNotional: Type.Optional(amountOf('Of price times amount, in quote.')),
      orderTypes: Type.Array(Type.Enum(OrderTypes)),
      timeInForce: Type.Array(Type.Enum(TimesInForce)),
      takes: Type.Record(Type.String(), Type.Array(Type.Enum(TimesInForce)), {
        description: 'Times in force by order type; the first is the default.',
      }),
      makerFee: amountOf('Fraction of the traded amount; below 0 if the exchange pays it.'),
      takerFee: amountOf('Fraction of the traded amount.'),
      maxLeverage: Type.Optional(amountOf('Maximum of the leverage of an order.')),
      status: Type.Enum(['open', 'paused', 'closed']),
    }),
    { description: 'By the name of the market, BASE-QUOTE.' },
  ),
  unavailable: unavailable({ market: Type.String() }),
})

export const CLOBTickerRequest = CLOBMarketsRequest
export const CLOBTickerResponse = enveloped({
  markets: Type.Record(
    Type.String(),
    Type.Object({
      bestBid: Nullable('null without bids.'),
      bestAsk: Nullable('null without asks.'),
      lastPrice: Nullable('null without a known trade.'),
      volume24h: Type.Optional(amountOf('Of base.')),
      timestamp: msTimestamp,
    }),
    { description: 'By the name of the market.' },
  ),
  failing: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Markets that are unknown now, and why. Only if all were requested.',
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
      description: 'Maximum of levels of each side.',
    }),
  ),
})
export const CLOBOrderBookResponse = enveloped({
  market: Type.String(),
  buys: Type.Array(Level, { description: 'Best first.' }),
  sells: Type.Array(Level, { description: 'Best first.' }),
  sequence: Type.Number({ description: 'Increases with every change of this book.' }),
  blockNumber: Type.Optional(Type.Number({ description: 'The block of the book, if it is on chain.' })),
})

export const CLOBTradesRequest = request({
  ...connectorFields,
  address: Type.Optional({ ...WalletAddress, description: 'Only trades of this wallet. Absent: trades of all.' }),
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
      side: Type.Enum(['BUY', 'SELL'], { description: "The wallet's side if the request has an address, else the taker's." }),
      price: Price,
      amount: amountOf('Of base.'),
      fee: amountOf('In `feeToken`; below 0 if the wallet received it.'),
      feeToken: Type.String(),
      timestamp: msTimestamp,
      txHash: Type.Optional(Type.String()),
    }),
    { description: 'Newest first.' },
  ),
  unavailable: unavailable({ tradeId: Type.String() }),
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
