import type { Sample } from '../history.ts'
import type { IndexedHistory } from './known.ts'
import type { Violation } from './violation.ts'

const lost: ReadonlySet<string> = new Set(['REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** I5: the server never says -1, or a final state, of a journaled transaction that turns out otherwise. */
export function saidOf(known: IndexedHistory): Violation[] {
  return known.samples.flatMap((sample) => {
    const entry = known.entryOf(sample.txHash)
    if (!entry) return []
    const mined = entry.attempts.flatMap(({ txHash }) => known.minedBy(txHash) ?? [])[0]
    const wrong = wrongIn(sample, mined)
    return wrong === undefined ? [] : [{ invariant: 'I5', what: wrong, evidence: { sample, entry, mined } }]
  })
}

function wrongIn({ txStatus, txState = '' }: Sample, mined: { ok: boolean } | undefined): string | undefined {
  if (txStatus === -1 && mined) return 'said -1 of a transaction that is mined'
  if (lost.has(txState) && mined) return `said ${txState} of a transaction that is mined`
  if (txState === 'CONFIRMED' && !mined?.ok) return 'said CONFIRMED of a transaction that has no effect'
  if (txState === 'REVERTED' && (!mined || mined.ok)) return 'said REVERTED of a transaction that did not revert'
  return undefined
}
