import { abortable, createBackoff, createCondition, isAbort, pause, withDeadline } from '../base/async.ts'
import type { BookMarket, BookStream, BookUpdate } from '../contracts/index.ts'
import { reasonOf, SluiceError } from '../base/errors.ts'
import { bookName, createBookListeners, noBook, type BookFeed, type BookVenue, type BookView, type LatestBook } from './book-feed.ts'
import { createStreamBook, createStreamCheck, type BookStatus, type StreamBook, type StreamCheck } from './stream-book.ts'
import type { CheckOutcome, StateSubject, Telemetry } from './telemetry.ts'

interface StreamFeedOptions {
  venue: BookVenue
  stream: BookStream
  market: BookMarket
  telemetry: Telemetry
  /** The exchange counts as away after so long without a message. */
  staleMs: number
}

/** How long a read waits for a book that is not there yet or has a gap. It does not wait for one that is lost. */
const maxWaitMs = 5_000
/** The stream has so long to begin before a snapshot is asked for. */
const beginMs = 2_000
/** The same after the exchange said that it is away. */
const returnMs = 30_000
const snapshotTimeoutMs = 10_000

/** A book that an exchange streams, repaired by snapshots. */
export function createStreamFeed({ venue, stream, market, telemetry, staleMs }: StreamFeedOptions): BookFeed {
  const { chain, network, connector } = venue
  const subject: StateSubject = { chain, network, connector, what: market.id }
  const name = bookName(venue, market)
  const book = createStreamBook()
  const listeners = createBookListeners()
  const changes = createCondition()
  const stopping = new AbortController()
  /** When a snapshot may be asked for. */
  const repairs = createBackoff()
  let isRepairing = false
  let latest: LatestBook = noBook
  let view: BookView | undefined
  let lastMessageAt = performance.now()
  let reason = 'the exchange has not sent it yet'
  let losses = 0
  const readSnapshot = () => readSnapshotOf(stream, market, stopping.signal)
  const comparison = createComparison({
    readSnapshot,
    onOutcome: (outcome) => telemetry.check(subject, outcome),
    onDifferent: () => markLost('it differed from the exchange'),
  })

  function onUpdate(update: BookUpdate): void {
    if (stopping.signal.aborted) return
    const before = book.status
    const effect = book.take(update)
    if (effect === 'ignored') return
    if (book.status !== 'good') {
      if (book.status !== before) onTrouble(book.status, update)
      return
    }
    if (effect !== 'traded') lastMessageAt = performance.now()
    if (before !== 'good') repairs.reset()
    view = undefined
    // Listeners are told of books; the last trade is for reads.
    if (effect !== 'changed') return
    telemetry.update(subject, 1)
    comparison.addOurs(book)
    // Another function for every change.
    latest = () => (latest === noBook ? undefined : shown())
    listeners.tell(latest)
    changes.notifyAll()
  }

  /** Built when somebody looks, once for each change: books are long. */
  function shown(): BookView {
    return (view ??= { ...book.book(), sequence: book.sequence, timestamp: book.timestamp })
  }

  function onTrouble(status: BookStatus, update: BookUpdate): void {
    comparison.end()
    if (status === 'gap') {
      reason = `updates after ${book.sequence} are missing`
      telemetry.trouble(subject, 'gap', `${name} has a gap: ${reason}`)
    } else {
      losses += 1
      reason = status === 'faulty' ? book.fault : update.is === 'lost' ? update.reason : 'it was lost'
      telemetry.trouble(subject, status === 'faulty' ? 'defect' : 'lost', `${name} cannot be shown: ${reason}`)
      hide()
    }
    if (status === 'lost') repairs.postpone(returnMs)
    else void repair()
  }

  function hide(): void {
    latest = noBook
    listeners.tell(latest)
    changes.notifyAll()
  }

  async function repair(): Promise<void> {
    if (isRepairing || stopping.signal.aborted || !repairs.due()) return
    isRepairing = true
    const lossesBefore = losses
    try {
      const snapshot = await readSnapshot()
      // A snapshot from before the loss says nothing about the book now.
      if (losses === lossesBefore) onUpdate(snapshot)
    } catch (error) {
      if (!stopping.signal.aborted) reportFailure('could not be read', error)
    }
    isRepairing = false
    if (book.status === 'good' || stopping.signal.aborted) return
    repairs.failed()
    hide()
  }

  function reportFailure(how: string, error: unknown): void {
    const isDefect = !(error instanceof SluiceError || isAbort(error))
    const why = reasonOf(error)
    if (!isDefect) reason = why
    telemetry.trouble(subject, isDefect ? 'defect' : 'lost', `${name} ${how}: ${why}`, isDefect ? error : undefined)
  }

  /** For a loss that the exchange did not announce: a snapshot may be available at once. */
  function markLost(why: string): void {
    onUpdate({ is: 'lost', reason: why })
    repairs.postpone(0)
    void repair()
  }

  repairs.postpone(beginMs)
  void keepWatching({
    stream,
    market,
    onUpdate,
    onFailure: reportFailure,
    onEnd: () => markLost('its stream ended'),
    signal: stopping.signal,
  })
  return {
    async read({ signal }) {
      const until = performance.now() + maxWaitMs
      for (;;) {
        if (latest !== noBook && book.status === 'good') return shown()
        const leftMs = until - performance.now()
        if (stopping.signal.aborted || leftMs <= 0 || (book.status === 'lost' && !isRepairing))
          throw new SluiceError('NETWORK', `${name} cannot be shown now: ${reason}. Try again shortly.`, { retryAfterSeconds: 1 })
        await changes.wait(leftMs, signal)
      }
    },
    follow(listener) {
      const mayCome = latest === noBook && (book.status === 'waiting' || book.status === 'gap')
      return listeners.add(listener, mayCome ? 'nothing' : latest)
    },
    get listeners() {
      return listeners.size
    },
    onInterval() {
      const silentMs = performance.now() - lastMessageAt
      if (book.status === 'good' && silentMs > staleMs) markLost(`no message for ${Math.round(silentMs / 1000)} seconds`)
      if (book.status !== 'good') void repair()
      else comparison.finish()
    },
    async check() {
      if (comparison.isUnderWay() || book.status !== 'good') return
      await comparison.start(book).catch((error: unknown) => {
        if (!stopping.signal.aborted) reportFailure('could not be compared with the exchange', error)
      })
    },
    stop() {
      stopping.abort()
      changes.notifyAll()
    },
  }
}

async function readSnapshotOf(stream: BookStream, market: BookMarket, closing: AbortSignal): Promise<BookUpdate & { is: 'snapshot' }> {
  const update = await withDeadline(closing, snapshotTimeoutMs, (signal) =>
    abortable(Promise.resolve(stream.snapshot(market, { signal })), signal),
  )
  if (update?.is !== 'snapshot') throw new Error('the connector returned something else than a snapshot')
  return update
}

interface ComparisonOptions {
  readSnapshot(): Promise<BookUpdate & { is: 'snapshot' }>
  onOutcome(outcome: CheckOutcome): void
  onDifferent(): void
}

/** Compares the book with a snapshot of the exchange, whose sequence ours has before or after it. */
function createComparison({ readSnapshot, onOutcome, onDifferent }: ComparisonOptions) {
  let current: { of: StreamCheck; since: number } | undefined

  function finish(): void {
    if (!current) return
    const outcome = current.of.outcome() ?? (performance.now() - current.since > snapshotTimeoutMs ? 'unclear' : undefined)
    if (outcome === undefined) return
    current = undefined
    onOutcome(outcome)
    if (outcome === 'different') onDifferent()
  }

  return {
    isUnderWay: (): boolean => current !== undefined,
    addOurs: (book: StreamBook): void => current?.of.addOurs(book.sequence, book.book()),
    finish,
    end(): void {
      current = undefined
    },
    async start(book: StreamBook): Promise<void> {
      const started = { of: createStreamCheck(), since: performance.now() }
      current = started
      started.of.addOurs(book.sequence, book.book())
      try {
        started.of.setTheirs(await readSnapshot())
        if (current === started) finish()
      } catch (error) {
        if (current === started) current = undefined
        throw error
      }
    },
  }
}

interface WatchOptions {
  readonly stream: BookStream
  readonly market: BookMarket
  onUpdate(update: BookUpdate): void
  onFailure(how: string, error: unknown): void
  onEnd(): void
  readonly signal: AbortSignal
}

/** Watches the exchange's stream, again and again with growing pauses where it ends. */
async function keepWatching({ stream, market, onUpdate, onFailure, onEnd, signal }: WatchOptions): Promise<void> {
  const backoff = createBackoff()
  while (!signal.aborted) {
    let isCurrent = true
    const startedAt = performance.now()
    try {
      await stream.watch(market, (update) => void (isCurrent && onUpdate(update)), signal)
      if (!signal.aborted) onFailure('is no longer streamed', new Error('the connector ended its stream'))
    } catch (error) {
      if (!signal.aborted) onFailure('could not be watched', error)
    }
    isCurrent = false
    if (signal.aborted) return
    onEnd()
    if (performance.now() - startedAt > returnMs) backoff.reset()
    backoff.failed()
    await pause(backoff.pauseMs, signal)
  }
}
