import { groupBy } from '../../checker/known.ts'
import type { Violation } from '../../checker/violation.ts'
import type { JournalEntry } from '../../history.ts'
import type { ExecutedAction } from '../between.ts'
import type { ExchangeHistory } from '../found.ts'

const failures: ReadonlySet<string> = new Set(['REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** I1 and I4: nothing leaves that is not in the journal, what that says of the end is what the exchange did, and no nonce has two actions. */
export function journal({ journal: entries, signed, executed }: ExchangeHistory): Violation[] {
  const done = new Map(executed.map((each) => [each.id, each]))
  const unknown = signed.filter(({ entry }) => entry === undefined)
  return [
    ...unknown.map((each) => violation('I1', 'bytes were sent that are not in the journal', { signed: each })),
    ...entries.flatMap((entry) => ofEntry(entry, done)),
    ...usedTwice(entries),
  ]
}

function ofEntry(entry: JournalEntry, done: ReadonlyMap<string, ExecutedAction>): Violation[] {
  const { state, kind, attempts } = entry
  const effects = attempts.flatMap(({ txHash }) => done.get(txHash) ?? [])
  const evidence = { entry, effects }
  // What the exchange refused had no effect, though nobody heard its words.
  if (failures.has(state) && effects.some(({ ok }) => ok))
    return [violation('I1', `the journal says ${state} and the exchange carried it out`, evidence)]
  if (state === 'CONFIRMED' && kind === 'order' && !effects.some(({ ok }) => ok))
    return [violation('I1', 'the journal says CONFIRMED and the exchange shows no effect', evidence)]
  if (state === 'REVERTED' && effects.some(({ ok }) => ok))
    return [violation('I1', 'the journal says REVERTED and the exchange shows the effect', evidence)]
  return []
}

/** What takes the place of another does nothing. */
function usedTwice(entries: readonly JournalEntry[]): Violation[] {
  const acting = entries.filter(({ kind, attempts }) => kind !== 'cancel' && attempts.length > 0)
  const bySlot = groupBy(acting, ({ signer, address, nonce }) => `${signer ?? address}/${nonce}`)
  return [...bySlot].flatMap(([slot, sharing]) =>
    sharing.length > 1 ? [violation('I4', 'two actions have one nonce', { slot, sharing })] : [],
  )
}

const violation = (invariant: Violation['invariant'], what: string, evidence: object): Violation => ({ invariant, what, evidence })
