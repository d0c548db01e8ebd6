// `/events` as an iterator that goes on where it was after a cut.
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventData, EventTopic } from '../core/api/index.ts'
import { CertificateError, InterfaceVersionError } from './errors.ts'
import { isPassing, type Transport } from './transport.ts'

/** `ready` comes first after each connection: what happened before is in the answers of other endpoints. */
export type SluiceEvent =
  | { readonly [T in EventTopic]: { readonly topic: T; readonly id: string; readonly data: EventData<T> } }[EventTopic]
  | { readonly topic: 'ready'; readonly id: string; readonly data: { readonly topics: readonly EventTopic[] } }

export interface EventsOptions {
  /** The `id` of the last event that was received, by this program or before it was started again. Absent: the stream begins now. */
  readonly lastEventId?: string
  readonly signal?: AbortSignal
}

/** The server says at least every 15 s that the connection is alive. */
const silentMs = 45_000
const pauseMs = 500

export async function* followEvents(
  transport: Transport,
  request: object,
  { lastEventId, signal }: EventsOptions,
): AsyncGenerator<SluiceEvent, void> {
  let last = lastEventId
  for (;;) {
    signal?.throwIfAborted()
    try {
      for await (const event of oneStream(transport, request, last, signal)) {
        last = event.id
        yield event
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof CertificateError || error instanceof InterfaceVersionError || error instanceof TypeError || !isPassing(error))
        throw error
    }
    await sleep(pauseMs, undefined, signal && { signal })
  }
}

async function* oneStream(
  transport: Transport,
  request: object,
  last: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<SluiceEvent, void> {
  const incoming = await transport.open('/events', request, last === undefined ? {} : { 'last-event-id': last }, signal)
  const silence = setTimeout(() => incoming.destroy(), silentMs)
  try {
    let fields: Record<string, string> = {}
    for await (const line of createInterface({ input: incoming.on('data', () => silence.refresh()) })) {
      const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
      if (field !== undefined) fields[field] = value ?? ''
      else if (line === '') {
        const { event, id, data } = fields
        fields = {}
        // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the server's types are those of the client
        if (event !== undefined && id !== undefined && data !== undefined) yield { topic: event, id, data: JSON.parse(data) } as SluiceEvent
      }
    }
  } finally {
    clearTimeout(silence)
    incoming.destroy()
  }
}
