// What endpoints answer, kept for all parts of the page that show it, and asked again while somebody looks.
import { useEffect, useState } from 'preact/hooks'
import { get, queryOf, Refusal, serverNow, type GetPath, type RequestAt, type ResponseAt } from './api.ts'
import { onEvent, onStreamState, type Topic } from './events.ts'

export interface Resource<T> {
  /** The last answer, also where a later request failed. */
  readonly data?: T | undefined
  /** When it came, by the server's clock. */
  readonly at?: number | undefined
  /** Of the last request. */
  readonly refusal?: Refusal | undefined
  reload(): void
}

interface Refreshing<Request = object> {
  readonly everySeconds: number
  /** Asked again after an event of these. */
  readonly topics?: readonly Topic[]
  /** Fields that follow the time, as they are when it is asked. */
  asOfNow?(): Partial<Request>
}

interface Entry {
  state: Resource<unknown>
  readonly watchers: Set<() => void>
  end?: (() => void) | undefined
}

const entries = new Map<string, Entry>()
/** Events come in bursts. */
const pauseMs = 1_000
/** After failures: 1, 2, 4 … seconds, at most this or as often as it is asked anyway. */
const longestRetrySeconds = 30

/** @param path undefined: nothing is asked for */
export function useResource<Path extends GetPath>(
  path: Path | undefined,
  request: RequestAt<'GET', Path>,
  refreshing: Refreshing<RequestAt<'GET', Path>>,
): Resource<ResponseAt<'GET', Path>> {
  const { asOfNow } = refreshing
  const key = path === undefined ? '' : `${path}${queryOf(request)}${asOfNow ? ' as of now' : ''}`
  const [, changed] = useState(0)
  useEffect(() => {
    if (path === undefined) return
    const entry = entryOf(key, () => get(path, { ...request, ...asOfNow?.() }), refreshing)
    const watcher = () => changed((count) => count + 1)
    entry.watchers.add(watcher)
    watcher()
    return () => {
      entry.watchers.delete(watcher)
      if (entry.watchers.size > 0) return
      entry.end?.()
      entry.end = undefined
    }
  }, [key])
  return (entries.get(key)?.state ?? { reload: () => {} }) as Resource<ResponseAt<'GET', Path>>
}

function entryOf(key: string, ask: () => Promise<unknown>, refreshing: Refreshing): Entry {
  const known = entries.get(key)
  const entry: Entry = known ?? { state: { reload: () => {} }, watchers: new Set() }
  if (!known) entries.set(key, entry)
  if (!entry.end) entry.end = keepFresh(entry, ask, refreshing)
  return entry
}

/** @returns ends it */
function keepFresh(entry: Entry, ask: () => Promise<unknown>, { everySeconds, topics = [] }: Refreshing): () => void {
  let [isAsking, isWanted, hasEnded] = [false, false, false]
  let later: ReturnType<typeof setTimeout> | undefined
  let failures = 0

  const change = (state: Partial<Resource<unknown>>): void => {
    entry.state = { ...entry.state, ...state }
    for (const watcher of entry.watchers) watcher()
  }

  async function load(): Promise<void> {
    // A tab that nobody sees asks for nothing; it does once it is seen.
    if (document.visibilityState === 'hidden' || isAsking) return void (isWanted = true)
    isAsking = true
    isWanted = false
    clearTimeout(later)
    try {
      const data = await ask()
      failures = 0
      change({ data, at: serverNow(), refusal: undefined })
    } catch (error) {
      failures += 1
      change({ refusal: error instanceof Refusal ? error : new Refusal(String(error), '', 0) })
    }
    isAsking = false
    if (hasEnded) return
    clearTimeout(later)
    const seconds = failures === 0 ? everySeconds : Math.min(everySeconds, longestRetrySeconds, 2 ** (failures - 1))
    later = setTimeout(() => void load(), isWanted ? pauseMs : seconds * 1000)
  }

  const soon = (): void => {
    if (isAsking || isWanted) return void (isWanted = true)
    isWanted = true
    clearTimeout(later)
    later = setTimeout(() => void load(), pauseMs)
  }
  const seen = (): void => {
    if (document.visibilityState === 'visible' && isWanted) void load()
  }
  const ends = [
    ...topics.map((topic) => onEvent(topic, soon)),
    // What happened while no events came is not known.
    onStreamState((isOpen) => void (isOpen && (entry.state.at ?? entry.state.refusal) !== undefined && soon())),
  ]
  document.addEventListener('visibilitychange', seen)
  entry.state = { ...entry.state, reload: () => void load() }
  void load()
  return () => {
    hasEnded = true
    clearTimeout(later)
    document.removeEventListener('visibilitychange', seen)
    for (const end of ends) end()
  }
}
