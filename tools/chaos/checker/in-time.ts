import type { IndexedHistory } from './known.ts'
import type { Violation } from './violation.ts'

const ends: ReadonlySet<string> = new Set(['CONFIRMED', 'REVERTED', 'REPLACED', 'CANCELLED', 'DROPPED', 'OVERTAKEN', 'EXPIRED'])

/** I6: when faults end, everything open reaches its final state within the confirmation depth plus 5 blocks. */
export function inTime({ journal, settled, signed, isDead, minedBy }: IndexedHistory): Violation[] {
  if (settled.blocks < settled.allowed) {
    const open = journal.filter(({ state }) => !ends.has(state))
    if (open.length > 0)
      throw new Error(`The run was judged ${settled.blocks} blocks after its faults, before ${settled.allowed} had passed.`)
  }
  const open = journal.flatMap((entry) =>
    ends.has(entry.state) ? [] : [violation(`still ${entry.state} ${settled.blocks} blocks after the faults ended`, { entry, settled })],
  )
  const live = signed
    .filter((each) => !minedBy(each.txHash) && !isDead(each))
    .map((each) => violation('signed bytes are not mined and still can be', { signed: each, settled }))
  return [...open, ...live]
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I6', what, evidence })
