import { setTimeout as sleep } from 'node:timers/promises'
import type { Head, Log, Sighting } from '../contracts/index.ts'
import type { Dispatch } from './dispatch.ts'
import { isFinal, txHashOf } from './entry.ts'
import type { Entry } from './entry.ts'
import type { Lane } from './lane.ts'
import { advance } from './lifecycle.ts'
import type { Action, Rival } from './lifecycle.ts'
import type { Site } from './order.ts'
import { withPulse } from './pulse.ts'
import type { Recorder } from './recorder.ts'

const lookTimeoutMs = 30_000
const pauseAfterTroubleMs = 1_000
/** Without a new head for so long the old one is looked at again: what did not reach a node then goes out all the same. */
const pulseMs = 5_000

export interface WatcherParts {
  site: Site
  recorder: Recorder
  laneOf: (address: string) => Lane
  dispatch: Dispatch
  /** Puts something harmless on an empty slot that others wait behind. */
  fill: (lane: Lane, nonce: number) => void
  log: Log
  closing: AbortSignal
  nowMs: () => number
}

export interface Watcher {
  /** There is something to watch. */
  wake: () => void
  /** Settles when the loop has ended: after `closing`, or with nothing left to watch. */
  idle(): Promise<void>
}

/** Follows the heads for as long as anything is open, with one batch for all of it at each; asks nothing otherwise. */
export function createWatcher({ site, recorder, laneOf, dispatch, fill, log, closing, nowMs }: WatcherParts): Watcher {
  const { rail, confirmations } = site.impl
  let running: Promise<void> | undefined
  let woken = false

  async function run(): Promise<void> {
    do {
      woken = false
      const done = new AbortController()
      try {
        for await (const head of withPulse(site.impl.heads(AbortSignal.any([closing, done.signal])), pulseMs)) {
          woken = false
          if (!(await atHead(head)) && !woken) break
        }
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'the watch over open transactions was interrupted')
        woken = true
        await sleep(pauseAfterTroubleMs, undefined, { signal: closing }).catch(() => {})
      } finally {
        done.abort()
      }
    } while (woken && !closing.aborted)
  }

  /** Whether anything is left to watch. */
  async function atHead(head: Head): Promise<boolean> {
    const unfinished = await recorder.unfinished(site)
    const open = unfinished.filter(({ attempts }) => attempts.length > 0)
    if (open.length === 0) return unfinished.length > 0
    try {
      await look(open, head)
    } catch (error) {
      if (!closing.aborted)
        log.warn({ open: open.length, reason: reasonOf(error) }, 'open transactions could not be looked at; the next head tries again')
    }
    return (await recorder.unfinished(site)).length > 0
  }

  async function look(open: readonly Entry[], head: Head): Promise<void> {
    const attempts = open.flatMap(({ address, slot, attempts }) => attempts.map(({ id, fees }) => ({ id, from: address, slot, fees })))
    const news = new Map([...new Set(open.map(({ address }) => address))].map((address) => [address, laneOf(address).asking()]))
    const signal = AbortSignal.any([closing, AbortSignal.timeout(lookTimeoutMs)])
    const { sightings, synced } = await rail.look(attempts, head, { signal })
    for (const [address, counts] of synced) news.get(address)?.(counts)

    const seen = new Map(sightings.map((each) => [each.id, each]))
    for (const entry of open) await moveOn(entry, seen, await rivalOf(entry, open, seen))

    for (const [address, counts] of synced) {
      const lane = laneOf(address)
      for (const slot of lane.gaps(counts)) fill(lane, rail.nonceOf(slot))
    }
  }

  async function moveOn({ key }: Entry, sightings: ReadonlyMap<string, Sighting>, rival: Rival | undefined): Promise<void> {
    let actions: readonly Action[] = []
    const entry = await recorder.amend(key, (current) => {
      const step = advance(current, { sightings, rival, confirmations, nowMs: nowMs() })
      actions = step.actions
      return step.entry
    })
    if (!entry) return
    if (isFinal(entry)) laneOf(entry.address).settle(entry.slot)
    for (const { attempt } of actions) await dispatch(entry, attempt)
  }

  /** Another of ours that is in a block on the same slot: among the open ones, or the one that was to replace it and is final. */
  async function rivalOf(entry: Entry, open: readonly Entry[], sightings: ReadonlyMap<string, Sighting>): Promise<Rival | undefined> {
    const slot = JSON.stringify(entry.slot)
    for (const other of open) {
      if (other.key === entry.key || other.address !== entry.address || JSON.stringify(other.slot) !== slot) continue
      const landed = other.attempts.map(({ id }) => sightings.get(id)).find((each) => each?.is === 'landed')
      if (landed?.is === 'landed') return { txHash: landed.id, kind: other.kind, rank: other.rank, final: landed.depth >= confirmations }
    }
    if (entry.replacedBy === undefined) return undefined
    const heir = await recorder.find(entry.chain, entry.network, entry.replacedBy)
    return heir?.landed && isFinal(heir)
      ? { txHash: txHashOf(heir) ?? heir.landed.id, kind: heir.kind, rank: heir.rank, final: true }
      : undefined
  }

  return {
    wake() {
      woken = true
      if (closing.aborted) return
      running ??= run().finally(() => {
        running = undefined
        // Somebody may have come between the loop's last look and its end.
        if (woken && !closing.aborted) this.wake()
      })
    },
    idle: async () => running,
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown')
