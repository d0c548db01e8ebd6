import type { Action } from './action.ts'
import { approveAgent } from './agents.ts'
import { cancel, cancelByCloid, noop, scheduleCancel } from './cancels.ts'
import { agentSetAbstraction, borrowLend, userPortfolioMargin, userSetAbstraction } from './lending.ts'
import { updateIsolatedMargin, updateLeverage } from './leverage.ts'
import { batchModify, modify, order } from './orders.ts'
import { spotSend, usdClassTransfer, usdSend, withdraw3 } from './transfers.ts'

/** All that can be done, by the type of the action. */
export const actions: Readonly<Record<string, Action>> = {
  agentSetAbstraction,
  approveAgent,
  batchModify,
  borrowLend,
  cancel,
  cancelByCloid,
  modify,
  noop,
  order,
  scheduleCancel,
  spotSend,
  updateIsolatedMargin,
  updateLeverage,
  usdClassTransfer,
  usdSend,
  userPortfolioMargin,
  userSetAbstraction,
  withdraw3,
}
