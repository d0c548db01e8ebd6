// The interface for callers, "sluice/api". Routes, validators, serializers, types and the OpenAPI document come from this list of endpoints.
import { alertEndpoints } from './alerts.ts'
import { altchainEndpoints } from './altchain.ts'
import { approvalEndpoints } from './approvals.ts'
import { ammEndpoints } from './amm.ts'
import { booksVerifyEndpoints } from './books-verify.ts'
import { ammRangeEndpoints } from './range.ts'
import { ammSharesEndpoints } from './shares.ts'
import { clobEndpoints } from './clob.ts'
import { clobMarginEndpoints, clobPerpEndpoints } from './clob-leveraged.ts'
import { connectorEndpoints } from './plugins.ts'
import { serviceEndpoints } from './service.ts'
import { bookEndpoints } from './books.ts'
import { ledgerEndpoints } from './ledger.ts'
import { transactionEndpoints } from './transactions.ts'
import { evmEndpoints } from './evm.ts'
import { networkEndpoints } from './network.ts'
import { perpAMMEndpoints } from './perp.ts'
import { portfolioEndpoints } from './portfolio.ts'

export const orderBookEndpoints = [...clobEndpoints, ...clobMarginEndpoints, ...clobPerpEndpoints]

export const endpoints = [
  ...serviceEndpoints,
  ...alertEndpoints,
  ...approvalEndpoints,
  ...transactionEndpoints,
  ...booksVerifyEndpoints,
  ...bookEndpoints,
  ...ledgerEndpoints,
  ...networkEndpoints,
  ...evmEndpoints,
  ...altchainEndpoints,
  ...connectorEndpoints,
  ...ammEndpoints,
  ...ammRangeEndpoints,
  ...ammSharesEndpoints,
  ...portfolioEndpoints,
  ...perpAMMEndpoints,
  ...orderBookEndpoints,
]

export type AnyEndpoint = (typeof endpoints)[number]
export type EndpointName = AnyEndpoint['name']
export type EndpointByName<N extends EndpointName> = Extract<AnyEndpoint, { name: N }>

export * from '../base/errors.ts'
export * from './alerts.ts'
export * from './altchain.ts'
export * from './amm.ts'
export * from './approvals.ts'
export * from './books-verify.ts'
export {
  CLOBMarketsRequest,
  CLOBMarketsResponse,
  CLOBOrderBookRequest,
  CLOBOrderBookResponse,
  CLOBTickerRequest,
  CLOBTickerResponse,
  CLOBTradesRequest,
  CLOBTradesResponse,
  OrderTypes,
  TimesInForce,
} from './clob-markets.ts'
export {
  clobEndpoints,
  CLOBBalancesRequest,
  CLOBBalancesResponse,
  CLOBBatchOrdersRequest,
  CLOBBatchOrdersResponse,
  CLOBDepositRequest,
  CLOBDepositResponse,
  CLOBEstimateGasRequest,
  CLOBEstimateGasResponse,
  CLOBOrdersDeleteRequest,
  CLOBOrdersDeleteResponse,
  CLOBOrdersPostRequest,
  CLOBOrdersPostResponse,
  CLOBOrdersRequest,
  CLOBOrdersResponse,
  CLOBWithdrawRequest,
  CLOBWithdrawResponse,
  OrderStates,
} from './clob.ts'
export * from './clob-leveraged.ts'
export * from './events.ts'
export * from './evm.ts'
export * from './limits.ts'
export * from './network.ts'
export * from './perp.ts'
export * from './plugins.ts'
export * from './portfolio.ts'
export * from './range.ts'
export * from './service.ts'
export * from './shares.ts'
export * from './books.ts'
export * from './ledger.ts'
export * from './transactions.ts'
export { errorsOf, permissions, permissionUses } from './endpoint.ts'
export { interfaceVersion } from './version.ts'
export type { AnswerOf, BookSet, Endpoint, Permission, RequestOf, ResponseOf, Target } from './endpoint.ts'
