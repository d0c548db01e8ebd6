// The rules: what each looks at, what it is about, and what to do. Thresholds: core/config/alerts-file.ts.
import type { RuleName } from '../config/alerts-file.ts'
import { certificateExpiring } from './rules/certificates.ts'
import { limitNearlyUsed, limitReached } from './rules/limits.ts'
import { networkBehind, nodeBehind, nodeFlapping } from './rules/nodes.ts'
import { lowGas, nearLiquidation, outOfRange } from './rules/portfolio.ts'
import { booksDiffer, memoryDiffers, noQuote, pluginQuarantined, stuckTransaction } from './rules/service.ts'
import { approvalWaits, clientsFileWrong, noGoodNode, notReady, pluginRefused, tradingStopped } from './rules/waiting.ts'
import type { Rule } from './sources.ts'

export const rules: { readonly [Name in RuleName]: Rule<Name> } = {
  notReady,
  noGoodNode,
  approvalWaits,
  tradingStopped,
  clientsFileWrong,
  pluginRefused,
  lowGas,
  stuckTransaction,
  nodeBehind,
  nodeFlapping,
  networkBehind,
  limitNearlyUsed,
  limitReached,
  booksDiffer,
  pluginQuarantined,
  nearLiquidation,
  outOfRange,
  certificateExpiring,
  memoryDiffers,
  noQuote,
}
