import { pause } from '../../core/async.ts'
import { SluiceError, type Head, type Log } from '../../core/contracts/index.ts'
import { onAbort } from './dialect.ts'

/** Nodes that are put aside are not asked anyway. */
const maxBackoffMs = 1_000

interface HeadFeedOptions {
  poll: () => Promise<Head>
  /** How many blocks a head is older than what was shown before; 0 for one of a reorganisation. */
  behind: (number: bigint) => number
  pollingMs: number
  log: Log
}

/**
 * New heads by polling. Any number of followers share one poll; a slow one gets the newest head and not those in between.
 * Failures are outlived: nodes come back. A node that lags is never heard: heads go back only with the chain.
 */
export function createHeadFeed({ poll, behind, pollingMs, log }: HeadFeedOptions): (signal: AbortSignal) => AsyncIterable<Head> {
  const followers = new Set<(head: Head) => void>()
  let last: Head | undefined
  let polling: AbortController | undefined

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        const head = await poll()
        // Others follow by another loop by now.
        if (signal.aborted) return
        failures = 0
        const isOld = (last === undefined || head.number < last.number) && behind(head.number) > 0
        if ((head.number !== last?.number || head.hash !== last.hash) && !isOld) {
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
      await pause(pauseMs, signal)
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
