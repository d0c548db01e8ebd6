// On an exchange's own rail no nonce orders the steps of a plan: each is sent once the one before it was done, and none behind one that was not. It goes by
// the journal, so it holds for the next server, too.
import { isFinal, isOfSamePlan, railOf, signerOf, type Entry } from './entry.ts'
import { OwnershipLostError, type Recorder } from './journal/journal.ts'
import type { LeasedQueue } from './leases.ts'

interface PlanStepsParts {
  readonly recorder: Recorder
  /** Called for one that ends. */
  readonly onFinal: (entry: Entry) => void
}

/**
 * Those of signed, open entries of a rail that may be sent by now. What can never be sent ends.
 * @param ours by the addresses of their queues
 * @throws StoreUnavailable
 */
export async function stepsInTurn(
  open: readonly Entry[],
  ours: ReadonlyMap<string, LeasedQueue>,
  { recorder, onFinal }: PlanStepsParts,
): Promise<readonly Entry[]> {
  const inTurn: Entry[] = []
  for (const entry of open) {
    if (mayHaveBeenSent(entry)) inTurn.push(entry)
    else {
      const before = await stepBefore(entry, open, recorder)
      if (before?.state === 'CONFIRMED') inTurn.push(entry)
      else if (!before || isFinal(before)) await drop(entry, before, ours.get(signerOf(entry)))
    }
  }
  return inTurn

  async function drop(entry: Entry, before: Entry | undefined, leased: LeasedQueue | undefined): Promise<void> {
    if (!leased) return
    const reason = `The step of its plan before it was not done, so that it was not sent${before?.reason === undefined ? '.' : `: ${before.reason}`}`
    const ended = (current: Entry): Entry => (mayHaveBeenSent(current) ? current : { ...current, state: 'EXPIRED', reason })
    try {
      const stored = await recorder.amend(entry, ended, leased.lease)
      if (isFinal(stored)) onFinal(stored)
    } catch (error) {
      if (!(error instanceof OwnershipLostError)) throw error
    }
  }
}

/** Or it waits for no other. One that is being replaced ends with its replacement. */
const mayHaveBeenSent = (entry: Entry): boolean =>
  entry.part.index === 0 || entry.replacedBy !== undefined || isFinal(entry) || entry.attempts.some(({ sends }) => sends > 0)

/** Undefined where the journal has it no more. */
async function stepBefore(entry: Entry, open: readonly Entry[], { list }: Pick<Recorder, 'list'>): Promise<Entry | undefined> {
  const { key, part } = entry
  const isBefore = (each: Entry) => isOfSamePlan(each, entry) && each.part.index === part.index - 1
  const found = open.find(isBefore)
  if (found) return found
  const { chain, network, connector } = railOf(entry)
  // The keys of a plan's steps follow one another.
  const page = await list({ chain, network, on: { connector, address: signerOf(entry) }, cursor: key, limit: part.index })
  return page.entries.find(isBefore)
}
