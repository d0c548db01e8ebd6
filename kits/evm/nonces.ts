import type { Standing } from '../../core/contracts/index.ts'

/** What an account's next nonce is by its transactions in blocks, and by those in the mempool too. */
type Word = { readonly latest: number; readonly pending: number }

/** One word of the network, or what is believed after some. */
export type EvmSynced = Word & {
  /** The last word; absent where there is only one, which nothing has borne out. */
  readonly said?: Word
  /** The node knows older blocks than were known before. */
  readonly behind?: true
}

/** Each empty nonce costs a transfer to fill. */
const farthestGap = 256

/**
 * Nodes lag, fork and lie, so a single word moves nothing but what our own transactions (`held`) explain: believed is the middle one
 * of what was believed, the word before and this one. Two words in a row that agree are believed whatever was before, so that what
 * was wrong does not last.
 */
export function mergeSynced(known: EvmSynced, news: EvmSynced, held: readonly number[] = []): EvmSynced {
  const { said } = known
  // The second: asked for before what is believed already.
  if (said && news.behind) return known
  if (news.said) return news
  const higher = (field: keyof Word) => Math.max(known[field], news[field])
  const believed = (field: keyof Word) => {
    // Of the first two neither is believed more: the lower one holds, until a third decides.
    const heard = said ? middle(known[field], said[field], news[field]) : Math.min(known[field], news[field])
    return Math.max(heard, Math.min(news[field], explained(known[field], held)))
  }
  return {
    latest: believed('latest'),
    pending: believed('pending'),
    said: said ? { latest: news.latest, pending: news.pending } : { latest: higher('latest'), pending: higher('pending') },
  }
}

/** Whether the last word went beyond what is believed, so that slots claimed now may be others' by now. */
export function isDoubtful(synced: EvmSynced, held: readonly number[]): boolean {
  const { latest, pending, said } = synced
  return said === undefined || Math.max(said.latest, said.pending) > explained(Math.max(latest, pending), held)
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

/** Judged by the newest word alone: who asks believes it when it was said twice. What waits far beyond is there by a lie. */
export function nonceGaps(_known: EvmSynced, news: EvmSynced, held: readonly number[], waiting: readonly number[]): readonly number[] {
  const taken = new Set(held)
  const first = Math.max(news.latest, news.pending)
  const top = Math.max(first, ...waiting.filter((nonce) => nonce <= first + farthestGap))
  return noncesFrom(first, top - first).filter((nonce) => !taken.has(nonce))
}

/** How far a count can go by what is held alone. */
function explained(from: number, held: readonly number[]): number {
  const ours = new Set(held)
  let next = from
  while (ours.has(next)) next += 1
  return next
}

function middle(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}
