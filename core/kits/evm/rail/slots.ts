import type { Standing } from '../../../contracts/index.ts'

/** What the chain says of an account: the next nonce at the final, the latest and the pending block. */
export type EvmSynced = { readonly final: number; readonly latest: number; readonly pending: number }

/** Nonces that are mined stay so in what is known (a node may lag); what waits in a mempool may go away, so the newest word counts. */
export function mergeSynced(known: EvmSynced, news: EvmSynced): EvmSynced {
  return { final: Math.max(known.final, news.final), latest: Math.max(known.latest, news.latest), pending: news.pending }
}

/** The lowest `count` consecutive nonces that nobody has. */
export function claimNonces({ latest, pending }: EvmSynced, held: readonly number[], count: number): readonly number[] {
  const taken = new Set(held)
  let first = Math.max(latest, pending)
  for (let nonce = first; nonce < first + count; nonce += 1) if (taken.has(nonce)) first = nonce + 1
  return noncesFrom(first, count)
}

export function noncesFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

export function nonceStanding({ latest, pending }: EvmSynced, nonce: number): Standing {
  if (nonce < latest) return 'past'
  return nonce < pending ? 'taken' : 'free'
}

/** Judged by the newest word about what is mined (a reorganisation may have undone a foreign transaction), down to what is final. */
export function nonceGaps(known: EvmSynced, news: EvmSynced, held: readonly number[], waiting: readonly number[]): readonly number[] {
  const taken = new Set(held)
  const first = Math.max(known.final, news.latest, news.pending)
  const top = Math.max(first, ...waiting)
  return noncesFrom(first, top - first).filter((nonce) => !taken.has(nonce))
}
