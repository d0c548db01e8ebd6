import type { Log } from '../contracts/index.ts'
import { createCancel, createRaise, createSpeedUp } from './replace.ts'
import { createBroadcast, type Broadcast, createSignAttempt } from './attempts.ts'
import { createLeasedQueues, expireUnsigned } from './leased-queues.ts'
import type { Leases } from './leases.ts'
import {
  type Origin,
  type RoutedRequest,
  type Sign,
  type TransactionTarget,
  type SubmitResult,
  timedOutBeforeSigning,
  orTimeout,
} from './submit-request.ts'
import { signerOf, type Entry } from './entry.ts'
import { type Recorder, OwnershipLost } from './journal/journal.ts'
import { createReserveOrderIds, createSubmit, type ReplaceOptions } from './submit.ts'
import { syncQueue } from './nonce-queue.ts'
import { createUpkeep } from './upkeep.ts'
import { createWatcher } from './watcher.ts'

interface NetworkParts {
  site: TransactionTarget
  recorder: Recorder
  leases: Leases
  sign: Sign
  /** Requests that one wallet may have under way here. */
  walletQueue: number
  log: Log
  /** Aborted when the server ends: what is open stays in the journal. */
  closing: AbortSignal
  nowMs: () => number
}

const whenLeftOver = 'It was given up before it was signed: nothing was sent.'

/** All transactions of one network: a lane for each wallet, and one watcher. Wallets do not wait for each other. */
export function createNetworkTransactions({ site, recorder, leases, sign, walletQueue, log, closing, nowMs }: NetworkParts) {
  const { chain, network, connector, impl } = site
  const { rail } = impl
  const lanes = createLeasedQueues({ site, recorder, leases, limit: walletQueue })
  /** What goes on after its request was answered. */
  const behind = new Set<Promise<unknown>>()
  const signing = new Set<string>()
  const offer = createBroadcast({ site, recorder, ended, closing, log, nowMs })
  const dispatch: Broadcast = (...sent) => goOn(offer(...sent))
  const wake = () => watcher.wake()
  const fill = (address: string, nonce: number) => upkeep.fill(address, nonce)
  const signAttempt = createSignAttempt(site, sign, nowMs)
  const shared = { site, lanes, recorder, signAttempt, dispatch, wake, goOn, closing, log, nowMs }
  const submitOn = createSubmit({ ...shared, signing, fill, keepIds: createReserveOrderIds(recorder, giveUpLeftovers) })
  const submit = (order: RoutedRequest, manner: ReplaceOptions, signal: AbortSignal) =>
    queued(order.signer, () => submitOn(order, manner, signal))
  const raise = createRaise(shared)
  const upkeep = createUpkeep({ ...shared, submit, raise })
  const watcher = createWatcher({ ...shared, upkeep })
  const speedUp = createSpeedUp({ site, recorder, raise })

  /** A lane that has another owner by now is rebuilt from the journal there. */
  function ended(entry: Entry): void {
    lanes.held(signerOf(entry))?.queue.markFinal(entry.slot)
    upkeep.forget(entry)
  }

  /** Queued on lanes of ours, and nobody is signing it. */
  async function giveUpLeftovers(): Promise<void> {
    const ours = new Map(lanes.all().map((held) => [held.queue.address, held]))
    // Most networks are nobody's: the store, which may be far away, is not asked about each of them again and again.
    if (ours.size === 0) return
    const { entries } = await recorder.list({ chain, network, on: { connector }, state: 'QUEUED', limit: 500 })
    for (const entry of entries) {
      const held = ours.get(signerOf(entry))
      if (!held || signing.has(entry.key)) continue
      // Of a lane that has another owner by now, it is that one's.
      const written = await recorder
        .write([{ before: entry, after: expireUnsigned(whenLeftOver)(entry) }], held.lease)
        .catch(unlessSuperseded)
      if (!written) continue
      log.info({ address: entry.address, nonce: entry.nonce, requestId: entry.requestId }, 'a request that was never signed was given up')
    }
  }

  function goOn<T>(work: Promise<T>): Promise<T> {
    behind.add(work)
    return work.finally(() => behind.delete(work))
  }

  async function queued<T>(address: string, work: () => Promise<T>): Promise<T> {
    const leave = lanes.enter(address)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  return {
    submit: (order: RoutedRequest, signal: AbortSignal): Promise<SubmitResult> => submit(order, {}, signal),
    cancel: createCancel({ ...shared, submit }),
    speedUp: (origin: Origin, signal: AbortSignal) => queued(origin.address, () => speedUp(origin, signal)),
    /** The lane of another server is left with it: what is open is in the journal. */
    async nextNonce(address: string, signal: AbortSignal): Promise<number> {
      const held = lanes.held(address)
      if (held) {
        await syncQueue(rail, held.queue, signal)
        return held.queue.nextNonce()
      }
      const open = await recorder.unfinished({ chain, network, connector, address })
      const synced = await orTimeout(rail.sync(address, { signal }), signal, timedOutBeforeSigning)
      const [next] = rail.claim(
        synced,
        open.map(({ slot }) => slot),
        1,
      )
      return next === undefined ? 0 : rail.nonceOf(next)
    },
    /** Takes up what is open of a wallet, unless somebody alive looks after it. */
    async adopt(address: string): Promise<void> {
      if (await lanes.takeIfFree(impl.address(address) ?? address)) wake()
    },
    giveUpLeftovers,
    /** After `closing`: settles when nothing here touches the journal any more. */
    async idle(): Promise<void> {
      await Promise.allSettled([watcher.idle(), ...behind])
    },
  }
}

function unlessSuperseded(error: unknown): undefined {
  if (!(error instanceof OwnershipLost)) throw error
}

export type NetworkTransactions = ReturnType<typeof createNetworkTransactions>
