// What transactions brought, where only the plugin that planned them can tell and may be gone later: it is read once they are about to be final,
// and journaled with that. A reading never delays another wallet's transactions for more than a moment, nor its own for ever.
import { withTimeout } from '../async.ts'
import type { Json, Log } from '../contracts/index.ts'
import { txHashOf, type Entry } from './entry.ts'

/** Undefined: nothing is to be journaled. Rejects where it may be read in a moment. */
export type ReadOutcome = (entry: Entry) => Promise<Json | undefined> | undefined

export interface OutcomeReadings {
  /** Starts a reading for each that is new among these, and for each that failed. Settles after a moment at the latest. */
  begin(entries: readonly Entry[]): Promise<void>
  /** The entry with what was read; as MINED while that is not known yet. */
  settle(before: Entry, after: Entry): Entry
}

interface Reading {
  /** Of a block: after a reorganisation it is read again. */
  readonly id: string
  readonly since: number
  state: 'reading' | 'failed' | 'done'
  outcome?: Json
}

/** Hosts answer in less: who takes longer is looked at again with the next block. */
const inlineMs = 250
/** After this time a transaction is final without it: a plugin that is broken must not keep a nonce. */
const maxHeldMs = 30_000
const maxReadings = 10_000

export function createOutcomeReadings(readOutcome: ReadOutcome, { log, steadyMs }: { log: Log; steadyMs: () => number }): OutcomeReadings {
  const readings = new Map<string, Reading>()

  function start(entry: Entry, before: Reading | undefined): Promise<void> | undefined {
    const work = readOutcome(entry)
    if (!work) return undefined
    const reading: Reading = { id: idOf(entry), since: before?.since ?? steadyMs(), state: 'reading' }
    readings.set(entry.key, reading)
    for (const [oldest] of readings) if (readings.size > maxReadings) readings.delete(oldest)
    return withTimeout(work, maxHeldMs, () => {
      throw new Error('no answer')
    }).then(
      (outcome) => {
        if (outcome !== undefined) reading.outcome = outcome
        reading.state = 'done'
      },
      () => {
        reading.state = 'failed'
      },
    )
  }

  return {
    async begin(entries) {
      const started = entries.filter(isConfirmed).flatMap((entry) => {
        const known = readings.get(entry.key)
        const same = known?.id === idOf(entry) ? known : undefined
        return same && same.state !== 'failed' ? [] : (start(entry, same) ?? [])
      })
      if (started.length > 0) await withTimeout(Promise.all(started), inlineMs, () => {})
    },
    settle(before, after) {
      if (!isConfirmed(after)) return after
      const reading = readings.get(after.key)
      if (reading?.id !== idOf(after)) return after
      if (reading.state === 'done') {
        readings.delete(after.key)
        return reading.outcome === undefined ? after : { ...after, outcome: reading.outcome }
      }
      if (steadyMs() - reading.since >= maxHeldMs) {
        readings.delete(after.key)
        const { connector, plugin } = after
        log.warn({ txHash: txHashOf(after), connector, plugin }, 'transaction is final, and its plugin did not tell what it brought')
        return after
      }
      const isSame = before.state === 'MINED' && idOf(before) === idOf(after)
      return isSame ? before : { ...after, state: 'MINED' }
    },
  }
}

const isConfirmed = (entry: Entry): boolean => entry.state === 'CONFIRMED'

const idOf = ({ landed }: Entry): string => `${landed?.id} ${landed?.blockHash ?? landed?.blockNumber}`
