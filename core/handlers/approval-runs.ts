// Requests that wait for a second person: written down in place of being signed, and carried out later, each as its own client.
import { randomBytes } from 'node:crypto'
import type { RequestEffect } from '../api/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Client } from '../config/clients.ts'
import { HeldRequest } from '../limits/approval-check.ts'
import type { Approval, Approvals, Refusal } from '../limits/approvals.ts'
import { fingerprintOf, type Answer, type Idempotency } from '../transactions/idempotency.ts'
import { isDone, notWaiting } from './approvals.ts'
import { rightsOf, type ApprovalRuns, type Caller, type RequestFields, type Services } from './context.ts'

interface RunParts {
  readonly approvals: Approvals
  /** As they are now. */
  readonly clients: { readonly list: readonly Client[] }
  readonly idempotency: Idempotency
}

export function createApprovalRuns({ approvals, clients, idempotency }: RunParts): ApprovalRuns {
  let answer: Parameters<ApprovalRuns['runBy']>[0] = (endpoint) => {
    throw new Error(`Nobody calls ${endpoint} yet.`)
  }
  /** What is done here takes turns with others as the work of one client. */
  const payer = {}

  /** The client as it is now: its rights may have changed. @throws SluiceError FORBIDDEN */
  function callerOf({ client: id, certificate }: Approval): Caller {
    const client = clients.list.find(({ name }) => name === id)
    if (client) return { id, fingerprint: certificate, ...rightsOf(client) }
    throw new SluiceError('FORBIDDEN', `The client "${id}" has no entry in conf/clients.yml any more: nothing was signed for it.`)
  }

  async function callOf(approval: Approval, signal: AbortSignal) {
    if (await approvals.isRevoked(approval)) throw revoked(approval)
    return { caller: callerOf(approval), client: payer, requestId: approval.requestId, startedAt: performance.now(), signal }
  }

  /** Under its key, so that nobody carries it out meanwhile. @throws SluiceError IN_FLIGHT, or what became of it */
  async function endBy(approval: Approval, change: () => Promise<boolean>): Promise<void> {
    const { id, client, path, key, request, requestId } = approval
    const ended = new EndedError()
    try {
      await idempotency.once({
        key: { client, path, key },
        request,
        requestId,
        async act() {
          if (await change()) throw ended
          throw notWaiting((await approvals.find({ id })) ?? { ...approval, state: 'expired' })
        },
      })
    } catch (error) {
      if (error === ended) return
      throw error
    }
    throw isDone({ id })
  }

  return {
    runBy: (by) => void (answer = by),

    // Under its Idempotency-Key: at most one call has that at a time, on all servers, and its answer is stored with the signed bytes.
    run: async (approval, signal) => {
      const { id, endpoint, key, request, bound } = approval
      const call = { ...(await callOf(approval, signal)), key, waited: { mark: { is: 'approved', id } as const, bound } }
      try {
        return await answer(endpoint, call, request)
      } catch (error) {
        // If somebody carries it out meanwhile, that decides. If the store does not take it, the next attempt does.
        if (isForGood(error)) await endBy(approval, () => approvals.refuse(approval, refusalOf(error))).catch(() => {})
        throw error
      }
    },

    async preview(approval, signal): Promise<RequestEffect> {
      const { endpoint, request, bound } = approval
      const call = { ...(await callOf(approval, signal)), waited: { mark: { is: 'preview' } as const, bound } }
      try {
        const { body } = await answer(endpoint, call, request)
        // It would make no transaction.
        return { answer: JSON.parse(body) as Record<string, unknown> }
      } catch (error) {
        if (error instanceof HeldRequest) return error.effect
        throw error
      }
    },

    end: (approval, state, by) => endBy(approval, () => approvals.change(approval.id, ['waiting', 'approved'], state, by)),
  }
}

/** No other approval makes it another one: a limit, the market, or the rights of its client refuse it. What an operator mends is none of these. */
const isForGood = (error: unknown): error is SluiceError =>
  error instanceof SluiceError &&
  (error.name === 'LIMIT_EXCEEDED' || error.name === 'FORBIDDEN') &&
  error.retryAfterSeconds === undefined &&
  !(isObject(error.details) && ['quarantined', 'signer count'].includes(String(error.details['reason'])))

/** The message of an error is no property that JSON has. */
const refusalOf = ({ name, message, details }: SluiceError): Refusal => ({ name, message, details })

class EndedError extends Error {}

interface ActingRequest {
  readonly endpoint: { readonly name: string; readonly path: string; readonly request: { readonly properties: object } }
  readonly caller: Caller
  readonly requestId: string
  readonly key: string | undefined
  readonly request: RequestFields
  readonly signal: AbortSignal | undefined
}

/**
 * The answer of a request of a client whose large requests wait.
 * @throws SluiceError PENDING_APPROVAL where it waits; APPROVAL_DENIED, APPROVAL_EXPIRED, APPROVAL_WITHDRAWN for its key; that of the request
 */
export async function orWaiting(
  { endpoint, caller, requestId, key, request, signal }: ActingRequest,
  { approvals, approvalRuns }: Pick<Services, 'approvals' | 'approvalRuns'>,
  answer: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const { name, path } = endpoint
  const known = key === undefined ? undefined : await approvals.find({ client: caller.id, path, key })
  if (known) return outcomeOf(known, request, { approvals, approvalRuns }, signal ?? new AbortController().signal)
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof HeldRequest)) throw error
    const opened = await approvals.open({
      client: caller.id,
      certificate: caller.fingerprint,
      serialNumber: caller.serialNumber,
      endpoint: name,
      path,
      key: key ?? `approval-${randomBytes(12).toString('hex')}`,
      fingerprint: fingerprintOf(request),
      requestId,
      address: String(request['address'] ?? request['wallet_address']),
      request,
      bound: boundOf(request, error.effect, endpoint.request.properties),
      effect: error.effect,
    })
    throw pending(opened)
  }
}

/** What a repetition of a request with its Idempotency-Key gets. */
async function outcomeOf(
  known: Approval,
  request: RequestFields,
  { approvals, approvalRuns }: Pick<Services, 'approvals' | 'approvalRuns'>,
  signal: AbortSignal,
): Promise<Answer> {
  if (known.fingerprint !== fingerprintOf(request))
    throw new SluiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used with another request; use a new key for a new request.')
  if (known.answer) return known.answer
  if (known.state === 'waiting') throw (await approvals.isRevoked(known)) ? revoked(known) : pending(known)
  if (known.state !== 'approved') throw notWaiting(known)
  try {
    // It is being carried out, or the server that did died.
    return await approvalRuns.run(known, signal)
  } catch (error) {
    if (!(error instanceof SluiceError) || error.name !== 'APPROVAL_EXPIRED') throw error
    const now = await approvals.find({ id: known.id })
    // Whoever approved it was refused meanwhile.
    throw now?.state === 'waiting' ? pending(now) : error
  }
}

const revoked = ({ id, client }: Approval) =>
  new SluiceError(
    'FORBIDDEN',
    `The request ${id} was sent with a certificate of "${client}" that is revoked: it is never carried out, and nothing was signed for it. If it is still wanted, the client sends it again with its new certificate and a new Idempotency-Key.`,
    { details: { id } },
  )

const pending = ({ id, expiresAt }: Approval) =>
  new SluiceError(
    'PENDING_APPROVAL',
    `The request waits for a second person, as number ${id}, until ${new Date(expiresAt).toISOString()}: nothing was signed yet. Send it again with its Idempotency-Key to see its outcome, or look at GET /approvals?id=${id}.`,
    { details: { id, expiresAt } },
  )

/**
 * The worst price that was shown bounds a request without one from then on: what is approved later is not planned by the slippage of then.
 * @throws SluiceError INCOMPLETE_PARAMS for a batch in which an order has no price at all
 */
function boundOf({ limitPrice, create }: RequestFields, { answer = {} }: RequestEffect, fields: object): RequestFields {
  const unbounded = Array.isArray(create)
    ? create.findIndex((each: unknown) => isObject(each) && each['limitPrice'] === undefined && /^market$/i.test(String(each['orderType'])))
    : -1
  if (unbounded >= 0)
    throw badFields([
      {
        field: `create[${unbounded}].limitPrice`,
        problem: 'is needed: this batch waits for an approval, and the price of then is not known. Nothing was sent',
      },
    ])
  const shown = answer['limitPrice']
  return 'limitPrice' in fields && limitPrice === undefined && typeof shown === 'string' ? { limitPrice: shown } : {}
}
