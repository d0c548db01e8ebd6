// What waits for a second person: showing it, what it would do now, and the decision.
import type { ShownApproval } from '../api/index.ts'
import { badFields, errorFields, SluiceError } from '../base/errors.ts'
import type { Approval } from '../limits/approvals.ts'
import { hasPermission, mayUseWallet, visibleWallets, type Caller, type Handlers, type RequestContext } from './context.ts'
import { badCursor, readLimit } from './pages.ts'

export const approvalHandlers = {
  Approvals: async ({ id, state, limit: asked, cursor }, { services, caller }) => {
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw badCursor()
    const limit = readLimit(asked, services.settings)
    const of = !seesOthers(caller)
      ? { client: caller.id }
      : caller.wallets === 'all'
        ? {}
        : { client: caller.id, addresses: visibleWallets(caller) }
    const before = cursor === undefined ? undefined : Number(cursor)
    const found = await services.approvals.list({ id, state, before, ...of, limit: limit + 1 })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const approvals = await Promise.all(page.map(async (each) => showApproval(each, await services.approvals.isRevoked(each))))
    return { approvals, mayDecide: hasPermission(caller, 'approve'), ...(found.length > limit && last && { nextCursor: String(last.id) }) }
  },

  ApprovalsPreview: async ({ id }, context) => {
    const approval = await findFor(id, context)
    try {
      return { approval: showApproval(approval), effect: await context.services.approvalRuns.preview(approval, context.signal) }
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      return { approval: showApproval(approval), error: errorFields(error) }
    }
  },

  ApprovalsApprove: async ({ id }, context) => {
    const { services, caller, signal } = context
    const approval = await findFor(id, context)
    if (approval.state === 'done') return showApproval(approval)
    requireOther(approval, caller)
    if (hasEnded(approval)) throw notWaiting(approval)
    // One that is approved already is carried out again: its server may have died.
    if (approval.state === 'waiting' && !(await services.approvals.change(id, ['waiting'], 'approved', caller.id)))
      return decidedElsewhere(await findFor(id, context))
    try {
      await services.approvalRuns.run(approval, signal)
    } catch (error) {
      if (isRefusal(error)) await services.approvals.change(id, ['approved'], 'waiting', caller.id).catch(() => false)
      throw error
    }
    return showApproval((await services.approvals.find({ id })) ?? approval)
  },

  ApprovalsDeny: async ({ id }, context) => {
    const approval = await findFor(id, context)
    requireOther(approval, context.caller)
    return endAs('denied', approval, context)
  },

  ApprovalsWithdraw: async ({ id }, context) => {
    const { caller } = context
    const approval = await findFor(id, context)
    if (approval.client !== caller.id)
      throw new SluiceError(
        'FORBIDDEN',
        `The request ${id} is of the client "${approval.client}", which alone may withdraw it. Who has the permission approve may deny it.`,
      )
    return endAs('withdrawn', approval, context)
  },
} satisfies Partial<Handlers>

/** @throws SluiceError IN_FLIGHT, APPROVAL_DENIED, APPROVAL_EXPIRED, APPROVAL_WITHDRAWN */
async function endAs(
  state: 'denied' | 'withdrawn',
  approval: Approval,
  { services, caller }: Pick<RequestContext, 'services' | 'caller'>,
): Promise<ShownApproval> {
  if (approval.state === state) return showApproval(approval)
  if (hasEnded(approval)) throw notWaiting(approval)
  if (approval.state === 'done') throw isDone(approval)
  await services.approvalRuns.end(approval, state, caller.id)
  return showApproval((await services.approvals.find({ id: approval.id })) ?? approval)
}

/** Nothing was signed for it, and nothing will be. */
const hasEnded = ({ state }: Approval): boolean => state === 'refused' || state === 'denied' || state === 'withdrawn' || state === 'expired'

/** It did nothing for certain. Of others nobody knows yet: another approval is carried out, or the outcome is not stored. */
const isRefusal = (error: unknown): boolean => error instanceof SluiceError && error.name !== 'IN_FLIGHT' && error.name !== 'TIMEOUT'

/** @throws SluiceError INCOMPLETE_PARAMS where there is none that the caller may see */
async function findFor(id: number, { services, caller }: Pick<RequestContext, 'services' | 'caller'>): Promise<Approval> {
  const approval = await services.approvals.find({ id })
  if (approval && (approval.client === caller.id || mayUseWallet(caller, approval.address))) return approval
  throw badFields([
    {
      field: 'id',
      problem: `${id} is no request that waits, or it is of a wallet that the client "${caller.id}" may not use; GET /approvals lists them`,
    },
  ])
}

/** @throws SluiceError FORBIDDEN */
function requireOther({ id, client, certificate }: Approval, caller: Caller): void {
  if (client !== caller.id && client !== caller.formerId && certificate !== caller.fingerprint) return
  throw new SluiceError(
    'FORBIDDEN',
    `The request ${id} is the client's own: it takes another client, with another certificate and the permission approve.`,
  )
}

/** Somebody else was faster. @throws SluiceError IN_FLIGHT, APPROVAL_DENIED, APPROVAL_EXPIRED, APPROVAL_WITHDRAWN */
function decidedElsewhere(approval: Approval): ShownApproval {
  if (approval.state === 'done') return showApproval(approval)
  if (hasEnded(approval)) throw notWaiting(approval)
  throw new SluiceError('IN_FLIGHT', `The request ${approval.id} is being approved by somebody else.`, { retryAfterSeconds: 1 })
}

export const isDone = ({ id }: Pick<Approval, 'id'>) =>
  new SluiceError(
    'IN_FLIGHT',
    `The request ${id} was approved and carried out before: its transaction is signed. To end it: bin/sluice tx cancel.`,
    {
      details: { id },
    },
  )

/** What became of a request that is not to be carried out. */
export function notWaiting({ id, state, decidedBy, refusal }: Pick<Approval, 'id' | 'state' | 'decidedBy' | 'refusal'>): SluiceError {
  if (refusal)
    return new SluiceError(
      refusal.name,
      `The request ${id} was approved, and refused for good then: ${refusal.message} To ask again, send a new one with a new Idempotency-Key.`,
      { details: refusal.details },
    )
  const [name, message] =
    state === 'denied'
      ? (['APPROVAL_DENIED', `${decidedBy ?? 'Somebody'} has denied the request ${id}: nothing was signed.`] as const)
      : state === 'withdrawn'
        ? (['APPROVAL_WITHDRAWN', `The request ${id} was withdrawn by its client: nothing was signed.`] as const)
        : ([
            'APPROVAL_EXPIRED',
            `The request ${id} was not approved in time: nothing was signed. Send a new one, with a new Idempotency-Key.`,
          ] as const)
  return new SluiceError(name, message, { details: { id } })
}

/** Whether the caller may see it: its own, and with approve or admin those of its wallets. */
export const isApprovalShownTo = (caller: Caller, { client, address }: Approval): boolean =>
  client === caller.id || (seesOthers(caller) && mayUseWallet(caller, address))

const seesOthers = (caller: Caller): boolean => hasPermission(caller, 'approve') || hasPermission(caller, 'admin')

export function showApproval(approval: Approval, isRevoked = false): ShownApproval {
  const { id, state, client, path, address, request, bound, effect, madeAt, expiresAt, decidedBy, decidedAt } = approval
  const { requestId, key, answer, refusal } = approval
  return {
    id,
    state,
    ...(isRevoked && { revoked: true }),
    client,
    path,
    address,
    request: { ...request, ...bound },
    effect,
    madeAt,
    expiresAt,
    ...(decidedBy !== undefined && { decidedBy }),
    ...(decidedAt !== undefined && { decidedAt }),
    requestId,
    idempotencyKey: key,
    ...(answer && { answer: JSON.parse(answer.body) as Record<string, unknown> }),
    ...(refusal && { refusal: errorFields(new SluiceError(refusal.name, refusal.message, { details: refusal.details })) }),
  }
}
