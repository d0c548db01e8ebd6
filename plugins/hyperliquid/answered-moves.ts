// Moves of money whose answers came: the exchange's ledger has an entry of each, which is not the trace of an equal one whose answer was lost. In memory only.
import type { Trace, TracedStep } from './actions.ts'

export interface AnsweredMoves {
  /** It is about to be signed. */
  signs(step: TracedStep, nonce: number): void
  /** The exchange said that it carried out the action with that nonce. */
  answered(nonce: number): void
  /** How many equal ones have been carried out with a nonce since then. */
  countSince(nonce: number, step: TracedStep): number
}

const maxMoves = 1000

const leavesEntry = ({ of }: Trace) => of === 'usdClassTransfer' || of === 'borrowLend'
const nameOf = ({ user, trace }: TracedStep): string => `${user} ${JSON.stringify(trace)}`

export function createAnsweredMoves(): AnsweredMoves {
  const signed = new Map<number, string>()
  const done = new Map<number, string>()
  const keep = (moves: Map<number, string>, nonce: number, name: string) => {
    moves.set(nonce, name)
    for (const [oldest] of moves) if (moves.size > maxMoves) moves.delete(oldest)
  }
  return {
    signs(step, nonce) {
      if (leavesEntry(step.trace)) keep(signed, nonce, nameOf(step))
    },
    answered(nonce) {
      const name = signed.get(nonce)
      signed.delete(nonce)
      if (name !== undefined) keep(done, nonce, name)
    },
    countSince: (since, step) => [...done].filter(([nonce, name]) => nonce >= since && name === nameOf(step)).length,
  }
}
