import type { News } from '../http/events/frame.ts'

/** What a stream has of something that it tells only the newest of. */
export interface Told {
  /** Undefined while nothing can be said. */
  newest(): News | undefined
  end(): void
}

export interface SharedNewsOptions<T, S> {
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

export interface SharedNews<T> {
  /** Rings at every change. */
  follow(each: T, ring: () => void): Told
}

interface Followed<S> {
  heard: { readonly state: S } | undefined
  /** Undefined until it is asked for after a change: what nobody takes is not written. */
  news: News | undefined
  readonly rings: Set<() => void>
  readonly end: () => void
}

/** Follows each thing that somebody wants to hear of once, and writes it once, for all of them. */
export function createSharedNews<T, S>({ event, keyOf, follow, show }: SharedNewsOptions<T, S>): SharedNews<T> {
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
        newest() {
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
