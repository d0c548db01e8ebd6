// Requests that wait for a second person: what they are, what they would do, and the decision.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { endpoint, pageFields, refusalFields, request, response } from './endpoint.ts'

/** waiting → approved → done; or refused, denied, withdrawn, or expired. */
export const approvalStates = ['waiting', 'approved', 'done', 'refused', 'denied', 'withdrawn', 'expired'] as const
export type ApprovalState = (typeof approvalStates)[number]

const Amounts = Type.Array(
  Type.Object({
    token: Type.String({ description: 'Its address, or the symbol by which an exchange names it.' }),
    symbol: Type.Optional(Type.String()),
    amount: Type.String({ description: 'A decimal string; in smallest units where the symbol is missing.' }),
  }),
)

const Effect = Type.Object({
  gives: Type.Optional(Type.Unsafe<Static<typeof Amounts>>({ ...Amounts, description: 'Leaves the wallet at most, without fees.' })),
  gets: Type.Optional(Type.Unsafe<Static<typeof Amounts>>({ ...Amounts, description: 'Comes at least.' })),
  valueGiven: Type.Optional(
    Type.String({
      description:
        'What it gives at most, at the market now or at the median of the last minutes, whichever is more; in the reference token. Absent: no market tells.',
    }),
  ),
  valueLost: Type.Optional(
    Type.String({ description: 'What it loses at most against the market, in the reference token. Absent: no market tells.' }),
  ),
  maxFee: Type.Optional(Type.String({ description: 'Of all its transactions at most, by the simulation; in the coin of the network.' })),
  feeToken: Type.Optional(Type.String()),
  answer: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'What its endpoint would answer, without hash and nonce.' }),
  ),
})
/** What a request does, as it is planned and simulated at one moment. */
export type RequestEffect = Static<typeof Effect>

/** A request that waits, or waited, as callers see it. */
export const ShownApproval = Type.Object({
  id: Type.Integer(),
  state: Type.Enum(approvalStates, {
    description:
      'waiting; approved: it is being carried out, or its server died; done: its transaction is signed; refused: a limit, the market or the rights of its client refused it when it was approved; denied; withdrawn by its client; expired.',
  }),
  revoked: Type.Optional(
    Type.Boolean({
      description:
        'In GET /approvals and events, of one that waits or is approved: the certificate that asked is revoked, so it is never carried out.',
    }),
  ),
  client: Type.String({ description: 'Who asked.' }),
  path: Type.String({ description: 'Of its endpoint.' }),
  address: Type.String({ description: 'Its wallet.' }),
  request: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Its fields. With limitPrice where it had none: the worst price that was shown when it began to wait.',
  }),
  effect: Type.Unsafe<RequestEffect>({ ...Effect, description: 'What it did when it began to wait.' }),
  madeAt: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  expiresAt: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  decidedBy: Type.Optional(Type.String({ description: 'The client that approved, denied or withdrew it.' })),
  decidedAt: Type.Optional(Type.Number({ description: 'Milliseconds since the Unix epoch.' })),
  requestId: Type.String({ description: 'Its transactions have it, too: `GET /transactions?requestId=…`.' }),
  idempotencyKey: Type.String({ description: 'Its own, or the one that the server made for it.' }),
  answer: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Of a request that is done: what its endpoint answered.' }),
  ),
  refusal: Type.Optional(Type.Object(refusalFields, { description: 'Of one that is refused: the error that its Idempotency-Key gets.' })),
})
export type ShownApproval = Static<typeof ShownApproval>

const Id = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  expects: 'the id of a request that waits, such as 17',
  description: '`id` in `GET /approvals`, and in the details of PENDING_APPROVAL.',
})

export const ApprovalsRequest = request({
  id: Type.Optional(Id),
  state: Type.Optional(
    Type.Enum(approvalStates, { expects: `one of ${approvalStates.join(', ')}`, description: 'Only those in this state.' }),
  ),
  ...pageFields,
})
export const ApprovalsResponse = response({
  approvals: Type.Array(ShownApproval, { description: 'Newest first.' }),
  mayDecide: Type.Boolean({ description: 'Whether the caller has the permission approve.' }),
  nextCursor: Type.Optional(Type.String({ description: 'There may be more: request them with this as `cursor`.' })),
})

export const ApprovalsPreviewRequest = request({ id: Id })
export const ApprovalsPreviewResponse = response({
  approval: ShownApproval,
  effect: Type.Optional(Type.Unsafe<RequestEffect>({ ...Effect, description: 'What it would do now, by a simulation at the node.' })),
  error: Type.Optional(Type.Object(refusalFields, { description: 'Why it would be refused now.' })),
})

export const ApprovalsApproveRequest = request({ id: Id })
export const ApprovalsApproveResponse = ShownApproval
export const ApprovalsDenyRequest = request({ id: Id })
export const ApprovalsDenyResponse = ShownApproval
export const ApprovalsWithdrawRequest = request({ id: Id })
export const ApprovalsWithdrawResponse = ShownApproval

export type ApprovalsRequest = Static<typeof ApprovalsRequest>
export type ApprovalsResponse = Static<typeof ApprovalsResponse>
export type ApprovalsPreviewRequest = Static<typeof ApprovalsPreviewRequest>
export type ApprovalsPreviewResponse = Static<typeof ApprovalsPreviewResponse>
export type ApprovalsApproveRequest = Static<typeof ApprovalsApproveRequest>
export type ApprovalsApproveResponse = Static<typeof ApprovalsApproveResponse>
export type ApprovalsDenyRequest = Static<typeof ApprovalsDenyRequest>
export type ApprovalsDenyResponse = Static<typeof ApprovalsDenyResponse>
export type ApprovalsWithdrawRequest = Static<typeof ApprovalsWithdrawRequest>
export type ApprovalsWithdrawResponse = Static<typeof ApprovalsWithdrawResponse>

const service = { set: 'Service', on: 'service' } as const

export const approvalEndpoints = [
  endpoint({
    ...service,
    method: 'GET',
    permission: 'read',
    name: 'Approvals',
    path: '/approvals',
    summary:
      "The caller's requests that wait, or waited, for a second person. With approve or admin those of others, too, for its wallets.",
    request: ApprovalsRequest,
    response: ApprovalsResponse,
  }),
  endpoint({
    ...service,
    method: 'GET',
    permission: 'approve',
    name: 'ApprovalsPreview',
    path: '/approvals/preview',
    summary: 'What a request that waits would do now: planned anew and simulated at the node. Nothing is signed.',
    request: ApprovalsPreviewRequest,
    response: ApprovalsPreviewResponse,
  }),
  endpoint({
    ...service,
    method: 'POST',
    permission: 'approve',
    name: 'ApprovalsApprove',
    path: '/approvals/approve',
    summary:
      'Approves a request of another client, and carries it out: planned anew, within its own bound, with the rights and limits of its client now. An error is that of the request. A limit, the market check and the rights of its client end it for good; after other errors it waits on.',
    errors: [
      'APPROVAL_DENIED',
      'APPROVAL_EXPIRED',
      'APPROVAL_WITHDRAWN',
      'IN_FLIGHT',
      'TRADE_FAILED',
      'LIMIT_EXCEEDED',
      'STOPPED',
      'INSUFFICIENT_BALANCE',
    ],
    request: ApprovalsApproveRequest,
    response: ApprovalsApproveResponse,
  }),
  endpoint({
    ...service,
    method: 'POST',
    permission: 'approve',
    name: 'ApprovalsDeny',
    path: '/approvals/deny',
    summary: 'Denies a request of another client. Nothing is signed for it.',
    errors: ['APPROVAL_EXPIRED', 'APPROVAL_WITHDRAWN', 'IN_FLIGHT', 'LIMIT_EXCEEDED'],
    request: ApprovalsDenyRequest,
    response: ApprovalsDenyResponse,
  }),
  endpoint({
    ...service,
    method: 'POST',
    permission: 'read',
    name: 'ApprovalsWithdraw',
    path: '/approvals/withdraw',
    summary: "Withdraws a request of the caller's own that waits. Nothing is signed for it.",
    errors: ['APPROVAL_DENIED', 'APPROVAL_EXPIRED', 'IN_FLIGHT', 'LIMIT_EXCEEDED'],
    request: ApprovalsWithdrawRequest,
    response: ApprovalsWithdrawResponse,
  }),
]
