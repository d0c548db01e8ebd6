import { randomUUID } from 'node:crypto'
import { SluiceError } from '../contracts/index.ts'
import type { Json, Log } from '../contracts/index.ts'
import { createDispatch } from './dispatch.ts'
import type { Dispatch } from './dispatch.ts'
import { isFinal } from './entry.ts'
import type { Entry } from './entry.ts'
import { createLane } from './lane.ts'
import type { Lane } from './lane.ts'
import type { Order, Origin, Sign, Site, Submitted } from './order.ts'
import type { Recorder } from './recorder.ts'
import { createSubmission } from './submission.ts'
import { nothingSent, orTimeout } from './timeout.ts'
import { createWatcher } from './watcher.ts'

const fillTimeoutMs = 15_000

export interface NetworkParts {
  site: Site
  recorder: Recorder
  sign: Sign
  /** Requests that one wallet may have under way here. */
  walletQueue: number
  log: Log
  /** Aborted when the server ends: what is open stays in the journal. */
  closing: AbortSignal
  nowMs: () => number
}

/** All transactions of one network: a lane for each wallet, and one watcher. Wallets do not wait for each other. */
export function createNetworkTransactions({ site, recorder, sign, walletQueue, log, closing, nowMs }: NetworkParts) {
  const { rail } = site.impl
  const lanes = new Map<string, Lane>()
  const filling = new Set<string>()
  /** What goes on after its request was answered. */
  const behind = new Set<Promise<unknown>>()
  const offer = createDispatch(site, recorder, closing, log, nowMs)
  const dispatch: Dispatch = (entry, attempt) => goOn(offer(entry, attempt))
  const watcher = createWatcher({ site, recorder, laneOf, dispatch, fill: startFill, log, closing, nowMs })
  const submitOn = createSubmission({ site, recorder, sign, dispatch, wake: () => watcher.wake(), fill: startFill, log, nowMs })

  function goOn(work: Promise<void>): Promise<void> {
    behind.add(work)
    return work.finally(() => behind.delete(work))
  }

  function laneOf(address: string): Lane {
    const lane =
      lanes.get(address) ?? createLane({ rail, address, limit: walletQueue, name: `${address} on ${site.chain}/${site.network}` })
    lanes.set(address, lane)
    return lane
  }

  async function submit(order: Order, over: Entry['step'] | undefined, signal: AbortSignal): Promise<Submitted> {
    const lane = laneOf(order.address)
    const leave = lane.enter()
    try {
      return await submitOn(order, lane, { over }, signal)
    } finally {
      leave()
    }
  }

  async function cancel(origin: Origin, signal: AbortSignal): Promise<{ txHash: string; nonce: number }> {
    const { address } = origin
    const lane = laneOf(address)
    const nonce = origin.nonce ?? (await lowestPending(lane, signal))
    const holder = lane.occupant(nonce)
    if (!holder) await requireSomethingOn(nonce, lane, signal)
    const { txHash } = await submit(
      { ...origin, ...cancelPlan(address), nonce, kind: 'cancel', answer: ({ txHash }) => ({ txHash, nonce }) },
      holder?.fees,
      signal,
    )
    return { txHash, nonce }
  }

  /** What was not cancelled yet comes first, so that asking again cancels the next one. */
  async function lowestPending(lane: Lane, signal: AbortSignal): Promise<number> {
    const { address } = lane
    const synced = await newsOf(lane, signal)
    const unfinished = await recorder.unfinished(site)
    const pending = unfinished.filter(
      (entry) =>
        entry.address === address &&
        !isFinal(entry) &&
        !entry.landed &&
        entry.attempts.length > 0 &&
        entry.replacedBy === undefined &&
        rail.standing(synced, entry.slot) !== 'past',
    )
    const [lowest] = pending.toSorted((a, b) => Number(a.kind === 'cancel') - Number(b.kind === 'cancel') || a.nonce - b.nonce)
    if (lowest) return lowest.nonce
    throw new SluiceError('UNKNOWN_TRANSACTION', `${address} has no pending transaction in the journal: there is nothing to cancel.`)
  }

  /** A nonce that nothing of ours is on may be another program's, or one that was never used. */
  async function requireSomethingOn(nonce: number, lane: Lane, signal: AbortSignal): Promise<void> {
    const synced = await newsOf(lane, signal)
    const [slot] = rail.slotsFrom(nonce, 1)
    if (slot !== undefined && rail.standing(synced, slot) !== 'free') return
    throw new SluiceError('UNKNOWN_TRANSACTION', `Nothing of ${lane.address} is pending on nonce ${nonce}: there is nothing to cancel.`)
  }

  /** What the chain says of the wallet's nonces now. */
  async function newsOf(lane: Lane, signal: AbortSignal): Promise<Json> {
    const news = lane.asking()
    const synced = await orTimeout(rail.sync(lane.address, { signal }), signal, nothingSent)
    news(synced)
    return synced
  }

  function cancelPlan(address: string): Pick<Order, 'plan' | 'scope'> {
    if (!rail.replace) throw new SluiceError('UNSUPPORTED', `${site.chain} cannot replace a transaction once it was sent.`)
    return { plan: { steps: [rail.replace.cancel(address)], needs: [], memo: null }, scope: { contracts: [address], valueRaw: 0n } }
  }

  function startFill(lane: Lane, nonce: number): void {
    void goOn(fill(lane, nonce))
  }

  async function fill(lane: Lane, nonce: number): Promise<void> {
    const { address } = lane
    const key = `${address}/${nonce}`
    if (closing.aborted || filling.has(key)) return
    filling.add(key)
    try {
      const origin = { network: site, address, nonce, caller: { commonName: 'sluice' }, requestId: randomUUID(), wish: {} }
      const { txHash } = await submit(
        { ...origin, ...cancelPlan(address), kind: 'fill', answer: () => ({}) },
        undefined,
        AbortSignal.any([closing, AbortSignal.timeout(fillTimeoutMs)]),
      )
      log.info({ address, nonce, txHash }, 'a gap in the nonces was filled')
    } catch (error) {
      // The next head shows whether it is still there.
      log.warn({ address, nonce, reason: error instanceof Error ? error.message : 'unknown' }, 'a gap in the nonces could not be filled')
    } finally {
      filling.delete(key)
    }
  }

  return {
    submit: (order: Order, signal: AbortSignal) => submit(order, undefined, signal),
    cancel,
    async nextNonce(address: string, signal: AbortSignal): Promise<number> {
      const lane = laneOf(address)
      await newsOf(lane, signal)
      return lane.next()
    },
    /** After `closing`: settles when nothing here touches the journal any more. */
    async idle(): Promise<void> {
      await Promise.all([watcher.idle(), ...behind])
    },
  }
}

export type NetworkTransactions = ReturnType<typeof createNetworkTransactions>
