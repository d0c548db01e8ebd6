import { randomBytes } from 'node:crypto'
import {
  type Chain,
  type Checked,
  type FeeWish,
  type GasTerms,
  type Json,
  type Plan,
  type Reception,
  type Signable,
  type VenuePlan,
  SluiceError,
} from '../contracts/index.ts'
import type { ClientOrder } from './book-orders.ts'
import type { Kind, RailId, Entry } from './entry.ts'
import type { KeyClaim } from './journal/journal.ts'

/** A network of a chain, as transactions are made on it; or an exchange's own rail beside it, where a connector is named. */
export interface TransactionTarget extends RailId {
  impl: Pick<Chain, 'rail' | 'heads' | 'confirmations' | 'bumpAfterSeconds' | 'address' | 'nativeCurrency' | 'balances' | 'head'>
}

/** What every request says about itself. */
export interface Origin {
  network: TransactionTarget
  /** The wallet that it is for. */
  address: string
  /** The certificate. */
  caller: { commonName: string }
  requestId: string
  /** The request came with an Idempotency-Key. */
  keyed?: IdempotencyContext
  feeOverrides: FeeWish
  /** Nobody raises its fees but a caller, as if they had been wished for. */
  feesGiven?: boolean
  /** Absent: the server assigns it. */
  nonce?: number
}

/** What is kept of a request under its key. */
export interface IdempotencyContext {
  claim: KeyClaim
  /** What the request is called: the same when it is repeated with its key, also by another server; another once the key was forgotten. */
  tag: string
  /** The whole answer, with its envelope, as it is sent: made of what the verb answers. */
  answerOf(answer: object): { status: number; body: string }
  /** Told once that answer is certain to be in the journal: until then it is a promise, and what it tells of may come to nothing. */
  onRecorded(): void
}

/** Whether the caller said what it pays. */
export const setsFees = ({ maxFeePerGasRaw, maxPriorityFeePerGasRaw }: FeeWish): boolean =>
  maxFeePerGasRaw !== undefined || maxPriorityFeePerGasRaw !== undefined

/** What a request lets its plan do. */
export interface Scope {
  /** Addresses that its steps may call. */
  contracts: readonly string[]
  /** The most of the native coin that all steps together may send, in smallest units. */
  valueRaw: bigint
}

/** A plan to be carried out. */
export interface SubmitRequest extends Origin {
  plan: Plan | VenuePlan
  scope: Scope
  kind: Kind
  /** `actions`: what plans go by that are `via` the venue. */
  venue?: { connector: string; actions?: TransactionTarget }
  /** Kept in the journal for the verb that shows the outcome. */
  about?: Json
  /** What it places in a book: of the kind `order` only. */
  clientOrders?: readonly ClientOrder[]
  /** The caller has the permission `admin`: passed on to the signer. */
  admin?: boolean
  /** What the check would find, where memory tells that all is well; asks nothing. */
  checkFromCache?(): Checked | undefined
  /** What is asked beside the check and must hold too: a rejection means that nothing is signed. May be called again. */
  precondition?(): Promise<void>
  /** What the verb answers, once hashes and nonces are known: pure, for it is journaled with the signed bytes. */
  answer(submitted: SubmitResult): object
}

/** An order on the rail that carries it out: `network` is that one's site. */
export interface RoutedRequest extends Omit<SubmitRequest, 'plan'> {
  plan: Pick<Plan, 'steps' | 'needs' | 'deadline' | 'memo'>
  /** Whose key signs, and whose slots it takes: the wallet's own on a chain. */
  signer: string
}

export interface SubmitResult {
  /** One for each step, in order. */
  transactions: readonly { txHash: string; nonce: number }[]
  /** The last step's. */
  txHash: string
  nonce: number
  /** All steps together; the price is that of the checked block. */
  gas: GasTerms
  /**
   * What an exchange that answers at once said of the last step. Absent where a key keeps the answer: that was made before anything left,
   * and is the same whenever it is asked for.
   */
  landed?: ImmediateResult
}

export type ImmediateResult = NonNullable<Extract<Reception, { is: 'accepted' }>['landed']>

/** @returns the signature's bytes; a rejection means that nothing was signed that may leave */
export type Sign = (request: {
  chain: string
  network: string
  address: string
  signable: Signable
  admin?: boolean
}) => Promise<Uint8Array>

let count = 0

/** Sorts by time, then by order within this process; differs between processes. */
function nextKey(nowMs: number): string {
  count += 1
  return `${nowMs.toString(36).padStart(9, '0')}-${count.toString(36).padStart(8, '0')}-${randomBytes(4).toString('hex')}`
}

interface Places {
  slots: readonly Json[]
  given: readonly boolean[]
  nonces: readonly number[]
  ranks: readonly number[]
  nowMs: number
}

/** What the journal keeps of an order before it is signed: an entry for each step. */
export function newEntries(order: RoutedRequest, { slots, given, nonces, ranks, nowMs }: Places): readonly Entry[] {
  const {
    network: { chain, network, connector: rail },
    address,
    signer,
    kind,
    venue,
    caller,
    requestId,
    keyed,
    feeOverrides: wish,
    feesGiven = setsFees(wish),
    plan,
    about,
    admin,
  } = order
  const connector = rail ?? venue?.connector
  return plan.steps.map((step, index) => ({
    key: nextKey(nowMs),
    version: 1,
    chain,
    network,
    address,
    kind,
    ...(connector !== undefined && { connector }),
    ...(rail !== undefined && { signer }),
    client: caller.commonName,
    requestId,
    ...(keyed && { idempotencyKey: keyed.claim.key }),
    createdAt: nowMs,
    updatedAt: nowMs,
    ...(admin && { admin }),
    part: { index, of: plan.steps.length },
    step,
    memo: plan.memo,
    about: about ?? null,
    ...(plan.deadline !== undefined && { deadline: plan.deadline }),
    slot: slots[index] ?? null,
    nonce: nonces[index] ?? 0,
    slotGiven: given[index] ?? false,
    feesGiven,
    rank: ranks[index] ?? 0,
    state: 'QUEUED',
    attempts: [],
    deadLooks: 0,
  }))
}

/**
 * Where a plan is carried out, and who signs it: on the chain the wallet itself, on an exchange's own rail whoever the plan names.
 * @throws SluiceError UNKNOWN_ERROR, since only a defect of the plugin brings it about
 */
export function routeRequest({ plan, ...order }: SubmitRequest): RoutedRequest {
  if (!('via' in plan)) return { ...order, plan, signer: order.address }
  const { venue, address } = order
  const who = `The connector ${venue?.connector ?? ''}`
  if (!venue?.actions) throw defect(who, 'has a plan for its own rail, and no such rail')
  const signer = venue.actions.impl.address(plan.signer ?? address)
  if (signer === undefined) throw defect(who, `would have ${plan.signer} sign, which is no address`)
  return { ...order, network: venue.actions, plan: { ...plan, needs: [] }, signer }
}

const defect = (who: string, what: string) =>
  new SluiceError('UNKNOWN_ERROR', `${who} ${what}: nothing was signed. This is a defect of the plugin.`)

/**
 * Whether a plan does no more than its request says: plugins make plans, and who makes them does not judge them. What
 * could be signed otherwise is any contract of any connector, with any value.
 * @throws SluiceError UNKNOWN_ERROR, since only a defect of the plugin brings it about
 */
export function checkPlan({ plan, scope, network: { impl }, venue }: Pick<RoutedRequest, 'plan' | 'scope' | 'network' | 'venue'>): void {
  const who = venue ? `The connector ${venue.connector}` : 'The plan'
  if (plan.steps.length === 0) throw defectOfCheckPlan(who, 'has no step')
  let valueRaw = 0n
  for (const step of plan.steps) {
    const outline = impl.rail.outline(step)
    const foreign = outline.contracts.find((contract) => !isWithin(contract, scope.contracts, impl))
    if (foreign !== undefined)
      throw defectOfCheckPlan(who, `calls ${foreign}, which is none of the contracts that it may call for this request`)
    if (outline.valueRaw < 0n) throw defectOfCheckPlan(who, 'sends a negative value')
    valueRaw += outline.valueRaw
  }
  if (valueRaw > scope.valueRaw)
    throw defectOfCheckPlan(who, `sends ${valueRaw} of the native coin's smallest units, and the request is for ${scope.valueRaw} at most`)
}

/** By the chain's own spelling; what is no address is nothing that may be called. */
function isWithin(contract: string, allowed: readonly string[], impl: Pick<RoutedRequest['network']['impl'], 'address'>): boolean {
  const target = impl.address(contract)
  return target !== undefined && allowed.some((each) => impl.address(each) === target)
}

const defectOfCheckPlan = (who: string, what: string) =>
  new SluiceError('UNKNOWN_ERROR', `${who} ${what}: nothing was signed. This is a defect of the plugin.`)

export const timedOutBeforeSigning = () =>
  new SluiceError('TIMEOUT', 'The time for this request ran out before anything was signed: nothing was sent. Try again.')

export const broadcastTimedOut = (txHash: string, requestId: string) =>
  new SluiceError(
    'TIMEOUT',
    `The time for this request ran out while ${txHash} was being sent. It goes on: GET /transactions?requestId=${requestId} tells what became of it.`,
    { details: { txHash } },
  )

export const persistTimedOut = (requestId: string) =>
  new SluiceError(
    'TIMEOUT',
    `The time for this request ran out before the server's store said whether the transaction was kept: it is sent if it was, and never if not. GET /transactions?requestId=${requestId} tells which.`,
  )

/** The work's outcome, or the error once the signal is aborted; the work itself goes on. */
export function orTimeout<T>(work: Promise<T>, signal: AbortSignal, error: () => SluiceError): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(error())
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // Whoever was asked may have noticed the signal first.
    work
      .then(resolve, (cause: unknown) => reject(signal.aborted ? error() : cause))
      .finally(() => signal.removeEventListener('abort', abort))
  })
}
