import type { Head, Log } from '../contracts/index.ts'
import { differencesBetween } from './differences.ts'

/** What a report is about. */
export interface StateSubject {
  readonly chain: string
  readonly network: string
  /** Absent if it is about the network as a whole. */
  readonly connector?: string
  /** The market, or the key of the state. */
  readonly what?: string
}

/**
 * - `defect`: a plugin threw something else than a SluiceError, or returned something impossible
 * - `gap`: updates are missing; a snapshot repairs it
 * - `lost`: an exchange or a network is away
 * - `reload`: states are loaded again, because events did not determine them or too many blocks were missed
 * - `reorganisation`: blocks were replaced by others
 */
export type Trouble = 'defect' | 'gap' | 'lost' | 'reload' | 'reorganisation'

/** How a sample in memory compares with the exchange. `unclear`: both cannot be read at the same moment, or the exchange contradicts itself. */
export type CheckOutcome = 'equal' | 'different' | 'unclear'

/** What was compared: both are of the same moment. */
export interface Comparison {
  readonly inMemory: unknown
  readonly onChain: unknown
  readonly head: Head
}

/** Counters of live state, by `subject`. */
export interface LiveStateCounters {
  trouble(subject: StateSubject, trouble: Trouble): void
  check(subject: StateSubject, outcome: CheckOutcome): void
  update(subject: StateSubject, count: number): void
}

/** Reports on live state: to people by the log, to machines by counters. */
export interface Telemetry {
  trouble(subject: StateSubject, trouble: Trouble, reason: string, cause?: unknown): void
  /** @param compared the two states, where both are at hand: the log tells in what they differ */
  check(subject: StateSubject, outcome: CheckOutcome, compared?: Comparison): void
  update(subject: StateSubject, count: number): void
}

export function createTelemetry(log: Log, counters: LiveStateCounters): Telemetry {
  return {
    trouble(subject, trouble, reason, cause) {
      counters.trouble(subject, trouble)
      const fields = { ...subject, trouble, ...(cause !== undefined && { err: cause }) }
      if (trouble === 'defect' || trouble === 'lost') log.warn(fields, reason)
      else log.info(fields, reason)
    },
    check(subject, outcome, compared) {
      counters.check(subject, outcome)
      if (outcome !== 'different') return
      log.warn({ ...subject, ...(compared && told(compared)) }, 'state in memory differs from the exchange; it is loaded again')
    },
    update: (subject, count) => counters.update(subject, count),
  }
}

function told({ inMemory, onChain, head: { number, hash } }: Comparison) {
  const block = { block: String(number), ...(hash !== undefined && { hash }) }
  try {
    return { ...block, differences: differencesBetween(inMemory, onChain) }
  } catch (error) {
    // A state of a plugin shows itself by its own code.
    return { ...block, differences: `cannot be shown: ${error instanceof Error ? error.message : 'it threw no error'}` }
  }
}
