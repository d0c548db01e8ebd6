import type { Static } from 'typebox'
import { bookEndpoints, orderFields, batchOrdersRequest, ordersPostRequest } from '../clob.ts'

export const CLOBOrdersPostRequest = ordersPostRequest(orderFields)
export const CLOBBatchOrdersRequest = batchOrdersRequest(orderFields)
export type CLOBOrdersPostRequest = Static<typeof CLOBOrdersPostRequest>
export type CLOBBatchOrdersRequest = Static<typeof CLOBBatchOrdersRequest>
export {
  DepositRequest as CLOBDepositRequest,
  DepositResponse as CLOBDepositResponse,
  MoveRequest as CLOBWithdrawRequest,
  MoveResponse as CLOBWithdrawResponse,
} from '../clob.ts'

export const clobEndpoints = bookEndpoints(
  { set: 'CLOB', prefix: 'CLOB', root: '/clob' },
  { post: CLOBOrdersPostRequest, batch: CLOBBatchOrdersRequest },
)
