import type { EventTopic, TopicRequest } from '../api/events.ts'
import type { At } from '../contracts/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import type { Caller } from '../handlers/context.ts'
import { findNetworks, type NetworkEntry, type Registry, type VenueEntry } from '../plugins/index.ts'

/** A topic of /events that tells the latest of each thing: who was away misses nothing that still counts. */
export interface Topic<Name extends EventTopic> {
  /** What the request follows of this topic, each to be subscribed to. @throws SluiceError as the endpoints about the same things do */
  find(request: TopicRequest<Name>, at: At, caller: Caller): Promise<readonly Subscribe[]>
}

/** Calls back whenever the subscription has a new update, until its end. */
export type Subscribe = (notify: () => void) => Subscription

export interface Subscription {
  /** Undefined if nothing is known yet. */
  latest(): EventUpdate | undefined
  end(): void
}

/** An event with its data as JSON, written once for all streams. Each update is another object. */
export interface EventUpdate {
  readonly event: string
  readonly json: string
}

interface SharedFeedOptions<T, S> {
  event: string
  /** Requests with the same key share one source. */
  keyOf(item: T): string
  /**
   * Calls `changed` with every new state, until the returned function is called. `renewed` takes a state that is no change to those who know
   * the last one, but is more recent for those who come later.
   */
  follow(item: T, changed: (state: S) => void, renewed: (state: S) => void): () => void
  show(item: T, state: S): object
}

/** Follows each thing once for all streams, and writes its updates once. */
export interface SharedFeed<T> {
  follow(item: T, notify: () => void): Subscription
  /** For a topic: begins the subscription later. */
  subscriber(item: T): Subscribe
}

interface SharedSource<S> {
  state: { readonly value: S } | undefined
  /** Written when the first stream takes it after a change. */
  update: EventUpdate | undefined
  readonly notifiers: Set<() => void>
  readonly end: () => void
}

export function createSharedFeed<T, S>({ event, keyOf, follow: followSource, show }: SharedFeedOptions<T, S>): SharedFeed<T> {
  const sources = new Map<string, SharedSource<S>>()

  function start(key: string, item: T): SharedSource<S> {
    let end = () => {}
    const source: SharedSource<S> = { state: undefined, update: undefined, notifiers: new Set(), end: () => end() }
    const set = (value: S) => {
      source.state = { value }
      source.update = undefined
    }
    const setAndNotify = (value: S) => {
      set(value)
      for (const notify of source.notifiers) notify()
    }
    end = followSource(item, setAndNotify, set)
    sources.set(key, source)
    return source
  }

  function follow(item: T, notify: () => void): Subscription {
    const key = keyOf(item)
    const source = sources.get(key) ?? start(key, item)
    // The same function may be passed for several things.
    const own = () => notify()
    source.notifiers.add(own)
    return {
      latest() {
        if (source.state) source.update ??= { event, json: JSON.stringify(show(item, source.state.value)) }
        return source.update
      },
      end() {
        source.notifiers.delete(own)
        if (source.notifiers.size > 0 || sources.get(key) !== source) return
        sources.delete(key)
        source.end()
      },
    }
  }

  return { follow, subscriber: (item) => (notify) => follow(item, notify) }
}

/** All subscriptions of one stream. Of thousands it looks only at those that notified it. */
export interface LatestUpdates {
  follow(subscribe: Subscribe): void
  /** The updates that the stream has not taken yet, each as it is when its turn comes. */
  take(): Generator<EventUpdate>
  end(): void
}

export function createLatestUpdates(notify: () => void): LatestUpdates {
  const changed = new Set<{ subscription?: Subscription; taken?: EventUpdate }>()
  const subscriptions: Subscription[] = []
  return {
    follow(subscribe) {
      const entry: { subscription?: Subscription } = {}
      entry.subscription = subscribe(() => {
        changed.add(entry)
        notify()
      })
      changed.add(entry)
      subscriptions.push(entry.subscription)
    },
    *take() {
      const entries = [...changed]
      changed.clear()
      for (const entry of entries) {
        const update = entry.subscription?.latest()
        if (!update || update === entry.taken) continue
        entry.taken = update
        yield update
      }
    },
    end() {
      for (const { end } of subscriptions.splice(0)) end()
    },
  }
}

/**
 * Finds something on each network that the connector serves and the request allows. A network that has no such thing or no nodes is left out.
 * @throws SluiceError if no network has it
 */
export async function onEachNetwork<T>(
  registry: Registry,
  connector: string,
  { chain, network }: TopicRequest<'blocks'>,
  find: (network: NetworkEntry, venue: VenueEntry) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const networks = findNetworks(registry, { chain, network }).filter((each) =>
    registry.venuesOn(each.chain, each.network).some((venue) => venue.connector === connector),
  )
  if (networks.length === 0) {
    const asked = [chain, network].filter((each) => each !== undefined).join('/')
    throw new SluiceError(
      'UNKNOWN_CHAIN_ERROR',
      `The connector ${connector} does not serve ${asked}; GET /connectors lists what it serves.`,
    )
  }
  return onNetworks(networks, async (each) => {
    registry.use(each.chain, each.network)
    await registry.wake(each.chain, each.network, connector)
    const venue = registry.venue(connector, each.chain, each.network)
    return find(registry.networkOf(venue, each.chain, each.network), venue)
  })
}

/** What is found on these networks, without those that fail. @throws SluiceError if nothing is found */
export async function onNetworks<T>(
  networks: readonly NetworkEntry[],
  find: (network: NetworkEntry) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const results = await Promise.allSettled(networks.map(find))
  const found = results.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
  if (found.length > 0) return found
  const failures: unknown[] = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  throw failures.find((error) => error instanceof SluiceError && error.http < 500) ?? failures[0]
}

/** @param names what the field names, to complete the sentence */
export const missingField = (field: string, names: string) => badFields([{ field, problem: `is missing: it names ${names}` }])
