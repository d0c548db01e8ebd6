import type { BookChanged, NewestBook } from '../../live-state/book-feed.ts'

/** Who is told of a book, and each only what is news to it. */
export interface Followers {
  /** Told at once what there is now, unless that is `nothing` that could be told yet. */
  add(changed: BookChanged, now: NewestBook | 'nothing'): () => void
  tell(newest: NewestBook): void
  readonly size: number
}

export function createFollowers(): Followers {
  const told = new Map<object, { changed: BookChanged; last: NewestBook | 'nothing' }>()
  return {
    add(changed, now) {
      const key = {}
      told.set(key, { changed, last: now })
      if (now !== 'nothing') changed(now)
      return () => void told.delete(key)
    },
    tell(newest) {
      for (const each of told.values()) {
        if (each.last === newest) continue
        each.last = newest
        each.changed(newest)
      }
    },
    get size() {
      return told.size
    },
  }
}
