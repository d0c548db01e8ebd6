import { SluiceError, type EventsRequest } from '../api/index.ts'
import { type Registry, type NetworkEntry, type VenueEntry, findNetworks } from '../handlers/registry.ts'
import type { EventUpdate } from './stream.ts'

/** What a stream has of something that it tells only the newest of. */
export interface Subscription {
  /** Undefined while nothing can be said. */
  latest(): EventUpdate | undefined
  end(): void
}

interface SharedFeedOptions<T, S> {
  event: string
  /** What is followed as one. */
  keyOf(each: T): string
  /**
   * Calls back with the state after every change, until the function given is called. `renewed`: with one that is no news to who was told,
   * and better for who comes from now on.
   */
  follow(each: T, changed: (state: S) => void, renewed: (state: S) => void): () => void
  show(each: T, state: S): object
}

export interface SharedFeed<T> {
  /** Rings at every change. */
  follow(each: T, ring: () => void): Subscription
}

interface Followed<S> {
  heard: { readonly state: S } | undefined
  /** Undefined until it is asked for after a change: what nobody takes is not written. */
  news: EventUpdate | undefined
  readonly rings: Set<() => void>
  readonly end: () => void
}

/** Follows each thing that somebody wants to hear of once, and writes it once, for all of them. */
export function createSharedFeed<T, S>({ event, keyOf, follow, show }: SharedFeedOptions<T, S>): SharedFeed<T> {
  const all = new Map<string, Followed<S>>()

  function start(key: string, one: T): Followed<S> {
    let end = () => {}
    const followed: Followed<S> = { heard: undefined, news: undefined, rings: new Set(), end: () => end() }
    const hear = (state: S) => {
      followed.heard = { state }
      followed.news = undefined
    }
    const tell = (state: S) => {
      hear(state)
      for (const ring of followed.rings) ring()
    }
    end = follow(one, tell, hear)
    all.set(key, followed)
    return followed
  }

  return {
    follow(one, ring) {
      const key = keyOf(one)
      const followed = all.get(key) ?? start(key, one)
      // One bell may ring for several.
      const mine = () => ring()
      followed.rings.add(mine)
      return {
        latest() {
          if (followed.heard) followed.news ??= { event, json: JSON.stringify(show(one, followed.heard.state)) }
          return followed.news
        },
        end() {
          followed.rings.delete(mine)
          if (followed.rings.size > 0 || all.get(key) !== followed) return
          all.delete(key)
          followed.end()
        },
      }
    },
  }
}

/** All that one stream tells only the newest of: of thousands it looks only at those that rang. */
export interface LatestUpdates {
  follow(begin: (ring: () => void) => Subscription): void
  /** What is news to the stream, each as it is when its turn comes. */
  take(): Generator<EventUpdate>
  end(): void
}

interface Each {
  newest: Subscription['latest']
  told?: EventUpdate
}

export function createLatestUpdates(ring: () => void): LatestUpdates {
  const rung = new Set<Each>()
  const ends: (() => void)[] = []
  return {
    follow(begin) {
      const each: Each = { newest: () => undefined }
      const { latest: newest, end } = begin(() => {
        rung.add(each)
        ring()
      })
      each.newest = newest
      rung.add(each)
      ends.push(end)
    },
    *take() {
      const now = [...rung]
      rung.clear()
      for (const each of now) {
        const news = each.newest()
        if (!news || news === each.told) continue
        each.told = news
        yield news
      }
    },
    end() {
      for (const end of ends.splice(0)) end()
    },
  }
}

type Names = Pick<EventsRequest, 'chain' | 'network'>

/** What a connector has of what is asked for, on all networks that the request does not rule out. @throws SluiceError where it is on none */
export async function onEachNetwork<T>(
  directory: Registry,
  connector: string,
  names: Names,
  find: (network: NetworkEntry, venue: VenueEntry) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found = await Promise.allSettled(
    networksOf(directory, connector, names).map(async ({ chain, network }) => {
      await directory.wake(chain, network, connector)
      return find(directory.network(chain, network), directory.venue(connector, chain, network))
    }),
  )
  const there = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
  // That one network has no such thing, or has no nodes, is no reason to say nothing of another.
  if (there.length > 0) return there
  const failures: unknown[] = found.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  throw failures.find((error) => error instanceof SluiceError && error.http < 500) ?? failures[0]
}

function networksOf(directory: Registry, connector: string, { chain, network }: Names): readonly NetworkEntry[] {
  const networks = findNetworks(directory, { ...(chain !== undefined && { chain }), ...(network !== undefined && { network }) })
  const serving = networks.filter((each) => directory.venuesOn(each.chain, each.network).some((venue) => venue.connector === connector))
  if (serving.length > 0) return serving
  const asked = [chain, network].filter((each) => each !== undefined).join('/')
  throw new SluiceError('UNKNOWN_CHAIN_ERROR', `The connector ${connector} does not serve ${asked}; GET /connectors lists what it serves.`)
}
