import { SluiceError } from 'sluice/plugin'

/** Milliseconds since the Unix epoch. A signer uses each nonce once. */
export type Sequence = { readonly nonce: number }

/** How far the exchange's clock is ahead of this machine's. */
export type ClockOffset = { readonly aheadMs: number }

/**
 * This machine's time of day as it was when the process began, and counted from there by a clock that nobody sets: it does not jump. How far
 * the exchange's clock is from it is always asked for.
 */
export const machineMs = (): number => Math.floor(performance.timeOrigin + performance.now())

const dayMs = 86_400_000
/** The exchange accepts nonces from two days ago to a day ahead: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets */
export const nonceLivesMs = 2 * dayMs
/**
 * The exchange keeps the hundred highest nonces of a signer and takes none below them: a hundred that callers give ahead of time would make it refuse
 * those that are made here, which are the time of day, until then.
 */
const maxAheadMs = 60_000

const nonces = (first: number, count: number): readonly Sequence[] =>
  Array.from({ length: count }, (_, index) => ({ nonce: first + index }))

/** Claims nonces that increase over all signers: the nonce of a final action is not in `held` any more, but stays used. */
export function createClaim(nowMs: () => number = machineMs) {
  let last = 0
  return (synced: ClockOffset, held: readonly Sequence[], count: number): readonly Sequence[] => {
    const first = Math.max(nowMs() + synced.aheadMs, last + 1, ...held.map(({ nonce }) => nonce + 1))
    last = first + count - 1
    return nonces(first, count)
  }
}

/** The nonces from one that the caller names. @throws SluiceError INVALID_NONCE where the exchange would refuse it, or soon the next ones */
export function noncesFrom(synced: ClockOffset, nonce: number, count: number, nowMs = machineMs()): readonly Sequence[] {
  const now = nowMs + synced.aheadMs
  if (nonce > now - nonceLivesMs && nonce + count - 1 < now + maxAheadMs) return nonces(nonce, count)
  throw new SluiceError(
    'INVALID_NONCE',
    `nonce ${nonce} is outside Hyperliquid's window of accepted nonces: it must be a time in milliseconds, at most two days ago and less than a minute ahead (now: ${now}). Leave it out to have one made.`,
    { details: { nonce, now } },
  )
}

/** A set of nonces that forgets the oldest. */
export interface NonceSet {
  add(nonce: number): void
  has(nonce: number): boolean
  /** True where it was in the set. */
  delete(nonce: number): boolean
}

export function createNonceSet(maxNonces: number): NonceSet {
  const all = new Set<number>()
  return {
    add(nonce) {
      all.add(nonce)
      for (const oldest of all) if (all.size > maxNonces) all.delete(oldest)
    },
    has: (nonce) => all.has(nonce),
    delete: (nonce) => all.delete(nonce),
  }
}
