const remembered = 1000

/**
 * Nonces that the exchange says were used: what was signed on them has been carried out, or refused, and nobody heard it. No two signers of
 * a server have the same.
 */
export interface UsedNonces {
  note(nonce: number | undefined): void
  has(nonce: number): boolean
}

/** In memory alone: after a restart the same bytes are sent again, and the exchange says it again. */
export function createUsedNonces(): UsedNonces {
  const used = new Set<number>()
  return {
    note(nonce) {
      if (nonce !== undefined) used.add(nonce)
      for (const oldest of used) if (used.size > remembered) used.delete(oldest)
    },
    has: (nonce) => used.has(nonce),
  }
}
