import { clobMarginEndpoints } from './margin.ts'
import { clobPerpEndpoints } from './perp.ts'
import { clobEndpoints } from './spot.ts'

export const orderBookEndpoints = [...clobEndpoints, ...clobMarginEndpoints, ...clobPerpEndpoints]

export * from './accounts.ts'
export { OrderStates, OrderTypes, TimesInForce } from '../clob.ts'
export {
  CLOBBalancesRequest,
  CLOBBalancesResponse,
  CLOBEstimateGasRequest,
  CLOBEstimateGasResponse,
  CLOBPerpLeverageRequest,
  CLOBPerpLeverageResponse,
} from '../clob.ts'
export * from './margin.ts'
export * from '../clob.ts'
export {
  CLOBBatchOrdersResponse,
  CLOBOrdersDeleteRequest,
  CLOBOrdersDeleteResponse,
  CLOBOrdersPostResponse,
  CLOBOrdersRequest,
  CLOBOrdersResponse,
} from '../clob.ts'
export * from './perp.ts'
export * from './spot.ts'
