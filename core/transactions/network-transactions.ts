import type { Log } from '../contracts/index.ts'
import { createBroadcast, createSignAttempt, type Broadcast } from './attempts.ts'
import { signerOf, type Entry } from './entry.ts'
import { OwnershipLost, type Recorder } from './journal/journal.ts'
import { createLeasedQueues, expireUnsigned, type Leases } from './leases.ts'
import { syncQueue } from './nonce-queue.ts'
import { createCancel, createRaise, createSpeedUp } from './replace.ts'
import {
  orTimeout,
  timedOutBeforeSigning,
  type Origin,
  type RoutedRequest,
  type Sign,
  type SubmitResult,
  type TransactionTarget,
} from './submit-request.ts'
import { createReserveOrderIds, createSubmit, type Submit } from './submit.ts'
import { createUpkeep } from './upkeep.ts'
import { createWatcher } from './watcher.ts'

export interface NetworkParts {
  target: TransactionTarget
  recorder: Recorder
  leases: Leases
  sign: Sign
  /** Requests that one wallet may have under way here. */
  walletQueue: number
  log: Log
  /** Aborted when the server ends: open transactions stay in the journal. */
  closing: AbortSignal
  nowMs: () => number
}

export type NetworkTransactions = ReturnType<typeof createNetworkTransactions>

/** All transactions of one target: a nonce queue for each wallet, and one watcher. Wallets do not wait for each other. */
export function createNetworkTransactions({ target, recorder, leases, sign, walletQueue, log, closing, nowMs }: NetworkParts) {
  const { chain, network, connector, impl } = target
  const { rail } = impl
  const queues = createLeasedQueues({ target, recorder, leases, limit: walletQueue })
  const background = new Set<Promise<unknown>>()
  const signing = new Set<string>()
  const send = createBroadcast({ target, recorder, onFinal, closing, log, nowMs })
  const broadcast: Broadcast = (...args) => inBackground(send(...args))
  const wake = () => watcher.wake()
  const fill = (address: string, nonce: number) => upkeep.fill(address, nonce)
  const signAttempt = createSignAttempt(target, sign, nowMs)
  const shared = { target, queues, recorder, signAttempt, broadcast, wake, inBackground, closing, log, nowMs }
  const reserveOrderIds = createReserveOrderIds(recorder, expireLeftovers)
  const submitNow = createSubmit({ ...shared, signing, fill, reserveOrderIds })
  const submit: Submit = (request, options, signal) => withinLimit(request.signer, () => submitNow(request, options, signal))
  const raise = createRaise(shared)
  const upkeep = createUpkeep({ ...shared, submit, raise })
  const watcher = createWatcher({ ...shared, upkeep })
  const speedUp = createSpeedUp({ target, recorder, raise })

  /** If another server owns the queue by now, that server rebuilds it from the journal. */
  function onFinal(entry: Entry): void {
    queues.held(signerOf(entry))?.queue.markFinal(entry.sequence)
    upkeep.forget(entry)
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

  return {
    submit: (request: RoutedRequest, signal: AbortSignal): Promise<SubmitResult> => submit(request, {}, signal),
    cancel: createCancel({ ...shared, submit }),
    speedUp: (origin: Origin, signal: AbortSignal) => withinLimit(origin.address, () => speedUp(origin, signal)),
    /** Reads the open transactions from the journal if another server owns the queue, and does not take it over. */
    async nextNonce(address: string, signal: AbortSignal): Promise<number> {
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
    },
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
  if (!(error instanceof OwnershipLost)) throw error
}
