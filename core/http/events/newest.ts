import type { News } from './frame.ts'
import type { Told } from '../../events/topic.ts'

/** All that one stream tells only the newest of: of thousands it looks only at those that rang. */
export interface Newest {
  follow(begin: (ring: () => void) => Told): void
  /** What is news to the stream, each as it is when its turn comes. */
  take(): Generator<News>
  end(): void
}

interface Each {
  newest: Told['newest']
  told?: News
}

export function createNewest(ring: () => void): Newest {
  const rung = new Set<Each>()
  const ends: (() => void)[] = []
  return {
    follow(begin) {
      const each: Each = { newest: () => undefined }
      const { newest, end } = begin(() => {
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
