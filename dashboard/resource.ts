// What endpoints answer, kept for all parts of the page that show it, and asked again while somebody looks.
import { useLayoutEffect, useState } from 'preact/hooks'
import { get, queryOf, Refusal, serverNow, type GetPath, type RequestAt, type ResponseAt } from './api.ts'
import { onEvent, onStreamState, topics, type EventData, type Topic } from './events.ts'
import { shareAnswer } from './shared-answers.ts'

export interface Resource<T> {
  /** The last answer, also where a later request failed. */
  readonly data?: T | undefined
  /** When it came, by the server's clock. */
  readonly at?: number | undefined
  /** Of the last request. */
  readonly refusal?: Refusal | undefined
  reload(): void
}

/** @returns the answer as the event makes it, the same where it is about something else, undefined where the server has to be asked */
type TakeEvent<Answer, T extends Topic> = (answer: Answer, event: EventData<T>) => Answer | undefined

interface Refreshing<Request = object, Answer = unknown> {
  /** Also by the last answer, of which some want to be asked again sooner. */
  readonly everySeconds: number | ((answer: Answer | undefined) => number)
  /** What events do to the answer. Those of other topics do nothing. */
  readonly after?: { readonly [T in Topic]?: TakeEvent<Answer, T> }
  /** Events that make the answer old. */
  readonly askAfter?: { readonly [T in Topic]?: (event: EventData<T>) => boolean }
  /** However many events there are, they make it be asked for no more often than this. */
  readonly pauseSeconds?: number
  /** What is looked at first is asked for before it. */
  readonly isLater?: boolean
  /** Fields that follow the time, as they are when it is asked. */
  asOfNow?(): Partial<Request>
}

interface Entry {
  state: Resource<unknown>
  readonly watchers: Set<() => void>
  end?: (() => void) | undefined
}

const entries = new Map<string, Entry>()
/** Answers that nobody looks at are kept, for who comes back to a view: the newest of them, as long as they are news. */
const [mostUnwatched, unwatchedMs] = [16, 300_000]
/** Events come in bursts: they are taken together. */
const [gatherMs, pauseMs] = [250, 1_000]
/** After failures: 1, 2, 4 … seconds, at most this or as often as it is asked anyway. */
const longestRetrySeconds = 30

interface Question<Path extends GetPath> extends Refreshing<RequestAt<'GET', Path>, ResponseAt<'GET', Path>> {
  readonly request: RequestAt<'GET', Path>
}

/** @param path undefined: nothing is asked for */
export function useResource<Path extends GetPath>(
  path: Path | undefined,
  request: RequestAt<'GET', Path>,
  refreshing: Refreshing<RequestAt<'GET', Path>, ResponseAt<'GET', Path>>,
): Resource<ResponseAt<'GET', Path>> {
  const [resource] = useResources(path, path === undefined ? [] : [{ request, ...refreshing }])
  return resource ?? { reload: () => {} }
}

/** The answers to several questions of one path, in their order. */
export function useResources<Path extends GetPath>(
  path: Path | undefined,
  questions: readonly Question<Path>[],
): readonly Resource<ResponseAt<'GET', Path>>[] {
  const keys = questions.map(({ request, asOfNow }) => `${path}${queryOf(request)}${asOfNow ? ' as of now' : ''}`)
  const [, changed] = useState(0)
  // Before the page is painted, so that what it waits for is on its way meanwhile.
  useLayoutEffect(() => {
    if (path === undefined) return
    const watcher = () => changed((count) => count + 1)
    const watched = questions.map(({ request, ...refreshing }, index): [string, Entry] => {
      const key = keys[index] ?? ''
      const { isLater, asOfNow } = refreshing
      const ask = (sent?: () => void) => get(path, { ...request, ...asOfNow?.() }, { isLater, sent })
      return [key, entryOf(key, ask, refreshing as Refreshing)]
    })
    for (const [, { watchers }] of watched) watchers.add(watcher)
    watcher()
    return () => {
      for (const [key, entry] of watched) {
        entry.watchers.delete(watcher)
        if (entry.watchers.size > 0) continue
        entry.end?.()
        entry.end = undefined
        forget(key, entry)
      }
    }
  }, [keys.join('\n')])
  return keys.map((key) => (entries.get(key)?.state ?? { reload: () => {} }) as Resource<ResponseAt<'GET', Path>>)
}

type Ask = (sent?: () => void) => Promise<unknown>

function entryOf(key: string, ask: Ask, refreshing: Refreshing): Entry {
  const known = entries.get(key)
  const isNews = known?.end !== undefined || serverNow() - (known?.state.at ?? 0) < unwatchedMs
  const entry: Entry = known && isNews ? known : { state: { reload: () => {} }, watchers: new Set() }
  entries.set(key, entry)
  entry.end ??= keepFresh(key, entry, { ...refreshing, ask })
  return entry
}

/** Who looks for many things would leave as many answers behind. */
function forget(key: string, entry: Entry): void {
  // The newest is the last of the map.
  entries.delete(key)
  entries.set(key, entry)
  const unwatched = [...entries].filter(([, { end }]) => end === undefined)
  for (const [oldest] of unwatched.slice(0, -mostUnwatched)) entries.delete(oldest)
}

/** @returns ends it */
function keepFresh(key: string, entry: Entry, refreshing: Refreshing & { readonly ask: Ask }): () => void {
  const { after = {}, askAfter = {}, pauseSeconds = 0, ask } = refreshing
  const everySeconds = (): number => {
    const { everySeconds: every } = refreshing
    return typeof every === 'number' ? every : every(entry.state.data)
  }
  let [isAsking, isSent, isWanted, hasEnded] = [false, false, false, false]
  let [later, taking]: (ReturnType<typeof setTimeout> | undefined)[] = []
  let [failures, askedAt] = [0, -Infinity]
  /** An answer will do that was asked for since then, by the browser's clock. */
  let neededSince = -Infinity
  /** Those that came since the answer, or while it was on its way. */
  let events: ((answer: unknown) => unknown)[] = []

  const change = (state: Partial<Resource<unknown>>): void => {
    entry.state = { ...entry.state, ...state }
    for (const watcher of entry.watchers) watcher()
  }
  const isHidden = () => document.visibilityState === 'hidden'

  const takesEvents = Object.keys(after).length > 0
  const isTold = takesEvents || Object.keys(askAfter).length > 0
  // What events change differs from tab to tab by those that came meanwhile.
  const shared = takesEvents
    ? undefined
    : shareAnswer(key, (data, since) => {
        const isOld = since < neededSince
        // Its own answer is on its way, or comes in a moment.
        if (isAsking || (isOld && (!isWanted || pauseSeconds === 0))) return
        if (!isOld) [failures, isWanted] = [0, false]
        change({ data, at: serverNow(), refusal: undefined })
        clearTimeout(later)
        // As if this tab had asked: else each of ten tabs asks for itself beside a busy bot.
        askedAt = performance.now() - Math.max(0, Date.now() - since)
        later = setTimeout(() => void load(), isOld ? untilNextMs() : everySeconds() * 1000)
      })

  /** @param anew no answer will do that was asked for before */
  async function load(anew = false): Promise<void> {
    // A tab that nobody sees asks for nothing; it does once it is seen.
    if (isHidden() || isAsking) return void (isWanted = true)
    isAsking = true
    isWanted = false
    clearTimeout(later)
    askedAt = performance.now()
    events = []
    const since = anew || !shared || entry.state.data === undefined ? undefined : Math.max(neededSince, Date.now() - everySeconds() * 500)
    // Another tab may have sent it.
    isSent = since !== undefined
    const send = () => ask(() => void (isSent = true))
    try {
      const data = await (shared ? shared.ask(since, send) : send())
      failures = 0
      if (!isWanted) neededSince = -Infinity
      change({ data, at: serverNow(), refusal: undefined })
    } catch (error) {
      failures += 1
      change({ refusal: error instanceof Refusal ? error : new Refusal(String(error), '', 0) })
    }
    isAsking = false
    if (hasEnded) return
    clearTimeout(later)
    const seconds = failures === 0 ? everySeconds() : Math.min(everySeconds(), longestRetrySeconds, 2 ** (failures - 1))
    later = setTimeout(() => void load(), isWanted ? untilNextMs() : seconds * 1000)
    if (events.length > 0) takeSoon()
  }

  const untilNextMs = (): number => Math.max(pauseMs, askedAt + pauseSeconds * 1000 - performance.now())

  function soon(): void {
    neededSince = Date.now()
    if (isAsking || isWanted) return void (isWanted = true)
    isWanted = true
    clearTimeout(later)
    later = setTimeout(() => void load(), untilNextMs())
  }

  function takeSoon(): void {
    taking ??= setTimeout(() => {
      taking = undefined
      // Otherwise they are taken into the answer that is on its way.
      if (!isAsking) take()
    }, gatherMs)
  }

  function take(): void {
    const { data } = entry.state
    let taken = data
    for (const event of events.splice(0)) {
      taken = taken === undefined ? undefined : event(taken)
      if (taken === undefined) return soon()
    }
    if (taken !== data) change({ data: taken })
  }

  const hear = <T extends Topic>(topic: T): (() => void)[] => {
    const taker: TakeEvent<unknown, T> | undefined = after[topic]
    const makesOld: ((event: EventData<T>) => boolean) | undefined = askAfter[topic]
    if (taker === undefined && makesOld === undefined) return []
    const heard = (event: EventData<T>): void => {
      if (hasEnded) return
      if (makesOld?.(event)) soon()
      if (taker === undefined || isWanted) return
      if (isHidden()) return void (isWanted = true)
      events.push((answer) => taker(answer, event))
      takeSoon()
    }
    return [onEvent(topic, heard)]
  }
  const seen = (): void => {
    if (document.visibilityState === 'visible' && isWanted) void load()
  }
  const ends = [
    ...topics.flatMap((topic) => hear(topic)),
    onStreamState((isOpen, isFirst) => {
      const wasAsked = isAsking ? isSent : (entry.state.at ?? entry.state.refusal) !== undefined
      // Events may have been missed until now. At the first opening hardly any, and none of answers that have no events.
      if (isOpen && wasAsked && !(isFirst && !isTold)) soon()
    }),
  ]
  document.addEventListener('visibilitychange', seen)
  const reload = (): void => {
    // Also where an answer is on its way, or this one does not come: what was asked for before will not do later either.
    neededSince = Date.now()
    void load(true)
  }
  entry.state = { ...entry.state, reload }
  void load()
  return () => {
    hasEnded = true
    clearTimeout(later)
    clearTimeout(taking)
    document.removeEventListener('visibilitychange', seen)
    shared?.end()
    for (const end of ends) end()
  }
}
