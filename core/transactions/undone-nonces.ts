// Finds that a chain has gone back behind transactions that were final: a reorganisation deeper than the confirmations, or nodes that had told of another
// branch. Later transactions of the wallet would wait for ever behind nonces that nobody uses any more.
import { withDeadline } from '../base/async.ts'
import { reasonOf } from '../base/errors.ts'
import type { Head, Json, Log } from '../contracts/index.ts'
import { isFinal, txHashOf, type Entry, type RailId } from './entry.ts'
import type { Recorder } from './journal/journal.ts'
import type { NonceQueue } from './nonce-queue.ts'
import type { TransactionTarget } from './submit-request.ts'

/** For so long every answer has to say it: nodes lag, and who has the bytes sends them again. */
const minMs = 5 * 60_000
const minAnswers = 5
const timeoutMs = 15_000
/** The times that blocks tell differ from others' clocks by less. */
const clocksDifferMs = 60_000
/** In the log. */
const maxShown = 20

export interface UndoneNoncesParts {
  target: TransactionTarget
  recorder: Pick<Recorder, 'list'>
  inBackground: <T>(work: Promise<T>) => Promise<T>
  closing: AbortSignal
  log: Log & { error(fields: object, message: string): void }
  /** A clock that is never set. */
  steadyMs: () => number
  /** How old a block is. 0 where its time says nothing: on local networks, and where an exchange has a rail of its own. */
  ageSeconds: (target: RailId, head: Pick<Head, 'number' | 'timestamp'>) => number
}

export interface UndoneNonces {
  /** Call with each answer that a poll had about the wallet, and the newest block. Once it is certain, the queue's nonces are open to fills. */
  note(queue: NonceQueue, update: Json, head: Head): void
}

interface Suspicion {
  since: number
  answers: number
  isAsking?: true
  /** It was said that the nodes are still at older blocks. */
  isBehindTold?: true
  /** The first nonce that was told of. */
  told?: number
}

export function createUndoneNonces(parts: UndoneNoncesParts): UndoneNonces {
  const { target, recorder, inBackground, closing, log, steadyMs, ageSeconds } = parts
  const { chain, network, connector, impl } = target
  /** A queue that is rebuilt begins anew. */
  const suspicions = new WeakMap<NonceQueue, Suspicion>()

  async function confirm(queue: NonceQueue, suspicion: Suspicion): Promise<void> {
    const { address } = queue
    const fields = { chain, network, address }
    try {
      const answers = await withDeadline(closing, timeoutMs, async (signal) =>
        impl.rail.syncAll ? impl.rail.syncAll(address, { signal }) : [await impl.rail.sync(address, { signal })],
      )
      const found = answers.map((answer) => queue.undone(answer))
      const [range] = found.flatMap((each) => each ?? []).toSorted((a, b) => b.first - a.first)
      if (!range || found.includes(undefined)) {
        log.warn(
          { ...fields, nodes: answers.length },
          'nodes differ about transactions that are final: some are on another branch of the chain',
        )
        return
      }
      queue.reopen(range.first)
      if (suspicion.told === range.first) return
      suspicion.told = range.first
      const lost = await lostOn(address, range)
      const transactions = lost.slice(0, maxShown).map((entry) => ({ nonce: entry.nonce, kind: entry.kind, txHash: txHashOf(entry) }))
      log.error(
        { ...fields, firstNonce: range.first, lastNonce: range.last, nodes: answers.length, transactions },
        'transactions that were final are not on the chain any more, and what they moved is back. Their nonces are filled while later ones wait',
      )
    } catch (error) {
      if (!closing.aborted)
        log.warn({ ...fields, reason: reasonOf(error) }, 'nodes not asked about transactions that are final; tried again')
    } finally {
      // Asked again after as long, while it lasts.
      suspicions.set(queue, { since: steadyMs(), answers: 0, ...(suspicion.told !== undefined && { told: suspicion.told }) })
    }
  }

  /** Those that are not archived, lowest first. */
  async function lostOn(address: string, { first, last }: { first: number; last: number }): Promise<readonly Entry[]> {
    const lost: Entry[] = []
    for (let nonce = first; nonce <= last && lost.length < maxShown; nonce += 1) {
      const { entries } = await recorder.list({ chain, network, on: { connector, address }, nonce })
      lost.push(...entries.filter((entry) => isFinal(entry) && entry.landed))
    }
    return lost
  }

  /**
   * What is final is in blocks from before the suspicion: only one that came after shows that the chain is without it. A node that loads the chain anew, or from
   * a copy, has older ones.
   */
  function isCaughtUp(queue: NonceQueue, suspicion: Suspicion, head: Head): boolean {
    const age = ageSeconds(target, head)
    if (age * 1000 <= steadyMs() - suspicion.since - clocksDifferMs) return true
    if (!suspicion.isBehindTold)
      log.warn(
        { chain, network, address: queue.address, newestBlock: head.number.toString(), ageSeconds: Math.round(age) },
        'nodes are still behind transactions that are final: later ones wait until the nodes have caught up',
      )
    suspicion.isBehindTold = true
    return false
  }

  return {
    note(queue, update, head) {
      const before = suspicions.get(queue)
      if (!queue.undone(update)) {
        if (before && !before.isAsking) suspicions.delete(queue)
        return
      }
      const suspicion = before ?? { since: steadyMs(), answers: 0 }
      suspicions.set(queue, suspicion)
      suspicion.answers += 1
      if (suspicion.isAsking || suspicion.answers < minAnswers || steadyMs() - suspicion.since < minMs) return
      if (!isCaughtUp(queue, suspicion, head)) return
      suspicion.isAsking = true
      void inBackground(confirm(queue, suspicion))
    },
  }
}
