import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import { SluiceError } from '../../api/index.ts'
import type { Caller } from '../../handlers/caller.ts'
import { createBell, type Bell } from './bell.ts'

/** So many streams at once in the whole server, and of one certificate. */
const mostStreams = 512
const mostOfOne = 64
/** A client that takes nothing for so long is cut off; it finds the rest when it comes back. */
const stallMs = 60_000
/** What a stream may still need to end by itself when the server stops. */
const endMs = 500

/** A place among the open streams. */
export interface Stream {
  readonly bell: Bell
  /** Aborted when the stream is to end. */
  readonly signal: AbortSignal
  /** Called once, when the stream has ended. */
  onEnd(done: () => void): void
  /** Sends the text as fast as the client takes it, and ends with it. */
  send(text: AsyncIterable<string>, response: ServerResponse): void
  /** Nothing will be sent after all. */
  close(): void
}

export interface Streams {
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
      const bell = createBell()
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
        bell.ring()
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
