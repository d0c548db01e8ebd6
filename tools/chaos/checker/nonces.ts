import { groupBy, type IndexedHistory } from './known.ts'
import type { Violation } from './violation.ts'

/** I4: no nonce is used twice, none is left as a gap, and a wallet that others spend from heals itself. */
export function nonces(known: IndexedHistory): Violation[] {
  const late = known.healed.filter(({ blocks, allowed }) => blocks > allowed)
  return [...usedTwice(known), ...leftEmpty(known), ...late.map((each) => violation('a wallet did not heal itself in time', each))]
}

/** A nonce has one trade, whatever replaces it: a bump makes the same call, and what cancels makes none. */
function usedTwice(known: IndexedHistory): Violation[] {
  const spending = known.signed.filter(({ call, txHash }) => call !== undefined && !known.foreign.has(txHash))
  const bySlot = groupBy(spending, ({ from, nonce }) => `${from}/${nonce}`)
  const twice = [...bySlot].flatMap(([slot, signed]) =>
    new Set(signed.map(({ call }) => call)).size > 1 ? [violation('two trades were signed on one nonce', { slot, signed })] : [],
  )
  const entries = groupBy(
    known.journal.filter(({ attempts }) => attempts.length > 0),
    ({ address, nonce }) => `${address}/${nonce}`,
  )
  const unranked = [...entries].flatMap(([slot, sharing]) =>
    new Set(sharing.map(({ rank }) => rank)).size < sharing.length
      ? [violation('two entries are on one nonce and neither replaces the other', { slot, entries: sharing })]
      : [],
  )
  return [...twice, ...unranked]
}

/** At the end nothing that was signed waits behind a nonce that nothing is on. */
function leftEmpty(known: IndexedHistory): Violation[] {
  return known.wallets.flatMap((wallet) => {
    const next = known.nextNonces.get(wallet) ?? 0
    const waiting = known.signed.filter(({ from, nonce }) => from === wallet && nonce >= next)
    const taken = new Set(waiting.map(({ nonce }) => nonce))
    const top = Math.max(next, ...taken)
    const empty = Array.from({ length: top - next }, (_, index) => next + index).filter((nonce) => !taken.has(nonce))
    return empty.length > 0 ? [violation('a nonce was left empty and others wait behind it', { wallet, next, empty, waiting })] : []
  })
}

const violation = (what: string, evidence: object): Violation => ({ invariant: 'I4', what, evidence })
