import Type from 'typebox'
import { connectorFields, Decimal, Side, Slippage, TokenName, transactionFields, WalletAddress } from './fields.ts'

// What requests about order books share. A market is named BASE-QUOTE.

const visible = (maxLength: number) => `^[\\x21-\\x7e]{1,${maxLength}}$`

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
  description: 'What the exchange knows the order by.',
})

export const ClientOrderId = Type.String({
  pattern: visible(64),
  expects: '1 to 64 visible ASCII characters',
  description: "The caller's own name of an order, used once by a wallet on an exchange.",
})

export const OrderTypes = ['LIMIT', 'LIMIT_MAKER', 'MARKET'] as const
export const TimesInForce = ['GTC', 'IOC', 'FOK'] as const
export const OrderStates = [
  'PENDING_OPEN',
  'OPEN',
  'PARTIALLY_FILLED',
  'FILLED',
  'PENDING_CANCEL',
  'CANCELED',
  'EXPIRED',
  'REJECTED',
  'FAILED',
] as const

const oneOf = (values: readonly string[], description: string) => ({ expects: `one of ${values.join(', ')}`, description })

export const OrderTypeField = Type.Enum(
  OrderTypes,
  oneOf(OrderTypes, 'LIMIT_MAKER is a limit order that is refused where it would trade at once.'),
)
export const OrderStateField = Type.Enum(OrderStates, oneOf(OrderStates, 'Only those in this state.'))

/** LONG and SHORT are understood where an order is of a perpetual. */
export const PerpOrderSide = Type.Enum(['BUY', 'SELL', 'LONG', 'SHORT'], {
  expects: 'BUY or SELL',
  description: 'BUY or SELL, in any letter case; LONG and SHORT mean the same.',
})

/** What an order says, alone and in a batch. */
const order = {
  market: MarketName,
  orderType: OrderTypeField,
  price: Type.Optional(Decimal('The limit, quote per one base; of LIMIT and LIMIT_MAKER only.')),
  amount: Decimal('Of base.'),
  clientOrderId: Type.Optional(ClientOrderId),
  timeInForce: Type.Optional(
    Type.Enum(
      TimesInForce,
      oneOf(TimesInForce, 'What the market means where nothing is said is the first that /clob/markets shows for the order type.'),
    ),
  ),
  limitPrice: Type.Optional(Decimal('Of MARKET: the worst price to take, quote per one base.')),
  allowedSlippage: Type.Optional(Slippage),
}

/** What only leveraged markets know. */
const leveraged = {
  leverage: Type.Optional(Decimal('The leverage to place it with; absent: as the account has it.')),
  reduceOnly: Type.Optional(Type.Boolean({ expects: 'true or false', description: 'It may only make a position smaller.' })),
}

export const orderFields = { side: Side, ...order }
export const marginOrderFields = { ...orderFields, ...leveraged }
export const perpOrderFields = { side: PerpOrderSide, ...order, ...leveraged }

/** Which order is meant. */
export const orderName = { market: MarketName, orderId: Type.Optional(OrderId), clientOrderId: Type.Optional(ClientOrderId) }

export const walletFields = { ...connectorFields, address: WalletAddress }
export const actingFields = { ...walletFields, ...transactionFields }

export const nextCursor = Type.Optional(Type.String({ description: 'There is more: ask again with it as `cursor`.' }))

export const amountOf = (description: string) => Type.String({ description })
export const msTimestamp = Type.Number({ description: 'Milliseconds since the Unix epoch.' })

export const movedToken = { token: TokenName, amount: Decimal('Of the token.') }
