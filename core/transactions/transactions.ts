import { pause, withTimeout } from '../async.ts'
import { SluiceError, type Log, type Transaction } from '../contracts/index.ts'
import type { ClientOrders } from './book-orders.ts'
import { type Entry, railName, txStatus, type TxStatus, txHashOf, type RailId } from './entry.ts'
import {
  type EntryFilter,
  type Journal,
  type JournalEvent,
  type EntryPage,
  createRecorder,
  type Recorder,
  OwnershipLost,
} from './journal/journal.ts'
import type { Leases } from './leases.ts'
import { createNetworkTransactions, type NetworkTransactions } from './network-transactions.ts'
import type { CancelRequest } from './replace.ts'
import { type SubmitRequest, type Origin, type Sign, type TransactionTarget, type SubmitResult, routeRequest } from './submit-request.ts'

interface TransactionsOptions {
  journal: Journal
  leases: Leases
  /** Every network, and every exchange's own rail, that transactions may be open on: those that a server before left are gone on with. */
  targets: readonly TransactionTarget[]
  sign: Sign
  /** `limits.walletQueue`: requests that one wallet may have under way on a network. */
  walletQueue: number
  log: Log
  /** Told of every entry that was written, and what it was before (absent: new). */
  onChange?: (entry: Entry, before?: Entry) => void
  nowMs?: () => number
}

/** What became of transactions, one change after the other: also those that other servers made. */
export interface TransactionEvents {
  /** As the journal has it: changes after an event, oldest first, at most `limit`. */
  after(id: number, of: Parameters<Journal['eventsAfter']>[1]): Promise<readonly JournalEvent[]>
  /** The newest event's id; 0 where there is none. */
  lastId(): Promise<number>
  /** Calls back after every write of this server, until the function that it gives is called. What other servers write is not heard. */
  onWrite(listener: () => void): () => void
}

/** Every transaction that the server makes, from a plan to its final state. */
export interface Transactions {
  /**
   * Answers once the signed bytes are journaled and were offered to the nodes. An error other than TIMEOUT means that
   * nothing was sent and nothing will be; TIMEOUT says which.
   */
  submit(order: SubmitRequest, signal: AbortSignal): Promise<SubmitResult>
  /** Replaces by a transfer of nothing to oneself; without a nonce the lowest pending one. `only`: nothing but this entry. */
  cancel(origin: CancelRequest, signal: AbortSignal): Promise<{ txHash: string; nonce: number }>
  /**
   * Signs the same step again on the same slot, at higher fees: those wished for, or the next ones by the network's policy. Without
   * a nonce the lowest pending one. The transaction stays one entry of the journal, with one more attempt.
   */
  speedUp(origin: Origin, signal: AbortSignal): Promise<{ txHash: string; nonce: number }>
  /** The nonce that the next submission would get. Asks the chain. */
  nextNonce(of: { network: TransactionTarget; address: string }, signal: AbortSignal): Promise<number>
  find(chain: string, network: string, txHash: string): Promise<Entry | undefined>
  list(filter: EntryFilter): Promise<EntryPage>
  readonly events: TransactionEvents
  /** The orders of books, by their client order ids. */
  readonly orders: ClientOrders
  /** `txStatus` of a journaled transaction; `found` is what the chain has of it now. */
  status(entry: Entry, found?: Pick<Transaction, 'blockNumber' | 'pays'>): TxStatus
  /** Settles once what servers before left open was taken up, or the store did not let it be yet: soon in any case. No node is waited for. */
  readonly recovered: Promise<void>
  /** Takes nothing new, lets what is under way be answered for so long, and ends. What is open stays in the journal. */
  stop(drainMs: number): Promise<void>
}

/** For what was cut off to come to its end. */
const cutMs = 3_000
/** A start waits no longer for a store that hangs: a wallet that is asked for first is taken up then. */
const takeUpMs = 3_000

export function createTransactions({
  journal,
  leases,
  targets: sites,
  sign,
  walletQueue,
  log,
  onChange = () => {},
  nowMs = Date.now,
}: TransactionsOptions): Transactions {
  const listeners = new Set<() => void>()
  /** It is durable already: whoever fails to hear of it must not make it look as if it were not. */
  const changed = (entry: Entry, before?: Entry) => {
    try {
      onChange(entry, before)
      for (const listener of listeners) listener()
    } catch (error) {
      log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'a change of a transaction could not be told')
    }
  }
  const recorder = createRecorder(journal, changed, nowMs)
  const networks = new Map<string, NetworkTransactions>()
  const underWay = new Map<Promise<unknown>, AbortController>()
  const closing = new AbortController()
  let stopped: Promise<void> | undefined

  function on(site: TransactionTarget): NetworkTransactions {
    const key = railName(site)
    const found =
      networks.get(key) ?? createNetworkTransactions({ site, recorder, leases, sign, walletQueue, log, closing: closing.signal, nowMs })
    networks.set(key, found)
    return found
  }
  for (const site of sites) on(site)
  const adoption = startRecovery({ recorder, networks, closing: closing.signal, log })

  /** Its signal ends with the request's time, or when the server does not wait for it any longer. */
  async function counted<T>(signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (stopped)
      throw new SluiceError('OVERLOADED', 'The server is stopping and takes no new transactions: try again when it is back.', {
        retryAfterSeconds: 5,
      })
    const over = new AbortController()
    const abort = () => over.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const work = start(over.signal)
    underWay.set(work, over)
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
    for (const over of underWay.values()) over.abort()
    // What hangs in the store is bounded there. What is open is in the journal: whoever comes next goes on with it.
    await withTimeout(Promise.all([answered, adoption.idle(), ...[...networks.values()].map((each) => each.idle())]), cutMs, () => {})
    await leases.stop()
  }

  return {
    submit: (order, signal) =>
      counted(signal, async (until) => {
        const placed = routeRequest(order)
        return on(placed.network).submit(placed, until)
      }),
    cancel: (origin, signal) => counted(signal, (until) => on(origin.network).cancel(origin, until)),
    speedUp: (origin, signal) => counted(signal, (until) => on(origin.network).speedUp(origin, until)),
    nextNonce: ({ network, address }, signal) => on(network).nextNonce(address, signal),
    find: (chain, network, txHash) => journal.find(chain, network, txHash),
    list: (filter) => journal.list(filter),
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
    recovered: withTimeout(adoption.firstRound, takeUpMs, () => {}),
    stop: (drainMs) => (stopped ??= end(drainMs)),
  }
}

const roundMs = 2_000
/** Wallets that are taken up at once: each is a few questions to the store, which may be far away. */
const atOnce = 8

interface RecoveryParts {
  recorder: Recorder
  /** By the names of their rails. */
  networks: ReadonlyMap<string, NetworkTransactions>
  closing: AbortSignal
  log: Log
}

/** Takes up what nobody alive looks after: at once, and again now and then. */
interface Recovery {
  /** Settles after the first round, whatever came of it. */
  firstRound: Promise<void>
  /** After `closing`. */
  idle(): Promise<void>
}

/**
 * At the start what a server before left; later what one beside left when it died. And what was never signed on lanes of ours, for
 * which the store did not take the note that it was given up. Asks the journal only: no node can hold it up.
 */
function startRecovery({ recorder, networks, closing, log }: RecoveryParts): Recovery {
  const unserved = new Set<string>()
  let troublesBefore: readonly string[] = []

  async function round(): Promise<void> {
    const troubles: string[] = []
    /** One wallet's trouble is not another's. */
    async function attempt(what: object, work: () => Promise<unknown>): Promise<void> {
      try {
        if (!closing.aborted) await work()
      } catch (error) {
        // Another server was quicker.
        if (error instanceof OwnershipLost) return
        const reason = error instanceof Error ? error.message : 'unknown'
        // Said once for as long as it lasts.
        if (!troublesBefore.includes(reason) && !closing.aborted)
          log.warn({ ...what, reason }, 'open transactions could not be taken up; tried again')
        troubles.push(reason)
      }
    }
    await attempt({}, async () => {
      const open = (await recorder.openQueues()).values()
      async function takeUp(): Promise<void> {
        // All of them take from the same one.
        for (const { address, ...place } of open) {
          const served = networks.get(railName(place))
          await attempt({ ...place, address }, () => (served ? served.adopt(address) : warnOnce(place)))
        }
      }
      await Promise.all(Array.from({ length: atOnce }, takeUp))
    })
    for (const network of networks.values()) await attempt({}, () => network.giveUpLeftovers())
    troublesBefore = troubles
  }

  /** Nobody can look after them until the plugin is there again. */
  async function warnOnce(place: RailId): Promise<void> {
    const name = railName(place)
    if (unserved.has(name)) return
    unserved.add(name)
    const open = await recorder.unfinished(place)
    const transactions = open.map((entry) => ({ address: entry.address, nonce: entry.nonce, txHash: txHashOf(entry) }))
    log.warn(
      { ...place, transactions },
      'transactions are open on a network that no plugin serves: add it again to have them seen to their end',
    )
  }

  const firstRound = round()
  async function goOn(): Promise<void> {
    await firstRound
    while (!closing.aborted) {
      await pause(roundMs, closing, { ref: false })
      if (!closing.aborted) await round()
    }
  }
  const rounds = goOn()
  return { firstRound, idle: () => rounds }
}

export { canonicalHash } from './entry.ts'
export { signerOf as holderOf, isFinal, railOf as placeOf, txHashOf } from './entry.ts'
export { railName } from './entry.ts'
export type { Entry, Kind, TransactionState } from './entry.ts'
export type {
  EntryFilter as Filter,
  Lease as Guard,
  Journal,
  JournalEvent,
  RecordedAnswer as KeptAnswer,
  KeyClaim,
  EntryPage as Page,
} from './journal/journal.ts'
export type { Leases } from './leases.ts'
export { sqlJournal } from './journal/sql-journal.ts'
export { sqlLeases } from './leases.ts'
export type {
  IdempotencyContext as Keyed,
  SubmitRequest as Order,
  Origin,
  Scope,
  Sign,
  TransactionTarget as Site,
  SubmitResult as Submitted,
} from './submit-request.ts'
export { OwnershipLost as Superseded } from './journal/journal.ts'
export type { ClientOrder, ClientOrders, JournaledOrder, OrderFilter, OrderReport as SaidOfOrder } from './book-orders.ts'
