import { SluiceError } from 'sluice/plugin'

/** Milliseconds since the Unix epoch; used once by its signer. */
export type Sequence = { readonly nonce: number }

/** How far the exchange's clock is ahead of this machine's. */
export type Synced = { readonly aheadMs: number }

const dayMs = 86_400_000
/** Nonces are taken from two days ago to a day ahead: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets */
export const nonceLivesMs = 2 * dayMs
/** Nonces go on from the highest: one far ahead would leave those after it no room. */
const mostAheadMs = dayMs / 2

/** Claims nonces: they increase over all signers, since what is over is held no longer and its nonce is used all the same. */
export function createClaim(nowMs: () => number = Date.now) {
  let last = 0
  return (synced: Synced, held: readonly Sequence[], count: number): readonly Sequence[] => {
    const first = Math.max(nowMs() + synced.aheadMs, last + 1, ...held.map(({ nonce }) => nonce + 1))
    last = first + count - 1
    return Array.from({ length: count }, (_, index) => ({ nonce: first + index }))
  }
}

/** @throws SluiceError INVALID_NONCE where the exchange would refuse it, or soon those after it */
export function slotsFrom(synced: Synced, nonce: number, count: number, nowMs = Date.now()): readonly Sequence[] {
  const now = nowMs + synced.aheadMs
  if (nonce <= now - nonceLivesMs || nonce + count - 1 >= now + mostAheadMs) {
    throw new SluiceError(
      'INVALID_NONCE',
      `nonce ${nonce} is none that Hyperliquid takes: it is a time in milliseconds, at most two days ago and less than half a day ahead (now: ${now}). Leave it out to have one made.`,
      { details: { nonce, now } },
    )
  }
  return Array.from({ length: count }, (_, index) => ({ nonce: nonce + index }))
}

/** Nonces are sent on moments after they were claimed; some never are. */
const remembered = 10_000

/** Nonces that this server claimed and has sent nothing on yet: what is on any other may have come to the exchange before. */
export interface UnsentNonces {
  note(slots: readonly Sequence[]): readonly Sequence[]
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

const rememberedOfUsedNonces = 1000

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
      for (const oldest of used) if (used.size > rememberedOfUsedNonces) used.delete(oldest)
    },
    has: (nonce) => used.has(nonce),
  }
}
