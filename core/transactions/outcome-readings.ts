// What transactions brought, where only the plugin that planned them can tell and may be gone later: it is read once they are about to be final,
// and journaled with that. A reading never delays another wallet's transactions for more than a moment, nor its own for ever.
import { withTimeout } from '../base/async.ts'
import type { Json, Log } from '../contracts/index.ts'
import { heldAsMined, isFinal, landedId, txHashOf, type Entry } from './entry.ts'
import { dropOldest } from '../base/oldest.ts'

/** Undefined: nothing is to be journaled. What it returns asks the plugin, and rejects where it may be read in a moment. */
export type ReadOutcome = (entry: Entry) => (() => Promise<Json | undefined>) | undefined

export interface OutcomeReadings {
  /** Starts a reading for each that is new among these, and for each that failed. Settles after a moment at the latest. */
  begin(entries: readonly Entry[]): Promise<void>
  /** The entry with what was read; as MINED while that is not known yet. */
  settle(before: Entry, after: Entry): Entry
  /** It is final in the journal. */
  forget(entry: Pick<Entry, 'key'>): void
}

/** Those of one version of a plugin. A slow one keeps only its own transactions waiting. */
interface PluginReadings {
  active: number
  /** Each is called when it may be asked. */
  readonly queue: (() => void)[]
  answeredAt: number
  /** Its last reading took longer than a moment: polls do not wait for it. */
  isSlow: boolean
}

interface Reading {
  /** Of a block: after a reorganisation it is read again. */
  readonly id: string
  readonly plugin: PluginReadings
  readonly since: number
  /** Absent while it waits for other readings of its plugin. */
  askedAt?: number
  state: 'reading' | 'failed' | 'done'
  outcome?: Json
}

/** Hosts answer in less: who takes longer is looked at again with the next block. */
const inlineMs = 250
/**
 * After this time a transaction is final without it: a plugin that is broken must not keep a nonce. It counts from the first time that the plugin
 * is asked. While other transactions are before it, it counts from the plugin's last answer.
 */
const maxHeldMs = 30_000
/** A plugin that answers, but not as fast as transactions come, holds none for longer. */
const maxWaitMs = 600_000
/** A host does one thing after the other, so more would only wait there, where nobody sees it. */
const maxAtOnce = 4
const maxReadings = 10_000

export function createOutcomeReadings(readOutcome: ReadOutcome, { log, steadyMs }: { log: Log; steadyMs: () => number }): OutcomeReadings {
  const readings = new Map<string, Reading>()
  const plugins = new Map<string, PluginReadings>()

  function pluginOf({ connector, plugin }: Entry): PluginReadings {
    const name = `${connector} ${plugin}`
    const found = plugins.get(name) ?? { active: 0, queue: [], answeredAt: -Infinity, isSlow: false }
    plugins.set(name, found)
    return found
  }

  function start(entry: Entry, before: Reading | undefined): { reading: Reading; work: Promise<void> } | undefined {
    const read = readOutcome(entry)
    if (!read) return undefined
    const { since = steadyMs(), askedAt } = before ?? {}
    const reading: Reading = {
      id: landedId(entry),
      plugin: pluginOf(entry),
      since,
      ...(askedAt !== undefined && { askedAt }),
      state: 'reading',
    }
    readings.set(entry.key, reading)
    dropOldest(readings, maxReadings)
    return { reading, work: inTurn(entry, reading, read) }
  }

  async function inTurn({ key }: Entry, reading: Reading, read: () => Promise<Json | undefined>): Promise<void> {
    const { plugin } = reading
    if (plugin.active < maxAtOnce) plugin.active += 1
    // Its place is passed on by the one before.
    else await new Promise<void>((go) => plugin.queue.push(go))
    // It may be final without it by now, or in another block.
    if (readings.get(key) === reading) await ask(reading, read)
    const next = plugin.queue.shift()
    if (next) next()
    else plugin.active -= 1
  }

  async function ask(reading: Reading, read: () => Promise<Json | undefined>): Promise<void> {
    const { plugin } = reading
    const fromMs = steadyMs()
    reading.askedAt ??= fromMs
    try {
      const outcome = await withTimeout(read(), maxHeldMs, () => {
        throw new Error('no answer')
      })
      if (outcome !== undefined) reading.outcome = outcome
      reading.state = 'done'
      plugin.answeredAt = steadyMs()
    } catch {
      reading.state = 'failed'
    }
    plugin.isSlow = steadyMs() - fromMs >= inlineMs
  }

  function isHeldTooLong({ plugin, since, askedAt = Math.max(since, plugin.answeredAt) }: Reading): boolean {
    return steadyMs() - askedAt >= maxHeldMs || steadyMs() - since >= maxWaitMs
  }

  return {
    forget: ({ key }) => void readings.delete(key),
    async begin(entries) {
      const started = entries.filter(isConfirmed).flatMap((entry) => {
        const known = readings.get(entry.key)
        const same = known?.id === landedId(entry) ? known : undefined
        return same && same.state !== 'failed' ? [] : (start(entry, same) ?? [])
      })
      const awaited = started.filter(({ reading }) => !reading.plugin.isSlow)
      if (awaited.length === 0) return
      await withTimeout(Promise.all(awaited.map(({ work }) => work)), inlineMs, () => {
        for (const { reading } of awaited) if (reading.state === 'reading') reading.plugin.isSlow = true
      })
    },
    settle(before, after) {
      // What another server has ended never changes: its bytes are gone.
      if (!isConfirmed(after) || isFinal(before)) return after
      const reading = readings.get(after.key)
      if (reading?.id !== landedId(after)) return after
      if (reading.state === 'done') {
        // It stays until the entry is written: a write that another one was before is made again.
        return reading.outcome === undefined ? after : { ...after, outcome: reading.outcome }
      }
      if (isHeldTooLong(reading)) {
        readings.delete(after.key)
        const { connector, plugin } = after
        log.warn({ txHash: txHashOf(after), connector, plugin }, 'transaction is final, and its plugin did not tell what it brought')
        return after
      }
      return heldAsMined(before, after)
    },
  }
}

const isConfirmed = (entry: Entry): boolean => entry.state === 'CONFIRMED'
