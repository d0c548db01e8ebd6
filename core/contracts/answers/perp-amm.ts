import type { Head } from '../family.ts'
import type { UnlistedMarket } from '../order-books.ts'
import type {
  KnownPerpAccount,
  PerpAccount,
  PerpAccountAnswer,
  PerpAMM,
  PerpClosing,
  PerpCollateral,
  PerpFill,
  PerpFunding,
  PerpLiquidation,
  PerpLiquidationEffect,
  PerpMarket,
  PerpMarketName,
  PerpOrder,
  PerpPosition,
  PerpPrices,
  PerpQuote,
} from '../perp-amm.ts'
import {
  amount,
  answers,
  decimals,
  eachOf,
  integer,
  list,
  object,
  oneOf,
  optional,
  orNothing,
  positiveAmount,
  property,
  signedAmount,
  text,
  word,
  words,
  type Contract,
} from './contract.ts'
import { collateralSchema, headSchema, planSchema, priceSchema, ratioSchema, slippageContract } from './common.ts'

const maxMarkets = 10_000

const marketName = { id: word(), base: word(), quote: word(), baseDecimals: decimals(), quoteDecimals: decimals() }
const marketNameSchema = object<PerpMarketName>(marketName)

const unlistedSchema = list(object<UnlistedMarket>({ market: words(200), reason: words(1_000) }), maxMarkets)

const marketSchema = object<PerpMarket>({
  ...marketName,
  status: oneOf('open', 'paused', 'closed'),
  maxLeverage: priceSchema,
  maintenanceRatio: ratioSchema,
})

const pricesSchema = object<PerpPrices>({ mark: priceSchema, index: priceSchema, indexTwap: priceSchema })

const positionSchema = object<PerpPosition>({
  market: marketSchema,
  sizeRaw: signedAmount(),
  openNotionalRaw: signedAmount(),
  unrealizedProfitRaw: signedAmount(),
  pendingFundingRaw: signedAmount(),
  mark: priceSchema,
})

const accountSchema = object<PerpAccount>({
  decimals: decimals(),
  valueRaw: signedAmount(),
  freeCollateralRaw: signedAmount(),
  collateralRaw: signedAmount(),
  initialMarginRaw: amount(),
  maintenanceMarginRaw: amount(),
  notionalRaw: amount(),
})

const knownAccountSchema = object<KnownPerpAccount>({
  decimals: decimals(),
  valueRaw: optional(signedAmount()),
  freeCollateralRaw: optional(signedAmount()),
  collateralRaw: optional(signedAmount()),
  initialMarginRaw: optional(amount()),
  maintenanceMarginRaw: optional(amount()),
  notionalRaw: optional(amount()),
})
const accountAnswer = { head: headSchema, account: knownAccountSchema, unread: optional(unlistedSchema) }

const figures = ['valueRaw', 'freeCollateralRaw', 'collateralRaw', 'initialMarginRaw', 'maintenanceMarginRaw', 'notionalRaw'] as const

function missingFigure({ account, unread = [] }: PerpAccountAnswer): string | undefined {
  const missing = figures.find((name) => account[name] === undefined)
  return missing && unread.length === 0 ? `account.${missing} must be there, or unread must say which market it needs` : undefined
}

const fundingSchema = object<PerpFunding>({
  market: marketSchema,
  rate: ratioSchema,
  periodSeconds: integer(),
  index: priceSchema,
  mark: priceSchema,
  pendingRaw: signedAmount(),
  nextAt: optional(integer()),
})

const orderSchema = object<PerpOrder>({ market: marketNameSchema, side: oneOf('LONG', 'SHORT'), sizeRaw: positiveAmount() })

const quote = {
  order: orderSchema,
  market: marketSchema,
  // A bound computed from 0 would be no bound.
  quoteRaw: positiveAmount(),
  feeRaw: amount(),
  prices: pricesSchema,
  gasUnits: positiveAmount(),
  head: headSchema,
  after: optional(object<NonNullable<PerpQuote['after']>>({ sizeRaw: signedAmount(), openNotionalRaw: signedAmount() })),
  missingRaw: optional(amount()),
}
const quoteSchema = object<PerpQuote>({ ...quote, account: optional(accountSchema), position: optional(positionSchema) })
const closingSchema = object<PerpClosing>({ ...quote, account: accountSchema, position: positionSchema })

const fillSchema = object<PerpFill>({
  market: marketNameSchema,
  sizeRaw: positiveAmount(),
  quoteRaw: amount(),
  feeRaw: amount(),
  realizedProfitRaw: signedAmount(),
  fundingRaw: optional(signedAmount()),
  closedRatio: optional(priceSchema),
})

const liquidationSchema = object<PerpLiquidation>({
  txHash: text(),
  blockNumber: integer(),
  sizeRaw: amount(),
  effect: optional(
    object<PerpLiquidationEffect>({
      side: oneOf('LONG', 'SHORT'),
      feeRaw: amount(),
      realizedProfitRaw: signedAmount(),
      fundingRaw: signedAmount(),
    }),
  ),
})

type Market = { readonly id: string }

/** An answer about another market or order than the requested one would go into bounds, and be shown as the requested one's. */
const marketMismatch = (path: string, market: Market, requested: Market): string | undefined =>
  market.id === requested.id ? undefined : `${path} must be the requested one`

function orderMismatch({ order, market, position }: PerpQuote, requested: Market): string | undefined {
  return (
    marketMismatch('market', market, requested) ??
    marketMismatch('order.market', order.market, market) ??
    (position && marketMismatch('position.market', position.market, requested))
  )
}

function closingMismatch({ position, order }: PerpClosing): string | undefined {
  const held = position.sizeRaw
  if (order.side !== (held > 0n ? 'SHORT' : 'LONG')) return 'order.side must be opposite to that of the position'
  return order.sizeRaw > (held < 0n ? -held : held) ? 'order.sizeRaw must be at most the size of the position' : undefined
}

export const perpAMMContract: Contract<PerpAMM> = {
  typicalGasUnits: property(amount()),
  ...slippageContract,
  listMarkets: answers(
    object<Awaited<ReturnType<PerpAMM['listMarkets']>>>({
      markets: eachOf(marketNameSchema, maxMarkets, { nameOf: ({ base, quote: in_ }) => `${base}${in_}`, sameName: 'in any letter case' }),
      settlement: collateralSchema,
      unlisted: optional(unlistedSchema),
    }),
  ),
  prices: answers(
    object<{ head: Head; market: PerpMarket; prices: PerpPrices }>({ head: headSchema, market: marketSchema, prices: pricesSchema }),
    ({ market }, [requested]) => marketMismatch('market', market, requested),
  ),
  position: answers(
    object<PerpAccountAnswer & { position: PerpPosition }>({ ...accountAnswer, position: positionSchema }),
    (answer, [, requested]) => marketMismatch('position.market', answer.position.market, requested) ?? missingFigure(answer),
  ),
  account: answers(object<PerpAccountAnswer>(accountAnswer), missingFigure),
  // Not one by one: a position that is missing would be taken for one that is closed.
  funding: answers(
    object<Awaited<ReturnType<PerpAMM['funding']>>>({
      head: headSchema,
      funding: list(fundingSchema, maxMarkets),
      unread: optional(unlistedSchema),
    }),
  ),
  quote: answers(quoteSchema, (answer, [requested, owner]) => {
    const { side, sizeRaw } = answer.order
    if (side !== requested.side || sizeRaw !== requested.sizeRaw) return 'order must be the requested order'
    if (owner !== undefined && (!answer.position || !answer.account)) return 'position and account must be those of the wallet'
    return orderMismatch(answer, requested.market)
  }),
  quoteClose: answers(orNothing(closingSchema), (answer, [, requested]) =>
    answer ? (orderMismatch(answer, requested) ?? closingMismatch(answer)) : undefined,
  ),
  open: answers(planSchema),
  close: answers(planSchema),
  collateral: answers(
    object<PerpCollateral>({ token: collateralSchema, depositedRaw: amount(), withdrawableRaw: optional(amount()), head: headSchema }),
    ({ token }, [, requested]) => (token.address === requested.address ? undefined : 'token must be the requested one'),
  ),
  transferCollateral: answers(planSchema),
  perpFill: answers(orNothing(fillSchema), (fill) => {
    const ratio = fill?.closedRatio
    return ratio && ratio.numerator > ratio.denominator ? 'closedRatio must be at most 1' : undefined
  }),
  liquidations: answers(list(liquidationSchema, maxMarkets)),
  liquidationsFrom: answers(integer()),
}
