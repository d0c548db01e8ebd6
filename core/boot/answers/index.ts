import type { TradingType } from '../../contracts/index.ts'
import { ammChecks } from '../../loader/amm-answers.ts'
import { ammRangeChecks } from './amm-range.ts'
import type { Check } from './check.ts'
import { marginClobChecks, perpClobChecks } from './clob-accounts.ts'
import { clobChecks } from '../../loader/order-book-answers.ts'
import { perpAMMChecks } from '../../loader/perp-answers.ts'

export { followedPricingChecks } from '../../loader/amm-answers.ts'

/** By trading type and verb. Types are gone when a plugin runs, and what it gives goes into the bounds of transactions. */
export const answerChecks: Readonly<Record<TradingType, Readonly<Record<string, Check>>>> = {
  AMM: ammChecks,
  AMM_RANGE: ammRangeChecks,
  PERP_AMM: perpAMMChecks,
  CLOB: clobChecks,
  MARGIN_CLOB: marginClobChecks,
  PERP_CLOB: perpClobChecks,
}
