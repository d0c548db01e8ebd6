import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import { createNotifier, type Notifier } from '../base/async.ts'
import type { Settings } from '../config/settings.ts'
import { SluiceError } from '../base/errors.ts'
import type { Caller } from '../handlers/context.ts'
import type { EventUpdate, LatestUpdates } from './topic.ts'
import type { TransactionChanges, TransactionFilter } from './transactions.ts'

/** A client that takes nothing for so long is cut off. It gets the rest when it reconnects. */
const stallMs = 60_000
/** How long a stream may take to end by itself when the server stops. */
const endMs = 500

const later = { retryAfterSeconds: 5 }

/** One of the open streams. */
interface Stream {
  /** Notified when there may be something to send. */
  readonly notifier: Notifier
  /** Aborted when the stream has to end. */
  readonly signal: AbortSignal
  /** Called once, after the end of the stream. */
  onEnd(listener: () => void): void
  /** Sends the text as fast as the client takes it, and then ends. */
  send(text: AsyncIterable<string>, response: ServerResponse): void
  /** Ends without sending anything. */
  close(): void
}

export interface Streams {
  /** @param connectors that it is about @throws SluiceError OVERLOADED if there is no room */
  open(caller: Caller, connectors?: readonly string[]): Stream
  /** Ends those about a connector. */
  endOf(connector: string): void
  /** Ends all that are open. */
  endOpen(): void
  /** Ends all streams and opens no more. */
  end(): void
}

export function createStreams(log: Pick<Logger, 'warn'>, limits: Pick<Settings['limits'], 'streams' | 'clientStreams'>): Streams {
  const open = new Map<Stream, { fingerprint: string; connectors: readonly string[]; end(): void }>()
  let isEnded = false

  function requireRoom({ fingerprint, id, streams: ofClient = limits.clientStreams }: Caller): void {
    if (isEnded) throw new SluiceError('OVERLOADED', 'The server is stopping and opens no streams: try again when it is back.', later)
    if (open.size >= limits.streams)
      throw new SluiceError('OVERLOADED', `The server has ${limits.streams} event streams open (limits.streams). Try again later.`, {
        ...later,
        bound: 'streams',
      })
    if ([...open.values()].filter((each) => each.fingerprint === fingerprint).length >= ofClient)
      throw new SluiceError('OVERLOADED', `"${id}" has ${ofClient} event streams open (limits.clientStreams). Close one.`, {
        ...later,
        bound: 'clientStreams',
      })
  }

  return {
    open(caller, connectors = []) {
      requireRoom(caller)
      const notifier = createNotifier()
      const ending = new AbortController()
      const endListeners: (() => void)[] = []
      let response: ServerResponse | undefined

      const stream: Stream = {
        notifier,
        signal: ending.signal,
        onEnd: (listener) => void endListeners.push(listener),
        send(text, to) {
          response = to
          to.socket?.setTimeout(stallMs)
          to.once('close', end)
          pipeline(Readable.from(text, { highWaterMark: 1 }), to)
            .catch((error: unknown) => {
              // A client that disconnects is the usual end of a stream.
              if (!to.destroyed) log.warn({ err: error }, 'event stream ended with an error')
            })
            .finally(stream.close)
        },
        close() {
          open.delete(stream)
          for (const listener of endListeners.splice(0)) listener()
        },
      }
      function end() {
        ending.abort()
        notifier.notify()
        // A client that takes nothing must not delay the server's stop.
        setTimeout(() => response?.destroy(), endMs).unref()
      }
      open.set(stream, { fingerprint: caller.fingerprint, connectors, end })
      return stream
    },
    endOf(connector) {
      for (const each of open.values()) if (each.connectors.includes(connector)) each.end()
    },
    endOpen() {
      for (const { end } of open.values()) end()
    },
    end() {
      isEnded = true
      for (const { end } of open.values()) end()
    },
  }
}

interface EventStreamOptions {
  from: StreamPosition
  /** Data of the first event, `ready`. */
  about: object
  /** Absent if the stream does not follow transactions. */
  transactions?: { changes: Pick<TransactionChanges, 'take'>; filter: TransactionFilter }
  /** The updates of all other topics. */
  latest: Pick<LatestUpdates, 'take'>
  notifier: Notifier
  signal: AbortSignal
  /** Called when the journal cannot be read; it is tried again. */
  onError(error: unknown): void
}

/** Proxies close connections that are silent for a minute. */
const heartbeatMs = 15_000
const retryMs = 1_000
/** Characters passed on at once. A reader that stands still makes no more than a few of these pile up. */
const chunkLength = 32 * 1024

/**
 * The text of one stream, produced as fast as its reader takes it. What a slow reader has not taken is still in the journal, or, of topics
 * that tell the latest, is no longer the latest.
 */
export async function* eventStream(options: EventStreamOptions): AsyncGenerator<string> {
  const { from, about, transactions, latest, notifier, signal, onError } = options
  let position = from
  yield `retry: ${reconnectMs}\n${frame('ready', formatPosition(position), about)}`

  function* latestFrames(): Generator<string> {
    for (const update of latest.take()) {
      position = { ...position, others: position.others + 1 }
      yield updateFrame(update, formatPosition(position))
    }
  }

  while (!signal.aborted) {
    let failed = false
    const page = await transactions?.changes.take(position.change, transactions.filter).catch((error: unknown) => {
      failed = true
      onError(error)
      return undefined
    })
    const changes = page?.changes ?? []
    for (const text of chunked(changes.map((change) => change.frame))) yield text
    if (page && page.upTo > position.change) position = { change: page.upTo, others: 0 }

    let hasUpdates = false
    for (const text of chunked(latestFrames())) {
      yield text
      hasUpdates = true
    }
    if (changes.length > 0 || hasUpdates) continue

    const isNotified = await notifier.wait(failed ? retryMs : heartbeatMs)
    if (!isNotified && !signal.aborted) yield heartbeat
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

/**
 * Where a stream is: the newest change of a transaction that was sent or left out, and how many other events were sent since. Changes have
 * the same number on every server of a cluster, for good.
 */
export interface StreamPosition {
  change: number
  others: number
}

/** Reads the id of an event, `123` or `123-4`. The request's schema has checked the pattern. */
export function parsePosition(id: string): StreamPosition {
  const [change = '0', others = '0'] = id.split('-')
  return { change: Number(change), others: Number(others) }
}

const formatPosition = ({ change, others }: StreamPosition): string => (others === 0 ? String(change) : `${change}-${others}`)

/** When a client that was cut off reconnects. */
const reconnectMs = 1_000

/** An event in the format of server-sent events. JSON has no line breaks, so the data is one line. */
export const frame = (event: string, id: string, data: object): string => updateFrame({ event, json: JSON.stringify(data) }, id)

const updateFrame = ({ event, json }: EventUpdate, id: string): string => `event: ${event}\nid: ${id}\ndata: ${json}\n\n`

/** A comment: it shows proxies and clients that the connection lives. */
const heartbeat = ': \n\n'
