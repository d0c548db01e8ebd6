import type { Log } from '../contracts/index.ts'

/** Whose state it is about. */
export interface StateSubject {
  readonly chain: string
  readonly network: string
  /** Absent where it is about the network as a whole. */
  readonly connector?: string
  /** The market, or the key of what is followed. */
  readonly what?: string
}

/**
 * - `defect`: a plugin threw what is no SluiceError, or told what cannot be
 * - `gap`: updates were missed; a snapshot heals it
 * - `lost`: an exchange or a network is away
 * - `reload`: states were read anew, because what happened did not tell all of them, or too much was missed
 * - `reorganisation`: blocks were taken back
 */
type Trouble = 'defect' | 'gap' | 'lost' | 'reload' | 'reorganisation'

/** What a sample in memory was, compared with the exchange itself; `unclear` where both could not be had of the same moment, or the exchange says two things of it. */
export type CheckOutcome = 'equal' | 'different' | 'unclear'

export interface LiveStateCounters {
  trouble(place: StateSubject, what: Trouble): void
  check(place: StateSubject, outcome: CheckOutcome): void
  update(place: StateSubject, count: number): void
}

/** What is told of the state in memory: to people by the log, to machines by counters. */
export interface Telemetry {
  trouble(place: StateSubject, what: Trouble, reason: string, cause?: unknown): void
  check(place: StateSubject, outcome: CheckOutcome): void
  update(place: StateSubject, count: number): void
}

export function createTelemetry(log: Log, counters: LiveStateCounters): Telemetry {
  return {
    trouble(place, what, reason, cause) {
      counters.trouble(place, what)
      const fields = { ...place, trouble: what, ...(cause !== undefined && { err: cause }) }
      if (what === 'defect' || what === 'lost') log.warn(fields, reason)
      else log.info(fields, reason)
    },
    check(place, outcome) {
      counters.check(place, outcome)
      if (outcome === 'different') log.warn({ ...place }, 'what was in memory was not what the exchange has; it is read anew')
    },
    update: (place, count) => counters.update(place, count),
  }
}
