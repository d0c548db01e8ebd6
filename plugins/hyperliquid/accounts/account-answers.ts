import Type, { type Static } from 'typebox'
import { decimal, shape, whole } from '../api/shape.ts'
import { perpMeta } from '../markets/market-answers.ts'

const summary = Type.Object({ accountValue: decimal, totalNtlPos: decimal, totalMarginUsed: decimal })
const position = Type.Object({
  coin: Type.String(),
  /** Below 0 of a short one. */
  szi: decimal,
  leverage: Type.Object({ type: Type.String(), value: whole }),
  entryPx: Type.Union([decimal, Type.Null()]),
  positionValue: decimal,
  unrealizedPnl: decimal,
  liquidationPx: Type.Union([decimal, Type.Null()]),
  maxLeverage: whole,
})
export type WirePosition = Static<typeof position>

const perpStateShape = Type.Object({
  marginSummary: summary,
  crossMaintenanceMarginUsed: decimal,
  withdrawable: decimal,
  assetPositions: Type.Array(Type.Object({ position })),
  time: whole,
})
export type PerpState = Static<typeof perpStateShape>
export const perpState = shape(perpStateShape)

const pairs = Type.Optional(Type.Array(Type.Tuple([whole, decimal])))
const spotStateShape = Type.Object({
  balances: Type.Array(
    Type.Object({
      coin: Type.String(),
      token: whole,
      total: decimal,
      hold: decimal,
      /** What of the total is lent, with portfolio margin. */
      supplied: Type.Optional(decimal),
    }),
  ),
  /** Of accounts with portfolio margin. */
  portfolioMarginRatio: Type.Optional(decimal),
  tokenToAvailableAfterMaintenance: pairs,
})
export type SpotState = Static<typeof spotStateShape>
export const spotState = shape(spotStateShape)

const owed = Type.Object({ value: decimal })
/** Whatever `health` says: the client library's schema knows healthy accounts only. */
const lendingShape = Type.Object({ tokenToState: Type.Array(Type.Tuple([whole, Type.Object({ borrow: owed, supply: owed })])) })
export type Lending = Static<typeof lendingShape>
export const lending = shape(lendingShape)

const reservesShape = Type.Array(Type.Tuple([whole, Type.Object({ borrowYearlyRate: decimal, oraclePx: decimal, ltv: decimal })]))
export type Reserves = Static<typeof reservesShape>
export const reserves = shape(reservesShape)

/** How a wallet's balances are kept: "default", "disabled", "unifiedAccount", "portfolioMargin" or what may come. */
export const abstraction = shape(Type.Union([Type.String(), Type.Null()]))

export const activeAsset = shape(
  Type.Object({
    leverage: Type.Object({ type: Type.String(), value: whole }),
    /** In dollars: to buy for, and to sell for. */
    availableToTrade: Type.Tuple([decimal, decimal]),
  }),
)

export const perpContexts = shape(Type.Tuple([perpMeta, Type.Array(Type.Object({ markPx: decimal, oraclePx: decimal, funding: decimal }))]))

const fundingShape = Type.Array(
  Type.Object({ time: whole, delta: Type.Object({ coin: Type.String(), usdc: decimal, fundingRate: decimal }) }),
)
export type WireFunding = Static<typeof fundingShape>[number]
export const fundings = shape(fundingShape)
