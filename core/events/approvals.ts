import type { ApprovalsEvent } from '../api/events.ts'
import { isApprovalShownTo, showApproval } from '../handlers/approvals.ts'
import { rightsKey, type Caller } from '../handlers/context.ts'
import type { Approvals } from '../limits/approvals.ts'
import type { FollowedApprovals } from '../limits/followed-approvals.ts'
import { createSharedFeed, type Topic } from './topic.ts'

const endedShown = 20

/** The topic `approvals`: what waits for a second person and what ended last, of it what the caller may see, and again after each change. */
export function createApprovalTopic(approvals: Pick<Approvals, 'follow'>): Topic<'approvals'> {
  const feed = createSharedFeed<Caller, FollowedApprovals>({
    event: 'approvals',
    keyOf: rightsKey,
    follow: (_, changed) => approvals.follow(changed),
    show: (caller, { waiting, ended, revoked }): ApprovalsEvent => ({
      waiting: waiting.filter((each) => isApprovalShownTo(caller, each)).map((each) => showApproval(each, revoked.has(each.id))),
      ended: ended
        .filter((each) => isApprovalShownTo(caller, each))
        .slice(0, endedShown)
        .map((each) => showApproval(each)),
    }),
  })
  return { find: async (_request, _at, caller) => [feed.subscriber(caller)] }
}
