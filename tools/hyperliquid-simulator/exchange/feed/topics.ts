import { activeAssetCtx, allMids, bbo, l2Book, trades } from './markets.ts'
import type { Topic } from './topic.ts'
import {
  activeAssetData,
  clearinghouseState,
  openOrders,
  orderUpdates,
  spotState,
  userEvents,
  userFills,
  userFundings,
  userNonFundingLedgerUpdates,
} from './users.ts'

/** All that can be subscribed to, by its type. */
export const topics: Readonly<Record<string, Topic>> = {
  activeAssetCtx,
  activeAssetData,
  allMids,
  bbo,
  clearinghouseState,
  l2Book,
  openOrders,
  orderUpdates,
  spotState,
  trades,
  userEvents,
  userFills,
  userFundings,
  userNonFundingLedgerUpdates,
}
