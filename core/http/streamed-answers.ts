// Answers as NDJSON or CSV with all that there is: sent as fast as they are taken, and of no length that is known before.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { streamTypes, type StreamFormat } from '../api/endpoint.ts'
import { SluiceError } from '../base/errors.ts'
import type { LiveClients } from '../config/live-clients.ts'
import type { Caller } from '../handlers/context.ts'
import type { RequestState } from './request.ts'
import { responseHeaders } from './responses.ts'

/** Each reads pages of the store for minutes. */
const maxStreams = 16
const maxClientStreams = 4

/** A client that takes nothing for so long is cut off, and can go on after the last line that it has. */
const stallMs = 60_000

type Text = AsyncGenerator<string, void>

export interface StreamedAnswers {
  /**
   * Answers with a text, which begins once it has its first page. Resolves then: the rest is sent meanwhile.
   * @param start gives the text; the signal is aborted when nobody takes it any more
   * @throws SluiceError RATE_LIMIT or OVERLOADED if there is no room, and what `start` throws
   */
  answer(state: RequestState, format: StreamFormat, start: (signal: AbortSignal) => Promise<Text>): Promise<void>
  /** Cuts off those that are sent, and refuses others. */
  end(): void
}

interface StreamedAnswersParts {
  clients: Pick<LiveClients, 'onChange'>
  log: Pick<Logger, 'warn'>
}

export function createStreamedAnswers({ clients, log }: StreamedAnswersParts): StreamedAnswers {
  const open = new Map<AbortController, string>()
  let isEnded = false

  const cutOff = () => {
    for (const ending of open.keys()) ending.abort()
  }
  // What a client may see may be less by now: it goes on after its last line, and gets what it may see by then.
  clients.onChange((changes) => {
    if (changes.some(({ key }) => !key.startsWith('limits.'))) cutOff()
  })

  function requireRoom({ fingerprint, id }: Caller): void {
    if (isEnded) throw stopping
    if ([...open.values()].filter((each) => each === fingerprint).length >= maxClientStreams) throw tooManyOf(id)
    if (open.size >= maxStreams) throw tooMany
  }

  async function send(text: Text, { requestId, res }: RequestState, signal: AbortSignal): Promise<void> {
    const cut = () => void res.destroy()
    signal.addEventListener('abort', cut, { once: true })
    try {
      for await (const part of text) {
        if (signal.aborted || res.destroyed) return cut()
        if (part !== '' && !res.write(part)) await isTaken(res, signal)
      }
      if (!signal.aborted) res.end()
    } catch (error) {
      if (!signal.aborted && !res.destroyed) log.warn({ err: error, requestId }, 'a streamed answer broke; its connection was closed')
      // Without the last chunk of the body no client takes it for whole.
      cut()
    } finally {
      signal.removeEventListener('abort', cut)
    }
  }

  return {
    async answer(state, format, start) {
      requireRoom(state.caller)
      const ending = new AbortController()
      const { socket } = state.req
      // An answer that waits behind another one on its connection is not told that its client is gone.
      const gone = () => ending.abort()
      const release = () => {
        socket.off('close', gone)
        open.delete(ending)
      }
      open.set(ending, state.caller.fingerprint)
      socket.once('close', gone)
      if (socket.destroyed) gone()
      try {
        const text = await start(ending.signal)
        state.res.writeHead(200, headers(state.requestId, format))
        void send(text, state, ending.signal).finally(release)
      } catch (error) {
        release()
        throw error
      }
    },
    end() {
      isEnded = true
      cutOff()
    },
  }
}

const headers = (requestId: string, format: StreamFormat) => ({
  'Content-Type': `${streamTypes[format]}; charset=utf-8${format === 'csv' ? '; header=present' : ''}`,
  'Cache-Control': 'no-store',
  Vary: 'Accept',
  ...responseHeaders(requestId),
})

/** When the client has taken what was written, or is gone. */
function isTaken(res: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const { socket } = res
    const settle = () => {
      res.off('drain', settle)
      res.off('close', settle)
      signal.removeEventListener('abort', settle)
      // While the next page is read there may be nothing to send.
      socket?.setTimeout(0)
      resolve()
    }
    res.once('drain', settle)
    res.once('close', settle)
    signal.addEventListener('abort', settle, { once: true })
    socket?.setTimeout(stallMs)
    if (res.destroyed || signal.aborted) settle()
  })
}

/** What the header `Accept` asks for by its name; undefined: an answer as JSON. */
export function acceptedFormat({
  method,
  headers: { accept = '' },
}: Pick<IncomingMessage, 'method' | 'headers'>): StreamFormat | undefined {
  // A HEAD would read everything, and send nothing.
  if (method !== 'GET' || accept === '') return undefined
  const ranges = accept
    .toLowerCase()
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((each) => each.trim())
      const weight = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1)
      return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 }
    })
  const weightOf = (...types: string[]) => Math.max(0, ...ranges.filter(({ type }) => types.includes(type)).map(({ weight }) => weight))
  const json = weightOf('application/json')
  const [best] = ranges.filter(({ type, weight }) => isStreamed(type) && weight > json).toSorted((a, b) => b.weight - a.weight)
  return best && formats.find((format) => streamTypes[format] === best.type)
}

const formats = ['csv', 'ndjson'] as const
const isStreamed = (type: string): boolean => formats.some((format) => streamTypes[format] === type)

const later = { retryAfterSeconds: 5 }

const tooManyOf = (id: string) =>
  new SluiceError(
    'RATE_LIMIT',
    `${maxClientStreams} answers as NDJSON or CSV are being sent to "${id}", as many as a client certificate may have: nothing was done for this request. Wait for the end of one.`,
    { ...later, bound: 'clientStreams' },
  )

const tooMany = new SluiceError(
  'OVERLOADED',
  `The server is sending ${maxStreams} answers as NDJSON or CSV, as many as it may. Try again when one has ended.`,
  { ...later, bound: 'streams' },
)

const stopping = new SluiceError('OVERLOADED', 'The server is stopping and begins no such answer: try again when it is back.', later)
