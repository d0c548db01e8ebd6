// What the store says of something, for those who follow it: read once a second for all of them while somebody does, and when this server changed it.
import type { StoreLog } from './store.ts'
import { oneAtATime } from '../base/async.ts'
import { reasonOf } from '../base/errors.ts'

export interface Followed<S> {
  /** Calls with what is known, and with each change by whichever server, until the returned function is called. */
  follow(changed: (state: S) => void): () => void
  /** Reads it again, where somebody follows. Never rejects. */
  refresh(): Promise<void>
  stop(): void
}

/** What another server changed is told so late at most. */
const refreshMs = 1_000

/**
 * @param read of a state, with a text that is the same as long as nothing has changed
 * @param words what the log says where it could not be read, once as long as it lasts
 */
export function createFollowed<S>(
  read: () => Promise<{ readonly state: S; readonly text: string }>,
  words: string,
  log: Pick<StoreLog, 'warn'>,
): Followed<S> {
  const followers = new Set<(state: S) => void>()
  let known: { readonly state: S; readonly text: string } | undefined
  let timer: NodeJS.Timeout | undefined
  let isFailing = false

  // Else what was read before a change could be told after it.
  const refresh = oneAtATime(readOnce)

  async function readOnce(): Promise<void> {
    if (followers.size === 0) return
    try {
      const now = await read()
      isFailing = false
      if (now.text === known?.text || followers.size === 0) return
      known = now
      for (const changed of followers) changed(now.state)
    } catch (error) {
      const reason = reasonOf(error)
      if (!isFailing) log.warn({ reason }, words)
      isFailing = true
    }
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
    known = undefined
  }

  return {
    follow(changed) {
      const follower = (state: S) => changed(state)
      followers.add(follower)
      timer ??= setInterval(() => void refresh(), refreshMs).unref()
      if (known) changed(known.state)
      else void refresh()
      return () => {
        followers.delete(follower)
        if (followers.size === 0) stop()
      }
    },
    refresh,
    stop,
  }
}
