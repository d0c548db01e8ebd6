import type { Bell } from '../http/events/bell.ts'
import type { Changes, Wanted } from './transactions.ts'
import { heartbeat, newsFrame, ready, showPosition, type Position } from '../http/events/frame.ts'
import type { Newest } from '../http/events/newest.ts'

export interface StreamParts {
  from: Position
  /** Told first. */
  about: object
  /** Absent where transactions are not followed. */
  changes?: { source: Pick<Changes, 'take'>; wanted: Wanted }
  /** Of each that is followed, a network's blocks, a book, a price, a wallet's positions. */
  newest: Pick<Newest, 'take'>
  /** Rung when there may be something new. */
  bell: Bell
  /** Aborted when the stream is to end. */
  signal: AbortSignal
  /** Told why the journal could not be read; it is tried again. */
  troubled(error: unknown): void
}

/** Proxies cut what is silent for a minute. */
const heartbeatMs = 15_000
const pauseAfterTroubleMs = 1_000
/** Characters that are given on at once: a reader that stands still makes nothing pile up beyond some of them. */
const chunkLength = 32 * 1024

/**
 * The text of one stream, made as fast as its reader takes it: whatever a slow one has not taken is still in the journal, or,
 * where only the newest counts, no news any more.
 */
export async function* eventStream({ from, about, changes, newest, bell, signal, troubled }: StreamParts): AsyncGenerator<string> {
  let position = from
  yield ready(showPosition(position), about)

  function* framesOf({ take }: Pick<Newest, 'take'>): Generator<string> {
    for (const news of take()) {
      position = { ...position, others: position.others + 1 }
      yield newsFrame(news, showPosition(position))
    }
  }

  while (!signal.aborted) {
    let failed = false
    const taken = await changes?.source.take(position.change, changes.wanted).catch((error: unknown) => {
      failed = true
      troubled(error)
      return undefined
    })
    const fresh = taken?.changes ?? []
    for (const text of chunked(fresh.map((change) => change.frame))) yield text
    if (taken && taken.upTo > position.change) position = { change: taken.upTo, others: 0 }

    let isNews = false
    for (const text of chunked(framesOf(newest))) {
      yield text
      isNews = true
    }
    if (fresh.length > 0 || isNews) continue

    const rung = await bell.wait(failed ? pauseAfterTroubleMs : heartbeatMs)
    if (!rung && !signal.aborted) yield heartbeat
  }
}

function* chunked(frames: Iterable<string>): Generator<string> {
  let text = ''
  for (const each of frames) {
    text += each
    if (text.length < chunkLength) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}
