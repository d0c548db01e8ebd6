import {
  orderStates,
  orderTypes,
  timesInForce,
  type ActionOutcome,
  type ActionPlan,
  type Book,
  type BookBalance,
  type BookMarket,
  type BookOrder,
  type BookPlan,
  type BookTrade,
  type BookUpdate,
  type CLOB,
  type FundingPayment,
  type IndexPrice,
  type Level,
  type MakerBook,
  type MakerLevel,
  type MarginAccount,
  type MarginCLOB,
  type MarginToken,
  type OrderName,
  type OrderType,
  type PerpBookAccount,
  type PerpBookPosition,
  type PerpCLOB,
  type PerpMarketPrices,
  type PriceGrid,
  type UnlistedMarket,
} from '../order-books.ts'
import type { BridgePlan, Plan, VenuePlan } from '../rail.ts'
import {
  amount,
  answers,
  closed,
  decimal,
  eachOf,
  flag,
  either,
  integer,
  json,
  list,
  number,
  object,
  oneOf,
  optional,
  positiveDecimal,
  property,
  requiring,
  signedDecimal,
  someOf,
  streamed,
  text,
  time,
  word,
  words,
  type Contract,
  type Schema,
} from './contract.ts'
import { planSchema } from './common.ts'

const maxMarkets = 10_000
const maxEntries = 10_000
/** Of one side of a book. */
const maxLevels = 100_000
const maxActions = 1_000

const gridSchema: Schema<PriceGrid> = either(
  oneOf('any'),
  object<Extract<PriceGrid, { step: string }>>({ step: positiveDecimal() }),
  object<Extract<PriceGrid, { maxDecimals: number }>>({ significantFigures: integer(1, 77), maxDecimals: integer(0, 77) }),
)
const timesSchema = someOf(oneOf(...timesInForce), timesInForce.length)
const side = oneOf('BUY', 'SELL')

const marketSchema = object<BookMarket>({
  id: word(),
  base: word(),
  quote: word(),
  tokens: optional(object<NonNullable<BookMarket['tokens']>>({ base: optional(word()), quote: optional(word()) })),
  prices: gridSchema,
  lotSize: positiveDecimal(),
  minOrderSize: optional(decimal()),
  minNotional: optional(decimal()),
  takes: closed<Required<BookMarket>['takes']>({
    LIMIT: optional(timesSchema),
    LIMIT_MAKER: optional(timesSchema),
    MARKET: optional(timesSchema),
  } satisfies Record<OrderType, unknown>),
  makerFee: signedDecimal(),
  takerFee: signedDecimal(),
  status: oneOf('open', 'paused', 'closed'),
  maxLeverage: optional(positiveDecimal()),
})

/** Of an order, trade, position or payment: only its name is needed, and some connectors give no more. */
const namedMarketSchema = requiring(marketSchema, 'id', 'base', 'quote')

const orderSchema = object<BookOrder>({
  orderId: word(),
  clientOrderId: optional(word()),
  txHash: optional(text()),
  market: namedMarketSchema,
  side,
  orderType: oneOf(...orderTypes),
  price: decimal(),
  amount: decimal(),
  filledAmount: decimal(),
  leftAmount: optional(decimal()),
  averagePrice: optional(decimal()),
  state: oneOf(...orderStates),
  createdAt: time(),
  updatedAt: time(),
})

const levelSchema = object<Level>({ price: decimal(), quantity: decimal() })
const levelsSchema = list(levelSchema, maxLevels)
const makerLevelsSchema = list(object<MakerLevel>({ price: decimal(), quantity: decimal(), maker: word() }), maxLevels)
const makerBookSchema = object<MakerBook>({ market: word(), buys: makerLevelsSchema, sells: makerLevelsSchema })
type Update<Is extends BookUpdate['is']> = Extract<BookUpdate, { is: Is }>
const snapshotSchema = object<Update<'snapshot'>>({
  is: oneOf('snapshot'),
  book: object<Book>({ buys: levelsSchema, sells: levelsSchema }),
  sequence: integer(),
  timestamp: number(),
})
const changeSchema = object<Update<'change'>>({
  is: oneOf('change'),
  follows: integer(),
  sequence: integer(),
  timestamp: number(),
  levels: list(
    object<Update<'change'>['levels'][number]>({ price: decimal(), quantity: decimal(), side: oneOf('buys', 'sells') }),
    maxLevels,
  ),
})
const updateSchema: Schema<BookUpdate> = either(
  snapshotSchema,
  changeSchema,
  object<Update<'traded'>>({ is: oneOf('traded'), lastPrice: optional(decimal()), volume24h: optional(decimal()) }),
  object<Update<'lost'>>({ is: oneOf('lost'), reason: words(1_000) }),
  object<Update<'alive'>>({ is: oneOf('alive'), timestamp: number() }),
)

const tradeSchema = object<BookTrade>({
  tradeId: word(),
  orderId: optional(word()),
  market: namedMarketSchema,
  side,
  price: positiveDecimal(),
  amount: positiveDecimal(),
  fee: signedDecimal(),
  feeToken: word(),
  timestamp: time(),
  txHash: optional(text()),
  blockNumber: optional(integer()),
})

const balanceSchema = object<BookBalance>({ symbol: word(), total: signedDecimal(), available: signedDecimal(), locked: signedDecimal() })

const venuePlanSchema = object<VenuePlan>({
  via: oneOf('venue'),
  signer: optional(word()),
  steps: someOf(json(), maxActions),
  deadline: optional(integer()),
  fee: optional(decimal()),
  memo: json(),
})
/** For the venue's own chain, or for the exchange's own rail. */
const bookPlanSchema: Schema<BookPlan> = either(venuePlanSchema, planSchema)
const depositPlanSchema: Schema<Plan | BridgePlan> = either(object<BridgePlan>({ via: oneOf('bridge') }), planSchema)

const outcomeSchema = object<ActionOutcome>({
  orderId: optional(word()),
  state: oneOf(...orderStates),
  filledAmount: optional(decimal()),
  averagePrice: optional(decimal()),
  reason: optional(words()),
})

type Market = { readonly id: string }
const marketName = ({ base, quote }: Pick<BookMarket, 'base' | 'quote'>): string => `${base}-${quote}`

/** An answer about another market or order than the requested one would be shown as the requested one's. */
const marketMismatch = (entries: readonly { readonly market: Market }[], requested: Market | undefined): string | undefined =>
  requested && entries.some(({ market }) => market.id !== requested.id) ? 'market must be the requested one' : undefined

/** Newest first, and before the requested time. */
function timeMismatch(entries: readonly { readonly timestamp: number }[], before: number | undefined): string | undefined {
  let last = before === undefined ? Infinity : before - 1
  for (const { timestamp } of entries) {
    if (timestamp > last) return 'timestamp must be before the requested time, newest first'
    last = timestamp
  }
  return undefined
}

const isNamed = ({ orderId, clientOrderId }: BookOrder, name: OrderName): boolean =>
  (name.orderId !== undefined && name.orderId === orderId) || (name.clientOrderId !== undefined && name.clientOrderId === clientOrderId)

function actMismatch(plans: readonly ActionPlan[], { length }: readonly unknown[]): string | undefined {
  const covered = new Set(plans.flatMap(({ covers }) => covers))
  const isEach = plans.reduce((sum, { covers }) => sum + covers.length, 0) === length && covered.size === length
  return isEach && [...covered].every((index) => index < length) ? undefined : 'its plans must cover each action once'
}

/** What every order book has. */
const bookContract: Omit<Contract<CLOB>, 'transferCollateral'> = {
  typicalGasUnits: property(amount()),
  // A list is long, and a connector returns the same one again and again.
  markets: {
    answer: eachOf(marketSchema, maxMarkets, { nameOf: marketName, sameName: 'in any letter case' }),
    isCached: true,
  },
  offers: answers(object<Awaited<ReturnType<Required<CLOB>['offers']>>>({ timestamp: time(), books: list(makerBookSchema, maxMarkets) })),
  indexPrices: answers(list(object<IndexPrice>({ market: word(), price: positiveDecimal() }), maxMarkets)),
  sharesMargin: answers(flag()),
  unlisted: answers(list(object<UnlistedMarket>({ market: words(200), reason: words(1_000) }), maxMarkets)),
  books: streamed(updateSchema, snapshotSchema),
  orders: answers(list(orderSchema, maxEntries), (orders, [, { market, names }]) => {
    const isRequested = (order: BookOrder) => !names || names.some((name) => isNamed(order, name))
    return orders.every(isRequested) ? marketMismatch(orders, market) : 'the orders must be the requested ones'
  }),
  trades: answers(eachOf(tradeSchema, maxEntries, { nameOf: ({ tradeId }) => tradeId }), (trades, [{ market, orderId, before }]) => {
    if (orderId !== undefined && trades.some((trade) => trade.orderId !== orderId)) return 'orderId must be the requested one'
    return marketMismatch(trades, market) ?? timeMismatch(trades, before)
  }),
  balances: answers(eachOf(balanceSchema, maxEntries, { nameOf: ({ symbol }) => symbol, sameName: 'letter by letter' })),
  act: answers(
    list(object<ActionPlan>({ covers: someOf(integer(0), maxActions), plan: bookPlanSchema }), maxActions),
    (plans, [, actions]) => actMismatch(plans, actions),
  ),
  outcome: answers(list(outcomeSchema, maxActions)),
  depositFrom: answers(depositPlanSchema),
}

export const clobContract: Contract<CLOB> = { ...bookContract, transferCollateral: answers(bookPlanSchema) }

const marginTokenSchema = object<MarginToken>({
  symbol: word(),
  deposited: signedDecimal(),
  borrowed: signedDecimal(),
  available: signedDecimal(),
  borrowRate: signedDecimal(),
  borrowCap: optional(decimal()),
})

const marginAccountSchema = object<MarginAccount>({
  mode: word(),
  sharedWith: list(word(), 100),
  equity: signedDecimal(),
  collateral: signedDecimal(),
  borrowed: signedDecimal(),
  freeCollateral: signedDecimal(),
  initialMargin: signedDecimal(),
  maintenanceMargin: signedDecimal(),
  marginRatio: optional(signedDecimal()),
  tokens: eachOf(marginTokenSchema, maxEntries, { nameOf: ({ symbol }) => symbol, sameName: 'letter by letter' }),
})

export const marginCLOBContract: Contract<MarginCLOB> = {
  ...bookContract,
  account: answers(marginAccountSchema),
  transferCollateral: answers(bookPlanSchema),
}

const positionSchema = object<PerpBookPosition>({
  market: namedMarketSchema,
  side: oneOf('LONG', 'SHORT'),
  amount: decimal(),
  entryPrice: decimal(),
  markPrice: decimal(),
  unrealizedProfit: signedDecimal(),
  pendingFunding: signedDecimal(),
  leverage: decimal(),
  marginMode: oneOf('cross', 'isolated'),
  liquidationPrice: optional(decimal()),
})

const accountSchema = object<PerpBookAccount>({
  accountValue: signedDecimal(),
  freeCollateral: signedDecimal(),
  collateral: signedDecimal(),
  initialMargin: signedDecimal(),
  maintenanceMargin: signedDecimal(),
  notional: decimal(),
})

const pricesSchema = object<PerpMarketPrices>({
  indexPrice: positiveDecimal(),
  markPrice: positiveDecimal(),
  fundingRate: signedDecimal(),
  nextFundingTimestamp: time(),
})

const paymentSchema = object<FundingPayment>({
  market: namedMarketSchema,
  amount: signedDecimal(),
  rate: signedDecimal(),
  timestamp: time(),
})

export const perpCLOBContract: Contract<PerpCLOB> = {
  ...clobContract,
  positions: answers(eachOf(positionSchema, maxEntries, { nameOf: ({ market }) => marketName(market) })),
  account: answers(accountSchema),
  leverage: answers(bookPlanSchema),
  prices: answers(pricesSchema),
  fundingPayments: answers(
    eachOf(paymentSchema, maxEntries, { nameOf: ({ market }) => marketName(market) }),
    (payments, [, { market, before }]) => marketMismatch(payments, market) ?? timeMismatch(payments, before),
  ),
  liquidations: answers(eachOf(tradeSchema, maxEntries, { nameOf: ({ tradeId }) => tradeId }), (trades, [, from, before]) =>
    trades.some(({ timestamp }) => timestamp < from) ? 'timestamp must not be before the requested time' : timeMismatch(trades, before),
  ),
}
