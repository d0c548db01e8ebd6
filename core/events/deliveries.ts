import type { DeliveriesEvent } from '../api/events.ts'
import { hasPermission, rightsKey, type Caller } from '../handlers/context.ts'
import { createFollowed } from '../store/followed.ts'
import type { Deliveries } from '../transactions/deliveries.ts'
import type { LostDelivery } from '../transactions/delivery-table.ts'
import { createSharedFeed, type Topic } from './topic.ts'

const shown = 20

/** The topic `deliveries`: which answers were lost last and what became of them, of it what the caller may see, and again after each change. */
export function createDeliveryTopic(
  { recent }: Pick<Deliveries, 'recent'>,
  log: { warn(fields: object, message: string): void },
): Topic<'deliveries'> {
  const read = async () => {
    const state = await recent()
    return { state, text: JSON.stringify(state) }
  }
  const followed = createFollowed(read, 'lost answers not read; tried again', log)
  const feed = createSharedFeed<Caller, readonly LostDelivery[]>({
    event: 'deliveries',
    keyOf: rightsKey,
    follow: (_, changed) => followed.follow(changed),
    show: (caller, all): DeliveriesEvent => ({
      deliveries: all
        .filter(({ client }) => client === caller.id || hasPermission(caller, 'admin'))
        .slice(0, shown)
        .map((each) => ({ ...each })),
    }),
  })
  return { find: async (_request, _at, caller) => [feed.subscriber(caller)] }
}
