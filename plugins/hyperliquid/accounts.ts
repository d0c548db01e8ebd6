import { decimal, either, list, nothing, object, pair, shape, text, whole } from './shape.ts'
import type { Of } from './shape.ts'
import { perpMeta } from './markets/market-answers.ts'

const summary = object({ accountValue: decimal, totalNtlPos: decimal, totalMarginUsed: decimal })
const position = object({
  coin: text,
  /** Below 0 of a short one. */
  szi: decimal,
  leverage: object({ type: text, value: whole }),
  entryPx: either(decimal, nothing),
  positionValue: decimal,
  unrealizedPnl: decimal,
  liquidationPx: either(decimal, nothing),
  maxLeverage: whole,
})
export type WirePosition = Of<typeof position>

const perpStateShape = object({
  marginSummary: summary,
  crossMaintenanceMarginUsed: decimal,
  withdrawable: decimal,
  assetPositions: list(object({ position })),
})
export type PerpState = Of<typeof perpStateShape>
export const perpState = shape(perpStateShape)

const spotStateShape = object(
  {
    balances: list(
      object(
        { coin: text, token: whole, total: decimal, hold: decimal },
        {
          /** What of the total is lent, with portfolio margin. */
          supplied: decimal,
        },
      ),
    ),
  },
  {
    /** Of accounts with portfolio margin. */
    portfolioMarginRatio: decimal,
    tokenToAvailableAfterMaintenance: list(pair(whole, decimal)),
  },
)
export type SpotState = Of<typeof spotStateShape>
export const spotState = shape(spotStateShape)

const owed = object({ value: decimal })
/** Whatever `health` says: the client library's schema knows healthy accounts only. */
const lendingShape = object({ tokenToState: list(pair(whole, object({ borrow: owed, supply: owed }))) })
export type Lending = Of<typeof lendingShape>
export const lending = shape(lendingShape)

const reservesShape = list(pair(whole, object({ borrowYearlyRate: decimal, oraclePx: decimal, ltv: decimal })))
export type Reserves = Of<typeof reservesShape>
export const reserves = shape(reservesShape)

/** How a wallet's balances are kept: "default", "disabled", "unifiedAccount", "portfolioMargin" or what may come. */
export const abstraction = shape(either(text, nothing))

export const activeAsset = shape(
  object({
    leverage: object({ type: text, value: whole }),
    /** In dollars: to buy for, and to sell for. */
    availableToTrade: pair(decimal, decimal),
  }),
)

export const perpContexts = shape(pair(perpMeta, list(object({ markPx: decimal, oraclePx: decimal, funding: decimal }))))

const fundingShape = list(object({ time: whole, delta: object({ coin: text, usdc: decimal, fundingRate: decimal }) }))
export type WireFunding = Of<typeof fundingShape>[number]
export const fundings = shape(fundingShape)
