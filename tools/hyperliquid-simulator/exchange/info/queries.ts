import { l2Book, recentTrades } from './books.ts'
import { userFills, userFillsByTime, userFunding, userNonFundingLedgerUpdates } from './fills.ts'
import { allBorrowLendReserveStates, borrowLendReserveState, borrowLendUserState, userBorrowLendInterest } from './lending.ts'
import { allMids, exchangeStatus, fundingHistory, meta, metaAndAssetCtxs, spotMeta, spotMetaAndAssetCtxs } from './markets.ts'
import { frontendOpenOrders, historicalOrders, openOrders, orderStatus } from './orders.ts'
import { activeAssetData, clearinghouseState } from './perp-account.ts'
import type { Query } from './query.ts'
import { spotClearinghouseState } from './spot-account.ts'
import {
  extraAgents,
  preTransferCheck,
  subAccounts,
  userAbstraction,
  userDexAbstraction,
  userFees,
  userRateLimit,
  userRole,
} from './wallets.ts'

/** All that can be asked, by the type of the question. */
export const queries: Readonly<Record<string, Query>> = {
  activeAssetData,
  allBorrowLendReserveStates,
  allMids,
  borrowLendReserveState,
  borrowLendUserState,
  clearinghouseState,
  exchangeStatus,
  extraAgents,
  frontendOpenOrders,
  fundingHistory,
  historicalOrders,
  l2Book,
  meta,
  metaAndAssetCtxs,
  openOrders,
  orderStatus,
  preTransferCheck,
  recentTrades,
  spotClearinghouseState,
  spotMeta,
  spotMetaAndAssetCtxs,
  subAccounts,
  userAbstraction,
  userBorrowLendInterest,
  userDexAbstraction,
  userFees,
  userFills,
  userFillsByTime,
  userFunding,
  userNonFundingLedgerUpdates,
  userRateLimit,
  userRole,
}
