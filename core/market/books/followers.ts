import type { BookChanged, BookView } from './book-view.ts'

/** Who is told of a book, and each only what is news to it. */
export interface Followers {
  /** Told at once what there is now, unless that is `nothing` that could be told yet. */
  add(changed: BookChanged, now: BookView | undefined | 'nothing'): () => void
  tell(view: BookView | undefined): void
  readonly size: number
}

export function createFollowers(): Followers {
  const told = new Map<object, { changed: BookChanged; last: BookView | undefined | 'nothing' }>()
  return {
    add(changed, now) {
      const key = {}
      told.set(key, { changed, last: now })
      if (now !== 'nothing') changed(now)
      return () => void told.delete(key)
    },
    tell(view) {
      for (const each of told.values()) {
        if (each.last === view) continue
        each.last = view
        each.changed(view)
      }
    },
    get size() {
      return told.size
    },
  }
}
