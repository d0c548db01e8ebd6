import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import { SluiceError } from '../api/index.ts'
import { type Notifier, createNotifier } from '../async.ts'
import type { Caller } from '../handlers/caller.ts'
import type { LatestUpdates } from './topic.ts'
import type { TransactionChanges, TransactionFilter } from './transactions.ts'

interface StreamParts {
  from: StreamPosition
  /** Told first. */
  about: object
  /** Absent where transactions are not followed. */
  changes?: { source: Pick<TransactionChanges, 'take'>; wanted: TransactionFilter }
  /** Of each that is followed, a network's blocks, a book, a price, a wallet's positions. */
  newest: Pick<LatestUpdates, 'take'>
  /** Rung when there may be something new. */
  bell: Notifier
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
  yield ready(formatPosition(position), about)

  function* framesOf({ take }: Pick<LatestUpdates, 'take'>): Generator<string> {
    for (const news of take()) {
      position = { ...position, others: position.others + 1 }
      yield updateFrame(news, formatPosition(position))
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

/** So many streams at once in the whole server, and of one certificate. */
const mostStreams = 512
const mostOfOne = 64
/** A client that takes nothing for so long is cut off; it finds the rest when it comes back. */
const stallMs = 60_000
/** What a stream may still need to end by itself when the server stops. */
const endMs = 500

/** A place among the open streams. */
interface Stream {
  readonly bell: Notifier
  /** Aborted when the stream is to end. */
  readonly signal: AbortSignal
  /** Called once, when the stream has ended. */
  onEnd(done: () => void): void
  /** Sends the text as fast as the client takes it, and ends with it. */
  send(text: AsyncIterable<string>, response: ServerResponse): void
  /** Nothing will be sent after all. */
  close(): void
}

interface Streams {
  /** @throws SluiceError OVERLOADED where there is no room */
  open(caller: Caller): Stream
  /** Ends all of them and opens no more. */
  end(): void
}

export function createStreams(log: Pick<Logger, 'warn'>): Streams {
  const open = new Map<Stream, { fingerprint: string; end(): void }>()
  let ended = false

  function requireRoom({ fingerprint, commonName }: Caller): void {
    const retry = { retryAfterSeconds: 5 }
    const ofOne = [...open.values()].filter((each) => each.fingerprint === fingerprint).length
    if (ended) throw new SluiceError('OVERLOADED', 'The server is stopping and opens no streams: try again when it is back.', retry)
    if (open.size >= mostStreams)
      throw new SluiceError('OVERLOADED', `The server has ${mostStreams} event streams open, which is the most: try again later.`, retry)
    if (ofOne >= mostOfOne)
      throw new SluiceError('OVERLOADED', `"${commonName}" has ${mostOfOne} event streams open, which is the most: close one.`, retry)
  }

  return {
    open(caller) {
      requireRoom(caller)
      const bell = createNotifier()
      const over = new AbortController()
      const endings: (() => void)[] = []
      let sending: ServerResponse | undefined

      const stream: Stream = {
        bell,
        signal: over.signal,
        onEnd: (done) => void endings.push(done),
        send(text, response) {
          sending = response
          response.socket?.setTimeout(stallMs)
          response.once('close', end)
          pipeline(Readable.from(text, { highWaterMark: 1 }), response)
            .catch((error: unknown) => {
              // That a client goes away is how streams end.
              if (!response.destroyed) log.warn({ err: error }, 'a stream of events ended with an error')
            })
            .finally(stream.close)
        },
        close() {
          open.delete(stream)
          for (const done of endings.splice(0)) done()
        },
      }
      function end() {
        over.abort()
        bell.notify()
        // One whose client takes nothing would hold the server up.
        setTimeout(() => sending?.destroy(), endMs).unref()
      }
      open.set(stream, { fingerprint: caller.fingerprint, end })
      return stream
    },
    end() {
      ended = true
      for (const { end } of open.values()) end()
    },
  }
}

/**
 * Where a stream stands: the newest change of a transaction that was told or passed over, and how many others were told since: of what only
 * the newest counts. Changes are numbered alike by every server of a cluster, and for good.
 */
export interface StreamPosition {
  change: number
  others: number
}

/** After how long a client that was cut off comes back. */
const retryMs = 1_000

/** An id of an event, `123` or `123-4`: the schema of the request has its pattern. */
export function parsePosition(id: string): StreamPosition {
  const [change = '0', others = '0'] = id.split('-')
  return { change: Number(change), others: Number(others) }
}

const formatPosition = ({ change, others }: StreamPosition): string => (others === 0 ? String(change) : `${change}-${others}`)

/** Of what only the newest counts: written once for all streams. Another object is other news. */
export interface EventUpdate {
  readonly event: string
  readonly json: string
}

const updateFrame = ({ event, json }: EventUpdate, id: string): string => `event: ${event}\nid: ${id}\ndata: ${json}\n\n`

/** One event as it goes over the wire. JSON has no line breaks of its own, so the data is one line. */
export const frame = (event: string, id: string, data: object): string => updateFrame({ event, json: JSON.stringify(data) }, id)

/** The first of a stream: who was told nothing yet can come back to where it was, too. */
const ready = (id: string, about: object): string => `retry: ${retryMs}\n${frame('ready', id, about)}`

/** Shows proxies and clients that the connection lives. */
const heartbeat = ': \n\n'
