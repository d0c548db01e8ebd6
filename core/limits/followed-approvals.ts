// What waits for a second person, for those who follow it.
import { createFollowed, type Followed } from '../store/followed.ts'
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

/** The newest: more than wait, where each client may have twenty. */
const mostRead = 500
const mostEnded = 100

const isOpen = ({ state }: Approval): boolean => state === 'waiting' || state === 'approved'

export function createApprovalFeed({ list, isRevoked }: Pick<Approvals, 'list' | 'isRevoked'>, log: StoreLog): Followed<FollowedApprovals> {
  async function read() {
    const recent = await list({ limit: mostRead })
    const waiting = recent.filter(isOpen)
    const areRevoked = await Promise.all(waiting.map(isRevoked))
    const revoked = waiting.filter((_, index) => areRevoked[index]).map(({ id }) => id)
    const ended = recent.filter((each) => !isOpen(each)).slice(0, mostEnded)
    return { state: { waiting, ended, revoked: new Set(revoked) }, text: JSON.stringify([recent, revoked]) }
  }
  return createFollowed(read, 'what waits for an approval not read; tried again', log)
}
