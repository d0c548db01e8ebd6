import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import { txHashOf } from './entry.ts'
import type { Entry } from './entry.ts'
import type { Guard, KeptAnswer } from './journal/journal.ts'
import type { Change, Recorder } from './journal/recorder.ts'
import { Superseded } from './journal/superseded.ts'
import { outcomeUnknown } from './submit/timeout.ts'

const longestPauseMs = 2_000
/** Every write of one entry in a row is won by somebody, so this many losses are a defect. */
const maxTries = 100

/** Signed bytes that are to be journaled. */
export interface Signed {
  /** What gets them, and what else changes with it: as it is now. Asked again where somebody wrote in between; a throw gives it up. */
  changes: () => Promise<{ own: readonly Change[]; beside?: readonly Change[] }>
  /** What an entry becomes when its bytes are certain not to be kept; another version in any case. */
  instead: (before: Entry) => Entry
  guard: Guard
  answer?: KeptAnswer
  /** Told once they are certain to be there, and the answer with them. */
  kept?: () => void
  requestId: string
}

/** The bytes are in the journal; or only `outcome` will tell whether they are, and until then nothing may leave. */
export type Kept =
  | { is: 'kept'; entries: readonly Entry[] }
  | { is: 'unknown'; cause: unknown; outcome: Promise<readonly Entry[] | undefined> }

/**
 * Journals signed bytes, and with them the answer that their request is given.
 * @throws what says that nothing was kept and nothing will be
 */
export async function keepSigned(recorder: Recorder, signed: Signed, closing: AbortSignal, log: Log): Promise<Kept> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { own, beside = [] } = await signed.changes()
    try {
      const written = await recorder.write([...own, ...beside], signed.guard, signed.answer)
      if (written) {
        signed.kept?.()
        return { is: 'kept', entries: written.slice(0, own.length) }
      }
    } catch (error) {
      if (saysNothingWasKept(error)) throw error
      return { is: 'unknown', cause: error, outcome: findOut(recorder, own, signed, closing, log) }
    }
  }
  throw new Superseded('Others wrote the same transactions all the time.')
}

/** What nobody expects may have come after the commit as well as before. */
const saysNothingWasKept = (error: unknown) => error instanceof Superseded || (error instanceof StoreUnavailable && !error.uncertain)

/**
 * Whether a write was kept whose commit nobody heard of: the entries as they are then, or undefined where it was not and
 * cannot be any more. All of it was written or none, on one version: whoever writes the next one excludes it.
 */
async function findOut(
  recorder: Recorder,
  own: readonly Change[],
  { instead, guard, kept, requestId }: Signed,
  closing: AbortSignal,
  log: Log,
): Promise<readonly Entry[] | undefined> {
  log.warn(
    { requestId, txHashes: own.map(({ after }) => txHashOf(after)) },
    'the store did not say whether signed transactions were kept: finding out',
  )
  let hasNewOwner = false
  let told: string | undefined
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const now = await Promise.all(own.map(({ before }) => recorder.read(before.key)))
      if (own.every(({ after }, index) => hasAttemptOf(after, now[index]))) {
        kept?.()
        return now.flatMap((entry) => entry ?? [])
      }
      // The guard of a lane's former owner holds for nothing that is not kept yet.
      if (hasNewOwner || own.some(({ before }, index) => now[index]?.version !== before.version)) return undefined
      const given = own.map(({ before }) => ({ before, after: instead(before) }))
      if (await recorder.write(given, guard)) return undefined
    } catch (error) {
      if (error instanceof Superseded) hasNewOwner = true
      // What nobody expects tells as little, and whoever gave up here would leave the slot held for ever.
      else if (!(error instanceof StoreUnavailable)) {
        const reason = error instanceof Error ? error.message : 'unknown'
        if (reason !== told) log.warn({ requestId, reason }, 'whether signed transactions were kept could not be found out yet')
        told = reason
      }
    }
    await sleep(pauseMs, undefined, { signal: closing }).catch(() => {})
    if (closing.aborted) throw outcomeUnknown(requestId)
  }
}

function hasAttemptOf({ attempts }: Entry, kept: Entry | undefined): boolean {
  const id = attempts.at(-1)?.id
  return kept !== undefined && kept.attempts.some((each) => each.id === id)
}
