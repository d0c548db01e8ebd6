import { randomInt } from 'node:crypto'
import {
  SluiceError,
  type Chain,
  type Checked,
  type FeeOverrides,
  type GasTerms,
  type Json,
  type Permit,
  type Plan,
  type Prepared,
  type BroadcastResult,
  type Signable,
  type TakesPermit,
  type VenuePlan,
} from '../contracts/index.ts'
import type { Permission } from '../api/endpoint.ts'
import type { Effect } from '../config/stops.ts'
import type { ClientOrder } from './book-orders.ts'
import type { ApprovalMark, Commitment, Footprint, SpendingEntry } from './budgets.ts'
import type { Entry, Kind, RailId } from './entry.ts'
import type { RequestWords } from './entry-terms.ts'
import type { KeyClaim } from './journal/journal.ts'
import { journaledPermit } from './permits.ts'

/** Where transactions are sent: a network of a chain, or an exchange's own rail beside it, where a connector is named. */
export interface TransactionTarget extends RailId {
  impl: Pick<Chain, 'rail' | 'heads' | 'confirmations' | 'bumpAfterSeconds' | 'address' | 'nativeCurrency' | 'balances' | 'head'>
}

/** What every request says about itself. */
export interface Origin {
  network: TransactionTarget
  /** The wallet. */
  address: string
  /** The client, as it was when it asked. */
  caller: { readonly id: string; readonly permissions?: ReadonlySet<Permission> }
  /** Of what the server does by itself: the client that caused it. */
  paidBy?: string
  requestId: string
  /** The request in its own words. Absent: the server does it by itself. */
  words?: RequestWords
  /** The request came with an Idempotency-Key. */
  keyed?: IdempotencyContext
  feeOverrides: FeeOverrides
  /** The fees count as set by the caller, so the server does not raise them. Absent: they do if `feeOverrides` sets any. */
  feesGiven?: boolean
  /** Absent: the server assigns it. */
  nonce?: number
  /** Its transactions go to relays, and to no public node. */
  privateOnly?: true
  /** Of a client whose large requests wait for a second person. */
  approval?: ApprovalMark
}

/** How the answer to a request is recorded under its Idempotency-Key. */
export interface IdempotencyContext {
  claim: KeyClaim
  /** Name of the request: the same when it is repeated with its key, on any server; a new one once the key is deleted. */
  tag: string
  /** The whole answer as it is sent, with its envelope, from the handler's answer. */
  answerOf(answer: object): { status: number; body: string }
  /** Called once the answer is certain to be in the journal. Until then it may still be discarded. */
  onRecorded(): void
}

/** Whether the caller set the fees. */
export const setsFees = ({ maxFeePerGasRaw, maxPriorityFeePerGasRaw }: FeeOverrides): boolean =>
  maxFeePerGasRaw !== undefined || maxPriorityFeePerGasRaw !== undefined

/** What a request lets its plan do. */
export interface Scope {
  /** Addresses that the plan's steps may call. */
  contracts: readonly string[]
  /** The most native coin that all steps together may send, in smallest units. */
  valueRaw: bigint
  /** The deadline that the request gave its plan, in seconds since the Unix epoch. */
  deadline?: number
  /** How much a plan may be whose plugin's word is not taken. `gas`: the limits of all steps together. */
  most?: { readonly steps: number; readonly gas?: bigint }
  /** The gas limit of each step, where the code of a token is all that runs. */
  stepGas?: bigint | undefined
}

/** A request to submit a plan's transactions. */
export interface SubmitRequest extends Origin {
  plan: Plan | VenuePlan
  scope: Scope
  kind: Kind
  /** `Entry.reduces` */
  reduces?: boolean
  /** `actions`: the exchange's own rail, for plans that are `via` the venue. */
  venue?: { connector: string; actions?: TransactionTarget; plugin?: string; config?: { ttl: number } }
  /** The version of the plugin whose spender is approved, where no venue has it. */
  plugin?: string
  /** Journaled for the handler that shows the outcome. */
  about?: Json
  /** `Entry.quote` */
  quote?: Json
  /** What the plan's simulation said, once it was checked: `Entry.simulated`. */
  simulated?(): Entry['simulated']
  /** `Entry.bounds` */
  bounds?: NonNullable<Entry['bounds']>
  /** For the budgets. */
  commitment: Commitment
  /** For the lists of the client. Called only where it has limits. */
  touches(): Footprint
  /** `Entry.newAccounts` */
  newAccounts?: NonNullable<Entry['newAccounts']>
  /** The orders that it places in a book; only with kind `order`. */
  clientOrders?: readonly ClientOrder[]
  /** The check's result from states in memory, without asking the chain. Undefined if that check does not pass. */
  checkFromCache?(): Checked | undefined
  /** How the plan's step takes a permit that the wallet signs for what it lacks of an allowance. Absent: nothing is signed for that. */
  permit?: TakesPermit & {
    /** Of the token. */
    readonly decimals: number
  }
  /**
   * Awaited in parallel with the check, whose result it gets. If it rejects, nothing is signed. May be called again. What it returns is reserved in the
   * place of `commitment`.
   */
  precondition?(checked: Promise<Pick<Checked, 'prepared'>>): Promise<Commitment | undefined | void>
  /** Called once the limits have let the checked plan through, before a nonce is claimed for it. @throws SluiceError by which it is not signed */
  hold?(checked: CheckedRequest): void
  /** Awaited once its entries are in the journal, so that those with a lower nonce are, too, and before anything is signed. @throws SluiceError by which it is not signed */
  recheck?(): Promise<void>
  /** The handler's answer, once hashes and nonces are known. Pure: it is journaled with the signed bytes. */
  answer(result: SubmitResult): object
}

/** What a request came to by its check. */
export interface CheckedRequest {
  readonly commitment: Commitment
  /** One for each step. */
  readonly prepared: readonly Prepared[]
}

/** How a request replaces another transaction. */
export interface ReplaceOptions {
  /** It takes the nonce of a pending transaction, at fees that suffice for that unless the caller set them. */
  replaces?: boolean
  /** Key of the only entry that it may replace. */
  only?: string
  /** Why; journaled with the replaced transaction. */
  reason?: string
}

/** A request on the rail that carries it out: `network` is that rail's target. */
export interface RoutedRequest extends Omit<SubmitRequest, 'plan' | 'touches' | 'commitment'> {
  /** Absent: the server does it by itself, or it cancels. */
  touches?(): Footprint
  plan: Pick<Plan, 'steps' | 'needs' | 'deadline' | 'memo'>
  /** Whose key signs, and whose nonces are used: the wallet itself on a chain. */
  signer: string
  /** Absent: it replaces a transaction, or fills a gap, and does nothing. */
  commitment?: Commitment
}

/** Before nonces are claimed: refuses by what is in memory what the journal's write would refuse. @throws SluiceError, or a rejection that is one */
export type MayClaim = (request: RoutedRequest) => Promise<void> | void

export interface SubmitResult {
  /** One for each step, in order. */
  transactions: readonly { txHash: string; nonce: number }[]
  /** The last step's. */
  txHash: string
  nonce: number
  /** All steps together; the price is that of the checked block. */
  gas: GasTerms
  /**
   * The result of the last step, from an exchange that answers at once. Absent with an Idempotency-Key: the recorded answer was made before
   * anything was sent, and stays the same.
   */
  landed?: ImmediateResult
}

/** All steps together, at the price of the first. */
export function gasOf(prepared: readonly Pick<Prepared, 'gas'>[]): GasTerms {
  const sum = (field: 'gasLimit' | 'gasCostRaw') => prepared.reduce((total, { gas }) => total + gas[field], 0n)
  return { gasPriceRaw: 0n, ...prepared[0]?.gas, gasLimit: sum('gasLimit'), gasCostRaw: sum('gasCostRaw') }
}

export type ImmediateResult = NonNullable<Extract<BroadcastResult, { is: 'accepted' }>['landed']>

/** @returns the signature's bytes. A rejection means that no signature was made */
export type Sign = (request: SignatureRequest) => Promise<Uint8Array>

interface SignatureRequest {
  chain: string
  network: string
  address: string
  /** The version of the plugin that planned it. */
  plugin?: string
  signable: Signable
  /** What it does, where something is stopped. */
  effect?: Effect
  /** The signed transaction that this one replaces with the same nonce. */
  replaces?: Uint8Array
  /** Ids of the new accounts that sign too, in the order of the draft's `signers`. */
  newAccounts?: readonly string[]
  /** The one of them whose signature is asked for. Absent: the wallet's. */
  signsAs?: number
}

/** @returns the address of the account whose key follows from the wallet's and the id */
export type NewAccount = (request: { chain: string; network: string; address: string; id: string }) => Promise<string>

/** @returns the signature's bytes. A rejection means that no signature was made, or that it is lost */
export type SignPermit = (request: { chain: string; network: string; address: string; permit: Permit }) => Promise<Uint8Array>

/**
 * Chooses the rail and the signer. On a chain the wallet signs; on an exchange's own rail the address that the plan names.
 * @throws SluiceError UNKNOWN_ERROR: a defect of the plugin
 */
export function routeRequest({ plan, ...request }: SubmitRequest): RoutedRequest {
  if (!('via' in plan)) return { ...request, plan, signer: request.address }
  const { venue, address } = request
  const plugin = `The connector ${venue?.connector ?? ''}`
  if (!venue?.actions) throw pluginDefect(plugin, 'has a plan for its own rail, but has no such rail')
  const signer = venue.actions.impl.address(plan.signer ?? address)
  if (signer === undefined) throw pluginDefect(plugin, `names ${plan.signer} as the signer, which is not an address`)
  return { ...request, network: venue.actions, plan: { ...plan, needs: [] }, signer }
}

/**
 * Checks that a plan does no more than its request allows: its targets, and how much of the native coin it sends. Plugins make plans, so
 * they do not check them. Otherwise a plugin could have any contract called with any value.
 * @throws SluiceError UNKNOWN_ERROR: a defect of the plugin
 */
export function checkPlan({ plan, scope, network: { impl }, venue }: Pick<RoutedRequest, 'plan' | 'scope' | 'network' | 'venue'>): void {
  const plugin = venue ? `The connector ${venue.connector}` : 'The plan'
  if (plan.steps.length === 0) throw pluginDefect(plugin, 'has no step')
  if (scope.most && plan.steps.length > scope.most.steps)
    throw pluginDefect(plugin, `has ${plan.steps.length} steps, but the request allows ${scope.most.steps} at most`)
  // The server cancels what is past its deadline, which costs gas, and callers are shown it.
  if (scope.most && plan.deadline !== undefined && plan.deadline !== scope.deadline)
    throw pluginDefect(plugin, `has a plan whose deadline is ${plan.deadline}, but the request allows ${allowedDeadline(scope)}`)
  let valueRaw = 0n
  for (const step of plan.steps) {
    const outline = impl.rail.outline(step)
    const foreign = outline.contracts.find((contract) => !isWithin(contract, scope.contracts, impl))
    if (foreign !== undefined) throw pluginDefect(plugin, `calls ${foreign}, which this request does not allow`)
    if (outline.valueRaw < 0n) throw pluginDefect(plugin, 'sends a negative value')
    valueRaw += outline.valueRaw
  }
  if (valueRaw > scope.valueRaw)
    throw pluginDefect(plugin, `sends ${valueRaw} of the native coin's smallest units, but the request allows ${scope.valueRaw} at most`)
}

/** @throws SluiceError UNSUPPORTED where what is private could be sent to nobody */
export function checkRelays({ chain, network, connector, impl }: TransactionTarget): void {
  if (impl.rail.sendsPrivately) return
  throw new SluiceError(
    'UNSUPPORTED',
    `${connector ?? `${chain}/${network}`} has no private relay, so nothing was signed: leave privateOnly out, or have the operator set privateUrls in conf/chains. What takes the nonce of a private transaction is private too.`,
  )
}

const allowedDeadline = ({ deadline }: Scope) => (deadline === undefined ? 'none' : `${deadline} or none`)

/** @throws SluiceError OUT_OF_GAS if the steps may use more gas than the request lets its plan use */
export function checkGas({ scope, venue }: Pick<RoutedRequest, 'scope' | 'venue'>, { prepared }: Pick<Checked, 'prepared'>): void {
  const largest = prepared.reduce((max, { gas }) => (gas.gasLimit > max ? gas.gasLimit : max), 0n)
  if (scope.stepGas !== undefined && largest > scope.stepGas)
    throw new SluiceError(
      'OUT_OF_GAS',
      `The transaction would need a gas limit of ${largest}, and one that moves or approves a token may have ${scope.stepGas} at most, so it was not signed: look at what the token's contract, or the recipient's, does.`,
    )
  const most = scope.most?.gas
  const needed = prepared.reduce((sum, { gas }) => sum + gas.gasLimit, 0n)
  if (most === undefined || needed <= most) return
  throw new SluiceError(
    'OUT_OF_GAS',
    `The plan would need a gas limit of ${needed}, and one of ${venue?.connector ?? 'this connector'}, which is not built in, may have ${most} at most, so it was not signed: trade less, or on another exchange.`,
  )
}

/** Compares addresses in the chain's canonical spelling. A text that is not an address is never allowed. */
function isWithin(contract: string, allowed: readonly string[], impl: Pick<TransactionTarget['impl'], 'address'>): boolean {
  const target = impl.address(contract)
  return target !== undefined && allowed.some((each) => impl.address(each) === target)
}

/** @param plugin its name, as the first words of the message */
export const pluginDefect = (plugin: string, what: string) =>
  new SluiceError('UNKNOWN_ERROR', `${plugin} ${what}: nothing was signed. This is a defect of the plugin.`)

/** The nonces of a request: one for each step, in order. */
interface NonceAssignment {
  sequences: readonly Json[]
  chosenByCaller: readonly boolean[]
  nonces: readonly number[]
  ranks: readonly number[]
  /** Whether each is private: by its request, or for what it takes the place of. */
  privateOnly?: readonly boolean[]
  /** What the wallet signs for the only step. */
  permits?: readonly Permit[]
  /** The block that it was checked at, and how old that is. */
  head?: NonNullable<Checked['head']> & { readonly ageSeconds: number }
  nowMs: number
}

/** So long what has no exchange is valid, and what an earlier version signed. */
export const defaultTtlSeconds = 300

/** By the clock of the chain: a block that is old when it is signed takes nothing of its time. */
const endsAt = ({ timestamp, ageSeconds }: NonNullable<NonceAssignment['head']>, { venue }: Pick<RoutedRequest, 'venue'>): number =>
  timestamp + Math.ceil(ageSeconds) + (venue?.config?.ttl ?? defaultTtlSeconds)

/** The journal's entries of a request before it is signed: one for each step. */
export function newEntries(
  request: RoutedRequest,
  { sequences, chosenByCaller, nonces, ranks, privateOnly = [], permits = [], head, nowMs }: NonceAssignment,
): readonly Entry[] {
  const {
    address,
    signer,
    kind,
    reduces,
    venue,
    plugin = venue?.plugin,
    caller,
    paidBy,
    requestId,
    words,
    keyed,
    feeOverrides,
    plan,
    about,
    quote,
    bounds,
    newAccounts,
  } = request
  const { chain, network, connector: rail } = request.network
  const { feesGiven = setsFees(feeOverrides) } = request
  const simulated = request.simulated?.()
  const connector = rail ?? venue?.connector
  return plan.steps.map((step, index) => ({
    key: nextKey(nowMs),
    version: 1,
    chain,
    network,
    address,
    kind,
    ...(reduces === true && { reduces }),
    ...(connector !== undefined && { connector }),
    ...(plugin !== undefined && { plugin }),
    ...(rail !== undefined && { signer }),
    client: caller.id,
    ...(paidBy !== undefined && { paidBy }),
    requestId,
    ...(keyed && { idempotencyKey: keyed.claim.key }),
    ...(words && { request: words }),
    ...(quote !== undefined && { quote }),
    ...(simulated && index === plan.steps.length - 1 && { simulated }),
    createdAt: nowMs,
    updatedAt: nowMs,
    part: { index, of: plan.steps.length },
    step,
    ...(newAccounts && { newAccounts }),
    memo: plan.memo,
    about: about ?? null,
    ...(bounds && { bounds }),
    ...(plan.deadline !== undefined && { deadline: plan.deadline }),
    ...(head && { after: Number(head.number) }),
    ...(head && plan.deadline === undefined && { ends: endsAt(head, request) }),
    sequence: sequences[index] ?? null,
    nonce: nonces[index] ?? 0,
    sequenceGiven: chosenByCaller[index] ?? false,
    feesGiven,
    ...(privateOnly[index] && { privateOnly: true as const }),
    ...(permits.length > 0 && { permits: permits.map((each) => journaledPermit(each, request.permit?.decimals ?? 0)) }),
    rank: ranks[index] ?? 0,
    state: 'QUEUED',
    attempts: [],
    deadLooks: 0,
  }))
}

/** What requests spend by, before nonces are known: one for each step of all their plans, each with a key of its own. */
export const plannedEntries = (requests: readonly RoutedRequest[]): readonly SpendingEntry[] =>
  requests.flatMap(({ plan, kind, reduces, caller, paidBy, signer, network: { chain, network, connector: rail } }, of) => {
    const terms = {
      chain,
      network,
      kind,
      client: caller.id,
      ...(reduces === true && { reduces }),
      ...(paidBy !== undefined && { paidBy }),
      ...(rail !== undefined && { signer }),
    }
    return plan.steps.map((_step, index) => ({ ...terms, key: `${of} ${index}` }))
  })

let newestMs = 0
/** Keys with that millisecond. */
let count = 0
const maxCount = 36 ** 2

/** Later keys come after this one of another server, whatever its clock said: the newest entries of a queue are those with the highest nonces. */
export function keysFollow(key: string): void {
  const timeMs = keyTimeMs(key)
  if (Number.isSafeInteger(timeMs)) newestMs = Math.max(newestMs, timeMs + 1)
}

/**
 * Sorts by time, then by order within this process, also when the clock is set back. Differs between processes. It stands in eight indexes
 * and in each event, so it is short.
 */
function nextKey(nowMs: number): string {
  if (nowMs > newestMs || count === maxCount) {
    newestMs = Math.max(nowMs, newestMs + 1)
    count = 0
  }
  const inMs = count
  count += 1
  return digits(newestMs, timeDigits) + digits(inMs, 2) + digits(randomInt(36 ** 6), 6)
}

const timeDigits = 9
const digits = (of: number, length: number): string => of.toString(36).padStart(length, '0')

/** The lowest key of what is requested at this time: milliseconds since the Unix epoch. */
export const firstKeyAt = (timeMs: number): string => digits(Math.max(0, Math.ceil(timeMs)), timeDigits)

/** No entry with this key, or a lower one, was requested later than this: milliseconds since the Unix epoch, or NaN. */
export const keyTimeMs = (key: string): number => Number.parseInt(key.slice(0, timeDigits), 36)

export const timedOutBeforeSigning = () =>
  new SluiceError('TIMEOUT', 'The time for this request ran out before anything was signed: nothing was sent. Try again.')

export const broadcastTimedOut = (txHash: string, requestId: string) =>
  new SluiceError(
    'TIMEOUT',
    `The time for this request ran out while ${txHash} was being sent. Sending continues: GET /transactions?requestId=${requestId} shows the outcome.`,
    { details: { txHash } },
  )

export const persistTimedOut = (requestId: string) =>
  new SluiceError(
    'TIMEOUT',
    `The time for this request ran out before the server's store confirmed that the transaction was recorded. If it was recorded it is sent, otherwise never. GET /transactions?requestId=${requestId} shows which.`,
  )

/** The result of the work, or the error as soon as the signal aborts. The work itself continues. */
export function orTimeout<T>(work: Promise<T>, signal: AbortSignal, error: () => SluiceError): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(error())
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    // The work may reject because of the signal before our own listener is called.
    work
      .then(resolve, (cause: unknown) => reject(signal.aborted ? error() : cause))
      .finally(() => signal.removeEventListener('abort', abort))
  })
}
