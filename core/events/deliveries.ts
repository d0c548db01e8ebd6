import type { DeliveriesEvent } from '../api/events.ts'
import { hasPermission, type Caller } from '../handlers/context.ts'
import type { Deliveries, LostDelivery } from '../transactions/deliveries.ts'
import { createSharedFeed, type Topic } from './topic.ts'

const shown = 20
/** What a server changed is told so late at most. */
const refreshMs = 1_000

/** The topic `deliveries`: which answers were lost last and what became of them, of it what the caller may see, and again after each change. */
export function createDeliveryTopic(
  { recent }: Pick<Deliveries, 'recent'>,
  log: { warn(fields: object, message: string): void },
): Topic<'deliveries'> {
  const feed = createSharedFeed<Caller, readonly LostDelivery[]>({
    event: 'deliveries',
    keyOf: ({ fingerprint }) => fingerprint,
    follow: (_, changed) => followRecent(recent, changed, log),
    show: (caller, all): DeliveriesEvent => ({
      deliveries: all
        .filter(({ client }) => client === caller.id || hasPermission(caller, 'admin'))
        .slice(0, shown)
        .map((each) => ({ ...each })),
    }),
  })
  return { find: async (_request, _at, caller) => [feed.subscriber(caller)] }
}

function followRecent(
  recent: Deliveries['recent'],
  changed: (rows: readonly LostDelivery[]) => void,
  log: { warn(fields: object, message: string): void },
): () => void {
  let known: string | undefined
  let isFailing = false
  async function refresh(): Promise<void> {
    try {
      const rows = await recent()
      isFailing = false
      const text = JSON.stringify(rows)
      if (text === known) return
      known = text
      changed(rows)
    } catch (error) {
      // Logged once as long as it lasts.
      if (!isFailing) log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'lost answers not read; tried again')
      isFailing = true
    }
  }
  const timer = setInterval(() => void refresh(), refreshMs).unref()
  void refresh()
  return () => clearInterval(timer)
}
