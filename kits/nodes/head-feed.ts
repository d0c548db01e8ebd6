import { linkAbort, pause } from '../../core/base/async.ts'
import { SluiceError, type Head, type Log } from '../../core/contracts/index.ts'

/** Short: nodes that are put aside are not asked in any case. */
const maxBackoffMs = 1_000

interface HeadFeedOptions {
  poll: () => Promise<Head>
  /** How many blocks a head is older than what was given out before. 0 after a reorganisation. */
  behind: (number: bigint) => number
  pollingMs: number
  log: Log
}

/**
 * Finds new heads by polling. Any number of followers share one poll; a slow follower gets the newest head without those in between.
 * After a failure the polling goes on. Heads of a lagging node are ignored, so heads go back only with the chain.
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
        // Another loop serves the followers by now.
        if (signal.aborted) return
        failures = 0
        const isOld = (last === undefined || head.number < last.number) && behind(head.number) > 0
        if ((head.number !== last?.number || head.hash !== last.hash) && !isOld) {
          last = head
          for (const notify of followers) notify(head)
        }
      } catch (error) {
        failures += 1
        // Failures of nodes are logged where they happen.
        if (!signal.aborted && !(error instanceof SluiceError))
          log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'polling for heads failed')
      }
      const pauseMs = failures === 0 ? pollingMs : Math.min(pollingMs * 2 ** failures, Math.max(maxBackoffMs, pollingMs))
      await pause(pauseMs, signal)
    }
  }

  function follow(notify: (head: Head) => void): () => void {
    followers.add(notify)
    if (last && polling) notify(last)
    if (!polling) {
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
