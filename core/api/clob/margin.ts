import type { Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { CLOBMarginAccountRequest, CLOBMarginAccountResponse } from './accounts.ts'
import { bookEndpoints, marginOrderFields, MoveRequest, MoveResponse, batchOrdersRequest, ordersPostRequest } from '../clob.ts'

export const CLOBMarginOrdersPostRequest = ordersPostRequest(marginOrderFields)
export const CLOBMarginBatchOrdersRequest = batchOrdersRequest(marginOrderFields)
export type CLOBMarginOrdersPostRequest = Static<typeof CLOBMarginOrdersPostRequest>
export type CLOBMarginBatchOrdersRequest = Static<typeof CLOBMarginBatchOrdersRequest>
export {
  CLOBMarketsRequest as CLOBMarginMarketsRequest,
  CLOBMarketsResponse as CLOBMarginMarketsResponse,
  CLOBTickerRequest as CLOBMarginTickerRequest,
  CLOBTickerResponse as CLOBMarginTickerResponse,
  CLOBOrderBookRequest as CLOBMarginOrderBookRequest,
  CLOBOrderBookResponse as CLOBMarginOrderBookResponse,
  CLOBTradesRequest as CLOBMarginTradesRequest,
  CLOBTradesResponse as CLOBMarginTradesResponse,
} from '../clob.ts'
export {
  CLOBOrdersRequest as CLOBMarginOrdersRequest,
  CLOBOrdersResponse as CLOBMarginOrdersResponse,
  CLOBOrdersPostResponse as CLOBMarginOrdersPostResponse,
  CLOBOrdersDeleteRequest as CLOBMarginOrdersDeleteRequest,
  CLOBOrdersDeleteResponse as CLOBMarginOrdersDeleteResponse,
  CLOBBatchOrdersResponse as CLOBMarginBatchOrdersResponse,
} from '../clob.ts'
export {
  CLOBBalancesRequest as CLOBMarginBalancesRequest,
  CLOBBalancesResponse as CLOBMarginBalancesResponse,
  CLOBEstimateGasRequest as CLOBMarginEstimateGasRequest,
  CLOBEstimateGasResponse as CLOBMarginEstimateGasResponse,
  DepositRequest as CLOBMarginDepositRequest,
  DepositResponse as CLOBMarginDepositResponse,
  MoveRequest as CLOBMarginWithdrawRequest,
  MoveResponse as CLOBMarginWithdrawResponse,
  MoveRequest as CLOBMarginBorrowRequest,
  MoveResponse as CLOBMarginBorrowResponse,
  MoveRequest as CLOBMarginRepayRequest,
  MoveResponse as CLOBMarginRepayResponse,
} from '../clob.ts'

const margin = { set: 'MARGIN_CLOB', on: 'connector', wallet: true } as const
const moving = {
  ...margin,
  method: 'POST',
  permission: 'trade',
  acts: true,
  errors: ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_ALLOWANCE', 'INSUFFICIENT_MARGIN'],
  request: MoveRequest,
  response: MoveResponse,
} as const

export const clobMarginEndpoints = [
  ...bookEndpoints(
    { set: 'MARGIN_CLOB', prefix: 'CLOBMargin', root: '/clob/margin', errors: ['INSUFFICIENT_MARGIN'] },
    { post: CLOBMarginOrdersPostRequest, batch: CLOBMarginBatchOrdersRequest },
  ),
  endpoint({
    ...margin,
    method: 'GET',
    permission: 'read',
    name: 'CLOBMarginAccount',
    path: '/clob/margin/account',
    summary: 'What a margin account is worth, owes and needs.',
    request: CLOBMarginAccountRequest,
    response: CLOBMarginAccountResponse,
  }),
  endpoint({ ...moving, name: 'CLOBMarginBorrow', path: '/clob/margin/borrow', summary: 'Borrows a token from the exchange.' }),
  endpoint({ ...moving, name: 'CLOBMarginRepay', path: '/clob/margin/repay', summary: 'Pays back what was borrowed.' }),
] as const
