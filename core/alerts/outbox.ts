// Sends the messages that wait to their channels, and tries each for a day.
import { withDeadline } from '../base/async.ts'
import { isObject, parseJson } from '../base/json.ts'
import { printable } from '../base/printable.ts'
import { maskUrls } from '../config/mask.ts'
import type { Store } from '../store/store.ts'
import type { AlertMessage } from './message.ts'
import { createOutboxTable, giveUpMs, pauseMs, type ChannelState, type ClaimedMessage } from './outbox-table.ts'

/** Sends messages to one place. */
export interface Channel {
  readonly name: string
  /** @param id the same each time that the same message is tried @returns whom it did not reach, where others have it @throws why it was not delivered */
  send(message: AlertMessage, id: string, signal: AbortSignal): Promise<string | void>
  close?(): Promise<void>
}

export interface Outbox {
  readonly channels: readonly string[]
  /** Tries what is due, until nothing is or a channel fails. Never rejects. */
  run(): Promise<void>
  /** Adds a message for each of these, for who waits for what becomes of it: channels that failed are not given time before they are tried. @throws StoreUnavailable */
  add(channels: readonly string[], message: AlertMessage): Promise<void>
  states(): Promise<readonly ChannelState[]>
  stop(): Promise<void>
}

interface OutboxOptions {
  readonly store: Pick<Store, 'read' | 'write' | 'writeOnce' | 'isServerAlive'>
  readonly channels: readonly Channel[]
  readonly serverId: string
  readonly log: { warn(fields: object, message: string): void }
  onResult?(channel: string, outcome: 'delivered' | 'failed' | 'given up'): void
  readonly nowMs?: () => number
  /** How long a channel may take. */
  readonly sendMs?: number
}

const usualSendMs = 15_000
const tidyMs = 60_000
const maxReason = 300

export function createOutbox(options: OutboxOptions): Outbox {
  const { store, channels, serverId, log, onResult = () => {}, nowMs = Date.now, sendMs = usualSendMs } = options
  const table = createOutboxTable({ store, serverId, nowMs })
  const closing = new AbortController()
  const lanes = channels.map((channel) => ({ channel, failures: 0, notBefore: -Infinity, running: undefined as Promise<void> | undefined }))
  const names = channels.map(({ name }) => name)
  let tidiedAt = -Infinity

  /** Undefined: the server stops, and nobody knows whether it was taken. */
  async function sendTo(
    channel: Channel,
    { id, body }: ClaimedMessage,
  ): Promise<{ readonly reason?: string; readonly missed?: string } | undefined> {
    const message = parseJson(body)
    try {
      if (!isMessage(message)) throw new Error('what waits is no message')
      const missed = await withDeadline(closing.signal, sendMs, (signal) => channel.send(message, String(id), signal))
      return typeof missed === 'string' ? { missed } : {}
    } catch (error) {
      return closing.signal.aborted ? undefined : { reason: wordsOf(error) }
    }
  }

  /** @returns whether it was delivered */
  async function deliver(channel: Channel, claimed: ClaimedMessage): Promise<boolean> {
    const { id, tries, madeAt } = claimed
    const result = await sendTo(channel, claimed)
    // The next server tries it at once.
    if (!result) return table.release(id).then(() => false)
    const { reason, missed } = result
    if (reason === undefined) {
      // Not tried again: those who have it would get it each time.
      await table.delivered(id, missed)
      if (missed !== undefined) log.warn({ channel: channel.name, reason: missed }, 'an alert did not reach everybody')
      onResult(channel.name, 'delivered')
      return true
    }
    const isOver = nowMs() - madeAt >= giveUpMs
    await (isOver ? table.giveUp(id, reason) : table.retry(id, reason, nowMs() + pauseMs(tries + 1)))
    onResult(channel.name, isOver ? 'given up' : 'failed')
    if (isOver) log.warn({ channel: channel.name, reason }, 'an alert was given up: not delivered within a day')
    else if (tries === 0) log.warn({ channel: channel.name, reason }, 'an alert was not delivered; tried again')
    return false
  }

  async function runLane(lane: (typeof lanes)[number]): Promise<void> {
    const { channel } = lane
    try {
      while (performance.now() >= lane.notBefore && !closing.signal.aborted) {
        const claimed = await table.claim(channel.name)
        if (!claimed) return
        lane.failures = (await deliver(channel, claimed)) ? 0 : lane.failures + 1
        lane.notBefore = lane.failures === 0 ? -Infinity : performance.now() + pauseMs(lane.failures)
      }
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ channel: channel.name, reason: wordsOf(error) }, 'alerts that wait not read; tried again')
    }
  }

  /** What ends before it has waited for anything has ended by the time that it is noted as running, so that it is the promise that says its end. */
  function runAgain(lane: (typeof lanes)[number]): Promise<void> {
    return (lane.running ??= runLane(lane).finally(() => (lane.running = undefined)))
  }

  async function tidy(): Promise<void> {
    if (performance.now() - tidiedAt < tidyMs) return
    tidiedAt = performance.now()
    try {
      await table.tidy(names)
      for (const name of names) {
        const dropped = await table.dropExcess(name)
        if (dropped > 0) log.warn({ channel: name, messages: dropped }, 'alerts were given up: too many wait for the channel')
        for (let each = 0; each < dropped; each += 1) onResult(name, 'given up')
      }
    } catch (error) {
      log.warn({ reason: wordsOf(error) }, 'old alerts not deleted; tried again')
    }
  }

  return {
    channels: names,
    async run() {
      await tidy()
      await Promise.all(lanes.map((lane) => runAgain(lane)))
    },
    async add(to, message) {
      await table.add(to, message)
      for (const lane of lanes) if (to.includes(lane.channel.name)) Object.assign(lane, { failures: 0, notBefore: -Infinity })
    },
    states: () => Promise.all(names.map((name) => table.state(name))),
    async stop() {
      closing.abort()
      for (const { running } of lanes) await running
      for (const channel of channels) await channel.close?.()
    },
  }
}

/** It was written by this room. */
const isMessage = (value: unknown): value is AlertMessage => isObject(value) && Array.isArray(value['items']) && 'status' in value

/** Without URLs, which are secrets with most services, and without what a server answers beyond a line. */
function wordsOf(error: unknown): string {
  const text = error instanceof Error ? (error.name === 'TimeoutError' ? 'no answer in time' : error.message) : String(error)
  return maskUrls(printable(text).replaceAll('\n', ' ')).slice(0, maxReason)
}
