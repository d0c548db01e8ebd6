import type { Slot } from '../nonces.ts'

/** Nonces are sent on moments after they were claimed; some never are. */
const remembered = 10_000

/** Nonces that this server claimed and has sent nothing on yet: what is on any other may have come to the exchange before. */
export interface UnsentNonces {
  note(slots: readonly Slot[]): readonly Slot[]
  /** True once. */
  take(nonce: number | undefined): boolean
}

export function createUnsentNonces(): UnsentNonces {
  const unsent = new Set<number>()
  return {
    note(slots) {
      for (const { nonce } of slots) unsent.add(nonce)
      for (const oldest of unsent) if (unsent.size > remembered) unsent.delete(oldest)
      return slots
    },
    take: (nonce) => nonce !== undefined && unsent.delete(nonce),
  }
}
