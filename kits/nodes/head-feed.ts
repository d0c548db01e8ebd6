import { linkAbort, pause } from '../../core/base/async.ts'
import { SluiceError, type Head, type Log } from '../../core/contracts/index.ts'
import type { Rpc } from './rpc.ts'

/** Of a network that has just failed. Short: nodes that are put aside are not asked in any case. */
const firstBackoffMs = 1_000
/**
 * A network that stays away is asked after each further quarter of the time that it was away, so that its return is noticed late by a quarter of
 * that, and by this at most. A server follows many networks, and each attempt costs connections to all nodes of one.
 */
const maxBackoffMs = 10_000
const backoffShare = 1 / 4

interface HeadFeedOptions {
  /** The nodes that are polled. */
  rpc: Pick<Rpc, 'behind' | 'onRecovery'>
  poll: () => Promise<Head>
  pollingMs: number
  log: Log
  /** Steady. */
  nowMs?: () => number
}

/**
 * Finds new heads by polling. Any number of followers share one poll; a slow follower gets the newest head without those in between.
 * After a failure the polling goes on, and at once for a new follower. Heads of a lagging node are ignored, so heads go back only with the chain.
 */
export function createHeadFeed({
  rpc,
  poll,
  pollingMs,
  log,
  nowMs = () => performance.now(),
}: HeadFeedOptions): (signal: AbortSignal) => AsyncIterable<Head> {
  const followers = new Set<(head: Head) => void>()
  let last: Head | undefined
  let polling: AbortController | undefined
  let endBackoff = () => {}
  // Somebody else's question has found a node that works again: then there is nothing to wait for.
  rpc.onRecovery(() => endBackoff())

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    let failedSinceMs = 0
    while (!signal.aborted) {
      try {
        const head = await poll()
        // Another loop serves the followers by now.
        if (signal.aborted) return
        failures = 0
        const isOld = (last === undefined || head.number < last.number) && rpc.behind(head.number) > 0
        if ((head.number !== last?.number || head.hash !== last.hash) && !isOld) {
          last = head
          for (const notify of followers) notify(head)
        }
      } catch (error) {
        if (failures === 0) failedSinceMs = nowMs()
        failures += 1
        // Failures of nodes are logged where they happen.
        if (!signal.aborted && !(error instanceof SluiceError))
          log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'polling for heads failed')
      }
      // Another loop may be backing off by now.
      if (signal.aborted) return
      if (failures === 0) await pause(pollingMs, signal)
      else await backOff(failures, nowMs() - failedSinceMs, signal)
    }
  }

  async function backOff(failures: number, awayMs: number, signal: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const unlink = linkAbort(signal, ended)
    endBackoff = () => ended.abort()
    const firstMs = Math.min(pollingMs * 2 ** failures, Math.max(firstBackoffMs, pollingMs))
    await pause(Math.max(firstMs, Math.min(awayMs * backoffShare, maxBackoffMs)), ended.signal)
    unlink()
  }

  function follow(notify: (head: Head) => void): () => void {
    followers.add(notify)
    if (last && polling) notify(last)
    if (polling) endBackoff()
    else {
      polling = new AbortController()
      void run(polling.signal)
    }
    return () => {
      followers.delete(notify)
      if (followers.size > 0) return
      polling?.abort()
      polling = undefined
      last = undefined
    }
  }

  return async function* heads(signal) {
    let next: Head | undefined
    let wake = () => {}
    const ended = new AbortController()
    const unlink = linkAbort(signal, ended)
    ended.signal.addEventListener('abort', () => wake())
    const unfollow = follow((head) => {
      next = head
      wake()
    })
    try {
      while (!signal.aborted) {
        const head = next
        next = undefined
        if (head) yield head
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      unlink()
      unfollow()
    }
  }
}
