import type { TradingType } from '../../contracts/index.ts'
import { ammChecks } from './amm.ts'
import { ammRangeChecks } from './amm-range.ts'
import type { Check } from './check.ts'
import { marginClobChecks, perpClobChecks } from './clob-accounts.ts'
import { clobChecks } from './clob.ts'
import { perpAMMChecks } from './perp-amm.ts'

export { followedPricingChecks } from './amm.ts'

/** By trading type and verb. Types are gone when a plugin runs, and what it gives goes into the bounds of transactions. */
export const answerChecks: Readonly<Record<TradingType, Readonly<Record<string, Check>>>> = {
  AMM: ammChecks,
  AMM_RANGE: ammRangeChecks,
  PERP_AMM: perpAMMChecks,
  CLOB: clobChecks,
  MARGIN_CLOB: marginClobChecks,
  PERP_CLOB: perpClobChecks,
}
