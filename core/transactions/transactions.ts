import { randomUUID } from 'node:crypto'
import { pause, withTimeout } from '../base/async.ts'
import { SluiceError, type Log, type Transaction } from '../contracts/index.ts'
import { createBroadcast, createSignAttempt, type Broadcast } from './attempts.ts'
import type { ClientOrders } from './book-orders.ts'
import { createComparisons, type MinedComparison, type Comparisons } from './comparisons.ts'
import {
  isAboutRemoval,
  railName,
  txHashOf,
  txStatus,
  type Entry,
  type JournaledPermit,
  type RailId,
  type TxStatus,
  signerOf,
} from './entry.ts'
import {
  createRecorder,
  OwnershipLostError,
  type EntryFilter,
  type EntryPage,
  type Journal,
  type JournalEvent,
  type Recorder,
} from './journal/journal.ts'
import { type Leases, createLeasedQueues, expireUnsigned } from './leases.ts'
import type { MovementReadings } from './entry-mover.ts'
import { createOutcomeReadings, type OutcomeReadings, type ReadOutcome } from './outcome-readings.ts'
import { createAttemptTimes } from './lifecycle.ts'
import { syncQueue } from './nonce-queue.ts'
import { createNonceTurns } from './nonce-turns.ts'
import { type CancelRequest, createCancel, createRaise, createSpeedUp } from './replace.ts'
import {
  routeRequest,
  type MayClaim,
  type Origin,
  type Sign,
  type NewAccount,
  type SignPermit,
  type SubmitRequest,
  type SubmitResult,
  type TransactionTarget,
  orTimeout,
  timedOutBeforeSigning,
  type RoutedRequest,
} from './submit-request.ts'
import type { Commitment } from './budgets.ts'
import { orEndTurn, unpricedSpending } from './nonce-claims.ts'
import { createReserveOrderIds } from './order-reservations.ts'
import { createSubmit, type Submit } from './submit.ts'
import type { UndoneNoncesParts } from './undone-nonces.ts'
import { createUpkeep } from './upkeep.ts'
import { createWatcher } from './watcher.ts'
import { reasonOf } from '../base/errors.ts'

/** Every transaction that the server makes, from a plan to its final state. */
export interface Transactions {
  /**
   * Resolves once the signed bytes are journaled and were sent to the nodes. An error other than TIMEOUT means that nothing was sent and
   * nothing will be; the message of a TIMEOUT says whether that is so.
   */
  submit(request: SubmitRequest, signal: AbortSignal): Promise<SubmitResult>
  /**
   * Whether limits and stops would let requests of one client through that are made together, as far as that is known before they are checked: without their
   * fees. Nothing is reserved.
   * @param commitment of all of them @throws SluiceError as `submit`
   */
  admit(requests: readonly SubmitRequest[], commitment: Commitment, signal: AbortSignal): Promise<void>
  /** Replaces a pending transaction by a transfer of nothing to oneself; without a nonce the lowest one. */
  cancel(origin: CancelRequest, signal: AbortSignal): Promise<{ txHash: string; nonce: number }>
  /**
   * Signs the same step with the same sequence at higher fees: the caller's, or the next ones by the network's policy. Without a nonce the
   * lowest pending one. The transaction stays one entry of the journal, with one more attempt.
   */
  speedUp(origin: Origin, signal: AbortSignal): Promise<{ txHash: string; nonce: number }>
  /** New accounts for a plan: their addresses, each with the id by which the signer makes its key. */
  newAccounts(of: { chain: string; network: string; address: string }, count: number): Promise<Readonly<Record<string, string>>>
  /** The nonce that the next submission would get. Asks the chain. */
  nextNonce(of: { network: TransactionTarget; address: string }, signal: AbortSignal): Promise<number>
  /** Resolves once no nonce below this one is free. Rejects with the signal's reason. */
  untilFree(of: { network: TransactionTarget; address: string; nonce: number }, signal: AbortSignal): Promise<void>
  find(chain: string, network: string, txHash: string): Promise<Entry | undefined>
  list(filter: EntryFilter): Promise<EntryPage>
  /** What others may take of a wallet beside what the newest block shows. */
  rightsUnderWay(of: { chain: string; network: string; address: string }): Promise<RightsUnderWay>
  readonly events: TransactionEvents
  /** Book orders by their client order ids. */
  readonly orders: ClientOrders
  /** `txStatus` of a journaled transaction; `found` is what the chain has of it now. */
  status(entry: Entry, found?: Pick<Transaction, 'blockNumber' | 'pays'>): TxStatus
  /** Settles once the transactions that earlier servers left open are recovered, or after a short time. Does not wait for nodes. */
  readonly recovered: Promise<void>
  /** Watches open transactions on a target that was not there at the start. */
  watch(target: TransactionTarget): void
  /** Refuses new requests, waits at most this long for those in progress, and ends. Open transactions stay in the journal. */
  stop(drainMs: number): Promise<void>
}

export interface RightsUnderWay {
  /** Approvals of more than nothing that are not final. */
  readonly approvals: readonly Pick<Entry, 'key' | 'state' | 'step' | 'attempts' | 'landed'>[]
  /** The permits that are neither used nor expired, and the transactions that they were signed for. */
  readonly permits: readonly { readonly permit: JournaledPermit; readonly txHash: string | undefined }[]
}

/** Changes of transactions in order, of all servers. */
export interface TransactionEvents {
  /** Changes after an event in the journal, oldest first, at most `limit`. */
  after(id: number, of: Parameters<Journal['eventsAfter']>[1]): Promise<readonly JournalEvent[]>
  /** The newest event's id; 0 where there is none. */
  lastId(): Promise<number>
  /** Calls the listener after every write of this server, not of others. Call the returned function to unsubscribe. */
  onWrite(listener: () => void): () => void
}

/** With a level for what a person has to look at. */
interface ServerLog extends Log {
  error(fields: object, message: string): void
}

interface TransactionsOptions {
  journal: Journal
  leases: Leases
  /** Every network, and every exchange's own rail: transactions that an earlier server left open there are recovered. */
  targets: readonly TransactionTarget[]
  sign: Sign
  /** Absent: requests that want a permit signed fail. */
  signPermit?: SignPermit
  /** Absent: requests that want new accounts fail. */
  newAccount?: NewAccount
  /** `limits.walletQueue`: requests that one wallet may have in progress on a network. */
  walletQueue: number
  log: ServerLog
  /** Whether networks and rails may still come: then it is no trouble yet that nobody watches one. */
  isLoading?: () => boolean
  /** Reads what a transaction brought that is about to be final, where that is to be journaled. */
  readOutcome?: ReadOutcome
  /** Holds what a mined transaction did against what its plan was allowed to do. */
  compareMined?: MinedComparison
  /** Reads what mined transactions moved. */
  movements?: MovementReadings
  /** Called before a request is planned for the chain: what would be refused before it is signed need not ask anybody. @throws SluiceError */
  mayBegin?: (request: SubmitRequest) => void
  mayClaim?: MayClaim
  /** Called before a transaction of a plan with bounds is signed again at higher fees. @throws SluiceError where that must not be */
  mayRaise?: (entry: Entry) => Promise<void>
  /** Receives every entry that was written, and its version before (absent: new). */
  onChange?: (entry: Entry, before?: Entry) => void
  /** This machine's clock: for times that are shown. */
  nowMs?: () => number
  /** A clock that is never set: for everything that is waited for. */
  steadyMs?: () => number
  /** How old a block of a network is. Absent: as if each were new. */
  ageSeconds?: UndoneNoncesParts['ageSeconds']
}

/** How long aborted requests may take to end. */
const abortMs = 3_000
/** If the store hangs, the start waits no longer than this. Wallets are then recovered when they are first used. */
const recoveryMs = 3_000

/** With new ids: two plans have no account in common. */
const accountsBy =
  (newAccount: NewAccount | undefined): Transactions['newAccounts'] =>
  async (wallet, count) => {
    if (!newAccount) throw new SluiceError('UNSUPPORTED', 'Nobody makes keys of new accounts here: nothing was signed.')
    const ids = Array.from({ length: count }, () => randomUUID())
    return Object.fromEntries(await Promise.all(ids.map(async (id) => [await newAccount({ ...wallet, id }), id] as const)))
  }

export function createTransactions({
  journal,
  leases,
  targets,
  sign,
  signPermit = async () => {
    throw new Error('Nobody signs permits.')
  },
  newAccount,
  walletQueue,
  log,
  isLoading = () => false,
  readOutcome = () => undefined,
  compareMined = () => undefined,
  movements = { begin: async () => {}, of: () => undefined, forget: () => {} },
  mayBegin = () => {},
  mayClaim = () => {},
  mayRaise = async () => {},
  onChange = () => {},
  nowMs = Date.now,
  steadyMs = () => performance.now(),
  ageSeconds = () => 0,
}: TransactionsOptions): Transactions {
  const listeners = new Set<() => void>()
  /** The write is durable already, so an error of a listener must not reach the writer. */
  const notify = (entry: Entry, before?: Entry) => {
    try {
      onChange(entry, before)
      for (const listener of listeners) listener()
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'listener of a transaction failed')
    }
  }
  const recorder = createRecorder(journal, notify, nowMs)
  const outcomes = createOutcomeReadings(readOutcome, { log, steadyMs })
  const comparisons = createComparisons(compareMined, { log, steadyMs })
  const networks = new Map<string, NetworkTransactions>()
  const underWay = new Map<Promise<unknown>, AbortController>()
  const closing = new AbortController()
  let stopped: Promise<void> | undefined

  function on(target: TransactionTarget): NetworkTransactions {
    const key = railName(target)
    const network =
      networks.get(key) ??
      createNetworkTransactions({
        target,
        recorder,
        leases,
        sign,
        signPermit,
        walletQueue,
        outcomes,
        comparisons,
        movements,
        mayClaim,
        mayRaise,
        log,
        closing: closing.signal,
        nowMs,
        steadyMs,
        ageSeconds,
      })
    networks.set(key, network)
    return network
  }
  for (const target of targets) on(target)
  const recovery = startRecovery({ recorder, networks, closing: closing.signal, log, isLoading })

  /** Starts work with a signal that aborts with the request's, or when the server stops waiting for requests. */
  async function run<T>(signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (stopped)
      throw new SluiceError('OVERLOADED', 'The server is stopping and takes no new transactions: try again when it is back.', {
        retryAfterSeconds: 5,
      })
    const controller = new AbortController()
    const abort = () => controller.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const work = start(controller.signal)
    underWay.set(work, controller)
    try {
      return await work
    } finally {
      underWay.delete(work)
      signal.removeEventListener('abort', abort)
    }
  }

  async function end(drainMs: number): Promise<void> {
    const answered = Promise.allSettled(underWay.keys())
    await withTimeout(answered, drainMs, () => {})
    closing.abort()
    for (const controller of underWay.values()) controller.abort()
    // Not longer than this if the store hangs. Open transactions are in the journal, for the next server.
    await withTimeout(Promise.all([answered, recovery.idle(), ...[...networks.values()].map((each) => each.idle())]), abortMs, () => {})
    await leases.stop()
  }

  return {
    submit: (request, signal) =>
      run(signal, async (until) => {
        mayBegin(request)
        const routed = routeRequest(request)
        return on(routed.network).submit(routed, until)
      }),
    async admit(requests, commitment, signal) {
      const routed = requests.map(routeRequest)
      const [first] = routed
      if (!first) return
      for (const each of requests) mayBegin(each)
      for (const each of routed) await mayClaim(each)
      const { caller, network } = first
      const admitting = recorder.admit({ client: caller.id, chain: network.chain, network: network.network }, () =>
        unpricedSpending(routed, commitment),
      )
      const end = admitting instanceof Promise ? await orEndTurn(admitting, signal) : admitting
      end?.()
    },
    cancel: (origin, signal) => run(signal, (until) => on(origin.network).cancel(origin, until)),
    speedUp: (origin, signal) => run(signal, (until) => on(origin.network).speedUp(origin, until)),
    newAccounts: accountsBy(newAccount),
    nextNonce: ({ network, address }, signal) => on(network).nextNonce(address, signal),
    untilFree: ({ network, address, nonce }, signal) => run(signal, (until) => on(network).turns.wait(address, nonce, until)),
    find: (chain, network, txHash) => journal.find(chain, network, txHash),
    async list(filter) {
      const page = await journal.list(filter)
      return { ...page, entries: await journal.orders.withOrders(page.entries) }
    },
    async rightsUnderWay(of) {
      const open = await journal.unfinished(of)
      return { approvals: open.filter(isApproval), permits: permitsOf([...open, ...(await journal.outstanding(of))]) }
    },
    orders: journal.orders,
    events: {
      after: (id, of) => journal.eventsAfter(id, of),
      lastId: () => journal.lastEventId(),
      onWrite(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
    status: txStatus,
    watch: (target) => void on(target),
    recovered: withTimeout(recovery.firstRound, recoveryMs, () => {}),
    stop: (drainMs) => (stopped ??= end(drainMs)),
  }
}

/** An approval that removing shares needs gives a right, too. */
const isApproval = ({ kind, reduces, about }: Entry): boolean => kind === 'approve' && (reduces !== true || isAboutRemoval(about))

/** Those that nobody has taken yet, each with the transaction that it was signed for. */
const permitsOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => {
    const txHash = txHashOf(entry)
    return (entry.permits ?? []).filter(({ state }) => state === 'outstanding').map((permit) => ({ permit, txHash }))
  })

const roundMs = 2_000
/** How often the log names open transactions that nobody watches, and how many of them. */
const shoutEveryMs = 60_000
const maxShown = 20
/** Wallets that are recovered at once. Each takes a few queries to the store, which may be far away. */
const parallelism = 8

interface RecoveryParts {
  recorder: Recorder
  /** By rail name. */
  networks: ReadonlyMap<string, NetworkTransactions>
  closing: AbortSignal
  log: ServerLog
  isLoading(): boolean
}

/**
 * Takes over open transactions that no living server has: at the start those of earlier servers, later those of servers that died. Also
 * expires unsigned entries whose expiry the store did not take at first. Asks the journal only, so no node can delay it.
 * @returns `firstRound` settles after the first round, whatever its result; `idle` after `closing`
 */
function startRecovery({ recorder, networks, closing, log, isLoading }: RecoveryParts) {
  const shoutedAt = new Map<string, number>()
  let earlierReasons: readonly string[] = []

  async function round(): Promise<void> {
    const reasons: string[] = []
    /** An error of one wallet does not stop the others. */
    async function attempt(what: object, work: () => Promise<unknown>): Promise<void> {
      try {
        if (!closing.aborted) await work()
      } catch (error) {
        // Another server was quicker.
        if (error instanceof OwnershipLostError) return
        const reason = reasonOf(error)
        // Logged once as long as it lasts.
        if (!earlierReasons.includes(reason) && !closing.aborted)
          log.warn({ ...what, reason }, 'open transactions not recovered; tried again')
        reasons.push(reason)
      }
    }
    await attempt({}, async () => {
      /** Shared: each worker takes the next one. */
      const open = (await recorder.openQueues()).values()
      async function work(): Promise<void> {
        for (const { address, ...rail } of open) {
          const network = networks.get(railName(rail))
          await attempt({ ...rail, address }, () => (network ? network.recover(address) : shout(rail)))
        }
      }
      await Promise.all(Array.from({ length: parallelism }, work))
    })
    for (const network of networks.values()) await attempt({}, () => network.expireLeftovers())
    earlierReasons = reasons
  }

  /** Nothing can be done until the plugin is back. Said again and again: this is money that nobody looks after. */
  async function shout(rail: RailId): Promise<void> {
    if (isLoading()) return
    const name = railName(rail)
    const lastAt = shoutedAt.get(name)
    if (lastAt !== undefined && performance.now() - lastAt < shoutEveryMs) return
    shoutedAt.set(name, performance.now())
    const open = await recorder.unfinished(rail)
    if (open.length === 0) return
    const transactions = open.slice(0, maxShown).map((entry) => ({ address: entry.address, nonce: entry.nonce, txHash: txHashOf(entry) }))
    log.error(
      { ...rail, open: open.length, transactions },
      'open transactions that nobody watches: their network or plugin is not loaded; install it again to finish them',
    )
  }

  const firstRound = round()
  async function repeat(): Promise<void> {
    await firstRound
    while (!closing.aborted) {
      await pause(roundMs, closing, { ref: false })
      if (!closing.aborted) await round()
    }
  }
  const rounds = repeat()
  return { firstRound, idle: () => rounds }
}

interface NetworkParts extends Required<
  Pick<
    TransactionsOptions,
    'leases' | 'sign' | 'signPermit' | 'walletQueue' | 'mayClaim' | 'mayRaise' | 'log' | 'nowMs' | 'steadyMs' | 'ageSeconds'
  >
> {
  target: TransactionTarget
  recorder: Recorder
  outcomes: OutcomeReadings
  comparisons: Comparisons
  movements: MovementReadings
  /** Aborted when the server ends: open transactions stay in the journal. */
  closing: AbortSignal
}

type NetworkTransactions = ReturnType<typeof createNetworkTransactions>

/** All transactions of one target: a nonce queue for each wallet, and one watcher. Wallets do not wait for each other. */
function createNetworkTransactions({
  target,
  recorder,
  outcomes,
  comparisons,
  movements,
  leases,
  sign,
  signPermit,
  walletQueue,
  mayClaim,
  mayRaise,
  log,
  closing,
  nowMs,
  steadyMs,
  ageSeconds,
}: NetworkParts) {
  const { chain, network, connector, impl } = target
  const { rail } = impl
  const queues = createLeasedQueues({ target, recorder, leases, limit: walletQueue })
  const background = new Set<Promise<unknown>>()
  const signing = new Set<string>()
  const unsent = new Set<string>()
  const times = createAttemptTimes(steadyMs)
  const send = createBroadcast({ target, recorder, onFinal, closing, log, times, nowMs })
  const broadcast: Broadcast = (...args) => inBackground(send(...args))
  const wake = () => watcher.wake()
  const fill = (address: string, nonce: number) => upkeep.fill(address, nonce)
  const signAttempt = createSignAttempt(target, sign, times, nowMs)
  const shared = { target, queues, recorder, signAttempt, broadcast, wake, inBackground, closing, log, times, nowMs, steadyMs }
  const reserveOrderIds = createReserveOrderIds(recorder, expireLeftovers)
  const turns = createNonceTurns({ knownNext: (address) => queues.held(address)?.queue.knownNext(), askNext: nextNonce })
  const { claimed } = turns
  const submitNow = createSubmit({ ...shared, signPermit, signing, unsent, fill, mayClaim, claimed, reserveOrderIds, ageSeconds })
  const submit: Submit = (request, options, signal) => withinLimit(request.signer, () => submitNow(request, options, signal))
  const raise = createRaise({ ...shared, mayRaise })
  const upkeep = createUpkeep({ ...shared, submit, raise })
  const watcher = createWatcher({ ...shared, onFinal, signing, unsent, upkeep, outcomes, comparisons, movements, ageSeconds })
  const speedUp = createSpeedUp({ target, recorder, raise })

  /** If another server owns the queue by now, that server rebuilds it from the journal. */
  function onFinal(entry: Entry): void {
    queues.held(signerOf(entry))?.queue.markFinal(entry.sequence)
    upkeep.forget(entry)
    times.forget(entry.attempts)
  }

  /** Expires entries in our queues that were left unsigned. */
  async function expireLeftovers(): Promise<void> {
    const ours = new Map(queues.all().map((leased) => [leased.queue.address, leased]))
    // Most networks have no queue of ours, and the store may be far away.
    if (ours.size === 0) return
    const { entries } = await recorder.list({ chain, network, on: { connector }, state: 'QUEUED', limit: 500 })
    for (const entry of entries) {
      const leased = ours.get(signerOf(entry))
      if (!leased || signing.has(entry.key)) continue
      const after = expireUnsigned('It expired before it was signed: nothing was sent.')(entry)
      // If the queue has another owner by now, the entry is that server's.
      const written = await recorder.write([{ before: entry, after }], leased.lease).catch(unlessOwnershipLost)
      if (!written) continue
      for (const each of written) leased.permits.set(each)
      log.info({ address: entry.address, nonce: entry.nonce, requestId: entry.requestId }, 'unsigned request expired')
    }
  }

  function inBackground<T>(work: Promise<T>): Promise<T> {
    background.add(work)
    return work.finally(() => background.delete(work))
  }

  async function withinLimit<T>(address: string, work: () => Promise<T>): Promise<T> {
    const leave = queues.enter(address)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** Reads the open transactions from the journal if another server owns the queue, and does not take it over. */
  async function nextNonce(address: string, signal: AbortSignal): Promise<number> {
    const held = queues.held(address)
    if (held) {
      await syncQueue(rail, held.queue, signal)
      return held.queue.nextNonce()
    }
    const open = await recorder.unfinished({ chain, network, connector, address })
    const synced = await orTimeout(rail.sync(address, { signal }), signal, timedOutBeforeSigning)
    const [next] = rail.claim(
      synced,
      open.map(({ sequence }) => sequence),
      1,
    )
    return next === undefined ? 0 : rail.nonceOf(next)
  }

  return {
    submit: (request: RoutedRequest, signal: AbortSignal): Promise<SubmitResult> => submit(request, {}, signal),
    cancel: createCancel({ ...shared, submit }),
    speedUp: (origin: Origin, signal: AbortSignal) => withinLimit(origin.address, () => speedUp(origin, signal)),
    nextNonce,
    turns,
    /** Takes over a wallet's open transactions, unless another server that is alive owns its queue. */
    async recover(address: string): Promise<void> {
      if (await queues.takeIfFree(impl.address(address) ?? address)) wake()
    },
    expireLeftovers,
    /** After `closing`: settles when nothing here uses the journal any more. */
    async idle(): Promise<void> {
      await Promise.allSettled([watcher.idle(), ...background])
    },
  }
}

function unlessOwnershipLost(error: unknown): undefined {
  if (!(error instanceof OwnershipLostError)) throw error
}
