import type { StopsEvent } from '../api/events.ts'
import { showStop } from '../config/stops.ts'
import { rightsKey, type Caller } from '../handlers/context.ts'
import { isShownTo } from '../handlers/stops.ts'
import type { Stops, StopState } from '../transactions/stops.ts'
import { createSharedFeed, type Topic } from './topic.ts'

/** The topic `stops`: what is stopped and what was lifted last, of it what the caller may see, and again after each change. */
export function createStopTopic(stops: Pick<Stops, 'follow'>): Topic<'stops'> {
  const feed = createSharedFeed<Caller, StopState>({
    event: 'stops',
    keyOf: rightsKey,
    follow: (_, changed) => stops.follow(changed),
    show: (caller, { inForce, lifted }): StopsEvent => ({
      stops: inForce.filter((stop) => isShownTo(caller, stop)).map(showStop),
      lifted: lifted
        .filter((stop) => isShownTo(caller, stop))
        .map((stop) => ({ ...showStop(stop), liftedBy: stop.liftedBy, liftedAt: stop.liftedAt })),
    }),
  })
  return { find: async (_request, _at, caller) => [feed.subscriber(caller)] }
}
