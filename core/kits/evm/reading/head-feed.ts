import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../../../contracts/index.ts'
import type { Head, Log } from '../../../contracts/index.ts'
import { onAbort } from '../rpc/with-signal.ts'

const maxBackoffMs = 5_000

/**
 * New heads by polling. Any number of followers share one poll; a slow one gets the newest head and not those in between.
 * Failures are outlived: nodes come back.
 */
export function createHeadFeed(
  poll: (signal: AbortSignal) => Promise<Head>,
  pollingMs: number,
  log: Log,
): (signal: AbortSignal) => AsyncIterable<Head> {
  const followers = new Set<(head: Head) => void>()
  let last: Head | undefined
  let polling: AbortController | undefined

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        const head = await poll(signal)
        failures = 0
        if (head.hash !== last?.hash) {
          last = head
          for (const tell of followers) tell(head)
        }
      } catch (error) {
        failures += 1
        // What the nodes did is logged where it is seen.
        if (!signal.aborted && !(error instanceof SluiceError))
          log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'polling for heads failed')
      }
      const pauseMs = failures === 0 ? pollingMs : Math.min(pollingMs * 2 ** failures, Math.max(maxBackoffMs, pollingMs))
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  function follow(tell: (head: Head) => void): () => void {
    followers.add(tell)
    if (last && polling) tell(last)
    if (!polling) {
      polling = new AbortController()
      void run(polling.signal)
    }
    return () => {
      followers.delete(tell)
      if (followers.size > 0) return
      polling?.abort()
      polling = undefined
      last = undefined
    }
  }

  return async function* heads(signal) {
    let next: Head | undefined
    let wake = doNothing
    const forget = onAbort(signal, () => wake())
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
      forget()
      unfollow()
    }
  }
}

function doNothing(): void {}
