import { SluiceError } from '../api/index.ts'
import type { BookMarket, BookStream, BookUpdate } from '../contracts/index.ts'
import { abortable, createBackoff, createCondition, pause, withDeadline } from '../async.ts'
import type { StateSubject, Telemetry } from './telemetry.ts'
import { bookName, noBook, type BookVenue, type BookView, type BookFeed, type LatestBook, createBookListeners } from './book-feed.ts'
import { createStreamBook, type BookStatus, createStreamCheck, type StreamCheck } from './stream-book.ts'

interface StreamFeedOptions {
  venue: BookVenue
  stream: BookStream
  market: BookMarket
  witness: Telemetry
  /** So long without a word is the exchange believed to be there. */
  staleMs: number
}

/** For a book that is not there yet, or has a gap; one that is lost is not waited for. */
const mostWaitMs = 5_000
/** The stream has so long to begin, or to come back, before a snapshot is asked for besides. */
const beginMs = 2_000
const returnMs = 30_000
const snapshotMs = 10_000

/** A book that the exchange tells of, kept and healed. */
export function createStreamFeed({ venue, stream, market, witness, staleMs }: StreamFeedOptions): BookFeed {
  const { chain, network, connector } = venue
  const place: StateSubject = { chain, network, connector, what: market.id }
  const name = bookName(venue, market)
  const book = createStreamBook()
  const followers = createBookListeners()
  const news = createCondition()
  const over = new AbortController()
  const asking = createBackoff()
  let underWay = false
  let newest: LatestBook = noBook
  let view: BookView | undefined
  let heardAt = performance.now()
  let reason = 'the exchange has not told it yet'
  let losses = 0
  let check: { of: StreamCheck; since: number } | undefined

  function hear(update: BookUpdate): void {
    if (over.signal.aborted) return
    const before = book.status
    const taken = book.take(update)
    if (taken === 'passed') return
    if (book.status !== 'good') {
      if (book.status !== before) trouble(book.status, update)
      return
    }
    if (taken !== 'traded') heardAt = performance.now()
    if (before !== 'good') asking.reset()
    view = undefined
    // What was traded last is for who asks: a follower is told of books.
    if (taken !== 'changed') return
    witness.update(place, 1)
    check?.of.saw(book.sequence, book.book())
    // Another one for every change.
    newest = () => (newest === noBook ? undefined : shown())
    followers.tell(newest)
    news.notifyAll()
  }

  /** Written out when somebody looks, once for each change: sides are long. */
  function shown(): BookView {
    return (view ??= { ...book.book(), sequence: book.sequence, timestamp: book.timestamp })
  }

  function trouble(standing: BookStatus, update: BookUpdate): void {
    check = undefined
    if (standing === 'gap') {
      reason = `updates after ${book.sequence} are missing`
      witness.trouble(place, 'gap', `${name} has a gap: ${reason}`)
    } else {
      losses += 1
      const [what, why] = standing === 'faulty' ? (['defect', book.fault] as const) : (['lost', reasonOf(update)] as const)
      reason = why
      witness.trouble(place, what, `${name} cannot be shown: ${reason}`)
      hide()
    }
    if (standing === 'lost') asking.postpone(returnMs)
    else void heal()
  }

  function hide(): void {
    newest = noBook
    followers.tell(newest)
    news.notifyAll()
  }

  async function snapshot(): Promise<BookUpdate & { is: 'snapshot' }> {
    const told = await withDeadline(over.signal, snapshotMs, (signal) =>
      abortable(Promise.resolve(stream.snapshot(market, { signal })), signal),
    )
    if (told?.is !== 'snapshot') throw new Error('the connector gave something else than a snapshot')
    return told
  }

  async function heal(): Promise<void> {
    if (underWay || over.signal.aborted || !asking.due()) return
    underWay = true
    const lossesBefore = losses
    try {
      const told = await snapshot()
      // One from before it was lost says nothing of what is now.
      if (losses === lossesBefore) hear(told)
    } catch (error) {
      if (!over.signal.aborted) failed('could not be read', error)
    }
    underWay = false
    if (book.status === 'good' || over.signal.aborted) return
    asking.failed()
    hide()
  }

  function failed(how: string, error: unknown): void {
    const isDefect = !(error instanceof SluiceError || (error instanceof DOMException && error.name === 'TimeoutError'))
    const why = error instanceof Error ? error.message : 'unknown'
    if (!isDefect) reason = why
    witness.trouble(place, isDefect ? 'defect' : 'lost', `${name} ${how}: ${why}`, isDefect ? error : undefined)
  }

  async function watch(): Promise<void> {
    const backoff = createBackoff()
    while (!over.signal.aborted) {
      let current = true
      const began = performance.now()
      try {
        await stream.watch(market, (update) => void (current && hear(update)), over.signal)
        if (!over.signal.aborted) failed('is not told of any more', new Error('the connector ended its stream'))
      } catch (error) {
        if (!over.signal.aborted) failed('could not be watched', error)
      }
      current = false
      if (over.signal.aborted) return
      lose('its stream ended')
      if (performance.now() - began > returnMs) backoff.reset()
      backoff.failed()
      await pause(backoff.pauseMs, over.signal)
    }
  }

  /** The exchange did not say so: a snapshot may be had. */
  function lose(why: string): void {
    hear({ is: 'lost', reason: why })
    asking.postpone(0)
    void heal()
  }

  function judge({ of, since }: { of: StreamCheck; since: number }): void {
    const outcome = of.outcome() ?? (performance.now() - since > snapshotMs ? 'unclear' : undefined)
    if (outcome === undefined) return
    check = undefined
    witness.check(place, outcome)
    if (outcome === 'different') lose('it was not what the exchange has')
  }

  asking.postpone(beginMs)
  void watch()
  return {
    async read({ signal }) {
      const until = performance.now() + mostWaitMs
      for (;;) {
        if (newest !== noBook && book.status === 'good') return shown()
        const leftMs = until - performance.now()
        if (over.signal.aborted || leftMs <= 0 || (book.status === 'lost' && !underWay))
          throw new SluiceError('NETWORK', `${name} cannot be shown now: ${reason}. Try again shortly.`, { retryAfterSeconds: 1 })
        await news.wait(leftMs, signal)
      }
    },
    follow(changed) {
      const mayCome = newest === noBook && (book.status === 'waiting' || book.status === 'gap')
      return followers.add(changed, mayCome ? 'nothing' : newest)
    },
    get followers() {
      return followers.size
    },
    onInterval() {
      const silentMs = performance.now() - heardAt
      if (book.status === 'good' && silentMs > staleMs) lose(`nothing was heard of it for ${Math.round(silentMs / 1000)} seconds`)
      if (book.status !== 'good') void heal()
      else if (check) judge(check)
    },
    async check() {
      if (check || book.status !== 'good') return
      const begun = { of: createStreamCheck(), since: performance.now() }
      check = begun
      begun.of.saw(book.sequence, book.book())
      try {
        begun.of.answered(await snapshot())
        if (check === begun) judge(begun)
      } catch (error) {
        if (check === begun) check = undefined
        if (!over.signal.aborted) failed('could not be compared with the exchange', error)
      }
    },
    stop() {
      over.abort()
      news.notifyAll()
    },
  }
}

const reasonOf = (update: BookUpdate): string => (update.is === 'lost' ? update.reason : 'it was lost')
