import { SluiceError, type Checked, type Json, type Log, type Prepared, type GasTerms } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import { type Broadcast, persistSigned, type PersistResult, type SignAttempt } from './attempts.ts'
import { OrderIdUsed } from './book-orders.ts'
import { isFinal, type Entry, txHashOf } from './entry.ts'
import type { Change, Recorder, RecordedAnswer } from './journal/journal.ts'
import { type LeasedQueue, type LeasedQueues, expireUnsigned, restoreSigned } from './leased-queues.ts'
import { type Claim, type NonceQueue, type PendingTransaction, nonceConflictError, resync } from './nonce-queue.ts'
import {
  checkPlan,
  newEntries,
  setsFees,
  type ImmediateResult,
  type RoutedRequest,
  type TransactionTarget,
  type SubmitResult,
  timedOutBeforeSigning,
  orTimeout,
  persistTimedOut,
  broadcastTimedOut,
} from './submit-request.ts'

interface SubmitParts {
  site: TransactionTarget
  lanes: LeasedQueues
  recorder: Recorder
  signAttempt: SignAttempt
  dispatch: Broadcast
  /** Keys of entries that a request is signing: nobody else gives them up. */
  signing: Set<string>
  keepIds: ReserveOrderIds
  /** Told when there is something new to watch. */
  wake: () => void
  /** Puts something harmless on an empty slot that others wait behind. */
  fill: (address: string, nonce: number) => void
  /** Goes on whatever becomes of the request. */
  goOn: <T>(work: Promise<T>) => Promise<T>
  closing: AbortSignal
  log: Log
  nowMs: () => number
}

/** How an order is meant, beside what it says. */
export interface ReplaceOptions {
  /** It takes the place of what is on its nonce, at fees that are enough for that where none are wished for. */
  replaces?: boolean
  /** Only where this entry still holds the nonce. */
  only?: string
  /** Why, as it is kept with the transaction that is replaced. */
  reason?: string
}

/** What the chain said of an order, the lane that it was asked for, and what was to be replaced then. */
interface CheckResult {
  checked: Checked
  lane: NonceQueue
  over: Json | undefined
  /** By memory: it holds as long as the lane bears it out. */
  isRecalled?: true
}

/** An order with its slots, signed. */
interface SignedRequest {
  held: LeasedQueue
  slots: readonly Json[]
  queued: readonly Entry[]
  kept: PersistResult
  submitted: SubmitResult
}

/**
 * plan → check → lane → slots → journal → signer → journal → nodes. Nothing is signed before it is journaled, and nothing leaves
 * before its bytes are known to be. Up to there an error means that nothing was sent and nothing will be; from there on the answer
 * is the hash whatever the nodes say, for nobody can be certain that the bytes will never be mined.
 */
export function createSubmit(parts: SubmitParts) {
  const { site, lanes, recorder, signAttempt, dispatch, signing, keepIds, wake, fill, goOn, closing, log, nowMs } = parts
  const { rail } = site.impl

  return async function submit(order: RoutedRequest, manner: ReplaceOptions, signal: AbortSignal): Promise<SubmitResult> {
    checkPlan(order)
    const { signer, requestId } = order
    // Before the chain is asked, so that its answer is about a lane that is ours; it is free while the chain is asked.
    const { queue: lane } = await lanes.use(signer, signal, async (held) => held)
    const leave = await keepIds(order)
    const made = await journaled(order, manner, lane, signal).finally(leave)
    const { submitted, kept, held } = made
    const entries = kept.is === 'kept' ? kept.entries : await orTimeout(goOn(settle(made, kept)), signal, () => persistTimedOut(requestId))
    // Where nothing but an answer is waited for, that leaves nothing to watch, and limits of exchanges are dear.
    if (site.connector === undefined) wake()
    const landed = await orTimeout(goOn(sendInOrder(entries, held)), signal, () => broadcastTimedOut(submitted.txHash, requestId))
    return landed && !order.keyed ? { ...submitted, landed } : submitted
  }

  async function journaled(order: RoutedRequest, manner: ReplaceOptions, lane: NonceQueue, signal: AbortSignal): Promise<SignedRequest> {
    const judged = recalled(order, manner, lane) ?? (await judge(order, manner, lane, signal))
    return lanes.use(order.signer, signal, async (held) => {
      const isSame = held.queue === judged.lane && overOf(order, manner, held.queue) === judged.over
      const holds = isSame && (!judged.isRecalled || isBorneOut(judged.checked, held.queue))
      return make(order, manner, held, holds ? judged : await judge(order, manner, held.queue, signal), signal)
    })
  }

  /** Without asking the chain. What a caller names by itself is judged by its word. */
  function recalled(
    { checkFromCache: recall, nonce, precondition: meanwhile }: RoutedRequest,
    { replaces }: ReplaceOptions,
    lane: NonceQueue,
  ): CheckResult | undefined {
    const checked = nonce === undefined && !replaces && !meanwhile ? recall?.() : undefined
    return checked && isBorneOut(checked, lane) ? { checked, lane, over: undefined, isRecalled: true } : undefined
  }

  async function judge(
    { plan, signer, feeOverrides: wish, precondition: meanwhile, ...order }: RoutedRequest,
    manner: ReplaceOptions,
    lane: NonceQueue,
    signal: AbortSignal,
  ): Promise<CheckResult> {
    const over = overOf(order, manner, lane)
    const news = lane.startSync()
    const asked = [rail.check(plan.steps, plan.needs, signer, { wish, over }, { signal }), Promise.resolve(meanwhile?.())] as const
    const [checked] = await orTimeout(Promise.all(asked), signal, timedOutBeforeSigning)
    news(checked.synced)
    await resync(rail, lane, signal)
    return { checked, lane, over }
  }

  function overOf({ nonce }: Pick<RoutedRequest, 'nonce'>, { replaces }: ReplaceOptions, lane: NonceQueue): Json | undefined {
    return replaces && nonce !== undefined ? lane.pendingOn(nonce)?.fees : undefined
  }

  /** Slots, and signed bytes on them. What it throws says that nothing was kept and nothing will be. */
  async function make(
    order: RoutedRequest,
    manner: ReplaceOptions,
    held: LeasedQueue,
    { checked }: CheckResult,
    signal: AbortSignal,
  ): Promise<SignedRequest> {
    const { queue: lane, lease: guard } = held
    const { prepared } = checked
    const { slots, chosenByCaller: given, pending: occupants } = await claim(order, manner, lane, checked)
    let queued: readonly Entry[] = []
    try {
      queued = newEntries(order, {
        slots,
        given,
        nonces: slots.map((slot) => rail.nonceOf(slot)),
        ranks: occupants.map((each) => (each ? each.rank + 1 : 0)),
        nowMs: nowMs(),
      })
      for (const { key } of queued) signing.add(key)
      await recorder.open(queued, guard, order.keyed?.claim, order.clientOrders)
      const signed = await orTimeout(
        Promise.all(queued.map((entry, index) => signOne(entry, prepared[index]))),
        signal,
        timedOutBeforeSigning,
      )
      const submitted = submitResultOf(signed, prepared)
      const kept = await persistSigned(
        recorder,
        {
          changes: async () => ({
            own: queued.map((before, index) => ({ before, after: signed[index] ?? before })),
            beside: await replaced(signed, occupants, manner),
          }),
          instead: expireUnsigned('The store did not keep what was signed: nothing was sent.'),
          guard,
          answer: answerTo(order, submitted),
          kept: order.keyed?.onRecorded,
          requestId: order.requestId,
        },
        closing,
        log,
      )
      if (kept.is === 'kept') occupy(kept.entries, lane)
      return { held, slots, queued, kept, submitted }
    } catch (error) {
      giveBack(lane, slots)
      await giveUp(queued, held, error)
      throw error
    }
  }

  async function claim(
    { requestId, nonce, kind, feeOverrides: wish }: RoutedRequest,
    { replaces = false, only }: ReplaceOptions,
    lane: NonceQueue,
    checked: Checked,
  ) {
    const { prepared, synced, beside } = checked
    const wanted: Claim = {
      requestId,
      nonce,
      count: prepared.length,
      chosenByCaller: nonce !== undefined && kind !== 'fill',
      fees: prepared.map(({ fees }) => fees),
      costsRaw: prepared.map(({ step, fees }) => rail.cost(step, fees)),
      mayReplace: replaces || setsFees(wish),
      only,
    }
    const claimed = lane.claim(wanted)
    if (!('conflict' in claimed)) {
      // What makes room is never refused for want of room. Judged in the same breath as the claim: of two that both fit alone, one goes.
      const short = kind === 'cancel' || kind === 'fill' ? undefined : beside(lane.committedRaw(synced, claimed.slots))
      if (!short) return claimed
      giveBack(lane, claimed.slots)
      throw short
    }
    throw await nonceConflictError(claimed.conflict, { recorder, site, address: lane.address })
  }

  async function signOne(entry: Entry, prepared: Prepared | undefined): Promise<Entry> {
    if (!prepared) throw new Error('A step was not priced.')
    return { ...entry, state: 'SIGNED', attempts: [await signAttempt(entry, prepared.fees)] }
  }

  /** Those whose place the signed ones are to take. */
  async function replaced(
    signed: readonly Entry[],
    occupants: readonly (PendingTransaction | undefined)[],
    { reason }: ReplaceOptions,
  ): Promise<readonly Change[]> {
    const changes = await Promise.all(
      signed.map(async (entry, index) => {
        const key = occupants[index]?.key
        const before = key === undefined ? undefined : await recorder.read(key)
        if (!before || before.landed || isFinal(before)) return []
        return [{ before, after: { ...before, replacedBy: hashOf(entry), ...(reason !== undefined && { reason }) } }]
      }),
    )
    return changes.flat()
  }

  function occupy(entries: readonly Entry[], lane: NonceQueue): void {
    for (const entry of entries) {
      restoreSigned(entry, lane, rail)
      signing.delete(entry.key)
    }
  }

  /** After a write that nobody heard of: its slots stay claimed until it is known. */
  async function settle(
    { held: { queue: lane }, slots, queued }: SignedRequest,
    { outcome, cause }: PersistResult & { is: 'unknown' },
  ): Promise<readonly Entry[]> {
    const entries = await outcome
    if (entries) occupy(entries, lane)
    else giveBack(lane, slots)
    for (const { key } of queued) signing.delete(key)
    if (!entries) throw cause
    wake()
    return entries
  }

  /** A lane that has had another owner since is not ours to fill. */
  function giveBack(lane: NonceQueue, slots: readonly Json[]): void {
    const left = lane.release(slots)
    if (lanes.held(lane.address)?.queue === lane) for (const slot of left) fill(lane.address, rail.nonceOf(slot))
  }

  /** Never signed, or nobody will see what was. Where it cannot be noted now, whoever goes over what is queued notes it. */
  async function giveUp(queued: readonly Entry[], { lease: guard }: LeasedQueue, error: unknown): Promise<void> {
    const give = expireUnsigned(error instanceof SluiceError ? error.message : 'The transaction could not be signed.')
    try {
      if (!(error instanceof StoreUnavailable))
        await recorder.write(
          queued.map((before) => ({ before, after: give(before) })),
          guard,
        )
    } catch (failure) {
      const reason = failure instanceof Error ? failure.message : 'unknown'
      log.info({ requestId: queued[0]?.requestId, reason }, 'a request that was given up could not be noted yet')
    } finally {
      for (const { key } of queued) signing.delete(key)
    }
  }

  /** One after the other, for nodes that take no nonce before the one below it. Gives what came of the last, where that was said at once. */
  async function sendInOrder(entries: readonly Entry[], { lease: guard }: LeasedQueue): Promise<ImmediateResult | undefined> {
    const landed: (ImmediateResult | undefined)[] = []
    for (const entry of entries) for (const attempt of entry.attempts.slice(-1)) landed.push(await dispatch(entry, attempt, guard))
    if (site.connector !== undefined && landed.includes(undefined)) wake()
    return landed.at(-1)
  }
}

/** Whether what memory says still holds beside all that the lane knows: that coins do not suffice is told by the chain alone. */
const isBorneOut = ({ synced, beside }: Checked, lane: NonceQueue) => lane.agreesWith(synced) && !beside(lane.committedRaw(synced, []))

/** All that can go wrong in making the answer goes wrong before anything is kept. */
function answerTo({ answer, keyed }: RoutedRequest, submitted: SubmitResult): RecordedAnswer | undefined {
  const body = answer(submitted)
  return keyed && { claim: keyed.claim, ...keyed.answerOf(body) }
}

/** Once it is signed. */
function submitResultOf(signed: readonly Entry[], prepared: readonly Prepared[]): SubmitResult {
  const transactions = signed.map((entry) => ({ txHash: hashOf(entry), nonce: entry.nonce }))
  const last = transactions.at(-1)
  if (!last) throw new Error('A plan has no steps.')
  return { transactions, ...last, gas: total(prepared) }
}

function hashOf(entry: Entry): string {
  const txHash = txHashOf(entry)
  if (txHash === undefined) throw new Error(`${entry.key} was never signed.`)
  return txHash
}

function total(prepared: readonly Prepared[]): GasTerms {
  const sum = (field: 'gasLimit' | 'gasCostRaw') => prepared.reduce((all, { gas }) => all + gas[field], 0n)
  return { gasPriceRaw: 0n, ...prepared[0]?.gas, gasLimit: sum('gasLimit'), gasCostRaw: sum('gasCostRaw') }
}

/**
 * Keeps an order's client order ids for it while it is on its way into the journal, until the function that it gives is called.
 * @throws OrderTaken where another has one of them
 */
type ReserveOrderIds = (order: RoutedRequest) => Promise<() => void>

/**
 * Before anything is asked or claimed, so that what is refused leaves no slot empty. The journal itself says so again, of two servers to one.
 * What nobody is signing any more gives its id up first.
 */
export function createReserveOrderIds(recorder: Recorder, giveUpLeftovers: () => Promise<void>): ReserveOrderIds {
  const kept = new Set<string>()

  return async ({ clientOrders = [], venue, address, network: { chain, network } }) => {
    if (!venue || clientOrders.length === 0) return () => {}
    const ids = clientOrders.map(({ clientOrderId }) => clientOrderId)
    const names = ids.map((id) => JSON.stringify([venue.connector, address.toLowerCase(), id]))
    const other = names.findIndex((name) => kept.has(name))
    if (other >= 0) throw new OrderIdUsed(ids[other] ?? '')
    for (const name of names) kept.add(name)
    const leave = () => {
      for (const name of names) kept.delete(name)
    }
    try {
      await checkUnused({ chain, network, connector: venue.connector, address }, ids)
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  async function checkUnused(on: Parameters<Recorder['orders']['firstUsed']>[0], ids: readonly string[]): Promise<void> {
    if ((await recorder.orders.firstUsed(on, ids)) === undefined) return
    await giveUpLeftovers()
    const used = await recorder.orders.firstUsed(on, ids)
    if (used !== undefined) throw new OrderIdUsed(used)
  }
}
