// The server's events. A browser opens few connections to one server, so one tab follows them and tells the others.
import type { EventData, EventTopic } from '../core/api/index.ts'

/** `prices` and others, which name a market, are for bots. */
export const topics = ['transactions', 'blocks', 'plugins', 'stops', 'approvals'] as const satisfies readonly EventTopic[]
export type Topic = (typeof topics)[number]
export type { EventData }

type Told =
  | { readonly kind: 'event'; readonly topic: Topic; readonly data: unknown; readonly id?: string | undefined }
  | { readonly kind: 'state'; readonly isOpen: boolean; readonly id?: string | undefined }
  /** A tab that was opened asks for the state. */
  | { readonly kind: 'question' }

const listeners = new Map<Topic, Set<(data: never) => void>>()
type StateListener = (isOpen: boolean, isFirst: boolean) => void
const stateListeners = new Set<StateListener>()
let isOpen: boolean | undefined

/** @returns ends it */
export function onEvent<T extends Topic>(topic: T, listener: (data: EventData<T>) => void): () => void {
  const of = listeners.get(topic) ?? new Set()
  listeners.set(topic, of)
  of.add(listener)
  return () => void of.delete(listener)
}

/** Told whether events come, at once where it is known, and when that changes. `isFirst`: it was not known before. @returns ends it */
export function onStreamState(listener: StateListener): () => void {
  stateListeners.add(listener)
  if (isOpen !== undefined) listener(isOpen, true)
  return () => void stateListeners.delete(listener)
}

/** Of the newest event, by whichever tab it was read: the next tab that follows them goes on from there. */
let lastId: string | undefined

function hear(told: Told): void {
  if (told.kind !== 'question') lastId = told.id ?? lastId
  if (told.kind === 'event') for (const listener of listeners.get(told.topic) ?? []) listener(told.data as never)
  if (told.kind !== 'state' || told.isOpen === isOpen) return
  const isFirst = isOpen === undefined
  isOpen = told.isOpen
  for (const listener of stateListeners) listener(told.isOpen, isFirst)
}

/** Begins to follow events, or to hear of them from the tab that does. */
export function followEvents(): void {
  const channel = new BroadcastChannel('sluice-events')
  let leads = false
  channel.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    if (data.kind !== 'question') hear(data)
    else if (leads && isOpen !== undefined) channel.postMessage({ kind: 'state', isOpen, id: lastId } satisfies Told)
  })
  channel.postMessage({ kind: 'question' } satisfies Told)
  const tell = (told: Told): void => {
    channel.postMessage(told)
    hear(told)
  }
  // The lock is held until the tab is closed; then the next one gets it.
  void navigator.locks.request('sluice-events', async () => {
    leads = true
    for (let failures = 0; ;) {
      const came = await readStream(tell).catch(() => false)
      tell({ kind: 'state', isOpen: false })
      failures = came ? 0 : failures + 1
      await new Promise((resolve) => setTimeout(resolve, Math.min(15_000, 500 * 2 ** failures)))
    }
  })
}

/** A stream sends something more often. */
const silenceMs = 60_000

/** Reads one stream to its end. @returns whether anything came */
async function readStream(tell: (told: Told) => void): Promise<boolean> {
  const ending = new AbortController()
  let silence = setTimeout(() => ending.abort(), silenceMs)
  const headers: Record<string, string> = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) }
  try {
    const { ok, body } = await fetch(`/events?topics=${topics.join(',')}&inUse=true`, { headers, signal: ending.signal })
    if (!ok || !body) return false
    tell({ kind: 'state', isOpen: true })
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    for (let rest = ''; ;) {
      const { done, value } = await reader.read()
      if (done) return true
      clearTimeout(silence)
      silence = setTimeout(() => ending.abort(), silenceMs)
      const frames = (rest + value).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) readFrame(frame, tell)
    }
  } finally {
    clearTimeout(silence)
    ending.abort()
  }
}

function readFrame(frame: string, tell: (told: Told) => void): void {
  const fields = new Map<string, string>()
  for (const line of frame.split('\n')) {
    const at = line.indexOf(':')
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).trimStart())
  }
  const [topic, data] = [topics.find((each) => each === fields.get('event')), fields.get('data')]
  lastId = fields.get('id') ?? lastId
  if (topic !== undefined && data !== undefined) tell({ kind: 'event', topic, data: JSON.parse(data), id: lastId })
}
