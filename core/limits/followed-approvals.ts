// What waits for a second person, for those who follow it: read from the store once a second while somebody does, and at each change of this server.
import type { StoreLog } from '../store/store.ts'
import type { Approval, Approvals } from './approvals.ts'

/** Newest first. */
export interface FollowedApprovals {
  /** Those that wait, or are being carried out. */
  readonly waiting: readonly Approval[]
  /** The last ones that do not any more. */
  readonly ended: readonly Approval[]
  /** By their ids, those whose certificate is revoked by now. */
  readonly revoked: ReadonlySet<number>
}

export interface ApprovalFeed {
  /** Calls with what is known, and with each change, until the returned function is called. */
  follow(changed: (state: FollowedApprovals) => void): () => void
  /** Reads them again, where somebody follows. Never rejects. */
  refresh(): Promise<void>
  stop(): void
}

/** What another server changed is told so late at most. */
const refreshMs = 1_000
/** The newest: more than wait, where each client may have twenty. */
const mostRead = 500
const mostEnded = 100

const isOpen = ({ state }: Approval): boolean => state === 'waiting' || state === 'approved'

export function createApprovalFeed({ list, isRevoked }: Pick<Approvals, 'list' | 'isRevoked'>, log: StoreLog): ApprovalFeed {
  const followers = new Set<(state: FollowedApprovals) => void>()
  let known: { readonly state: FollowedApprovals; readonly text: string } | undefined
  let timer: NodeJS.Timeout | undefined
  let isFailing = false

  async function refresh(): Promise<void> {
    if (followers.size === 0) return
    try {
      const recent = await list({ limit: mostRead })
      const waiting = recent.filter(isOpen)
      const areRevoked = await Promise.all(waiting.map(isRevoked))
      const revoked = waiting.filter((_, index) => areRevoked[index]).map(({ id }) => id)
      isFailing = false
      const text = JSON.stringify([recent, revoked])
      if (text === known?.text || followers.size === 0) return
      const state = { waiting, ended: recent.filter((each) => !isOpen(each)).slice(0, mostEnded), revoked: new Set(revoked) }
      known = { state, text }
      for (const changed of followers) changed(state)
    } catch (error) {
      // Logged once as long as it lasts.
      const reason = error instanceof Error ? error.message : 'unknown'
      if (!isFailing) log.warn({ reason }, 'what waits for an approval not read; tried again')
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
      const follower = (state: FollowedApprovals) => changed(state)
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
