import type { Standing } from '../../../contracts/index.ts'

/** What one answer says: an account's next nonce by its transactions in blocks, and by those in the mempool too. */
type Word = {
  /** The newest block that the node knew. */
  readonly block: number
  readonly latest: number
  readonly pending: number
}

/** One word of the network, or what is believed after some. */
export type EvmSynced = {
  readonly block?: number
  readonly latest: number
  readonly pending: number
  /** The last word; absent where there is only one, which nothing has borne out. */
  readonly said?: Word
}

/** Each empty nonce costs a transfer to fill. */
const farthestGap = 256

/**
 * Nodes lag, fork and lie, so a single word moves nothing but what our own transactions (`held`) explain: believed is the middle one
 * of what was believed, the word before and this one. Two words in a row that agree are believed whatever was before, so that what
 * was wrong does not last. What a node says that knows only older blocks counts for nothing.
 */
export function mergeSynced(known: EvmSynced, news: EvmSynced, held: readonly number[] = []): EvmSynced {
  // Asked for before what is believed already.
  if (news.said) return news
  const word = wordOf(news)
  const before = wordOf(known)
  // Of the first two neither is believed more: the lower one holds, until a third decides.
  const said = known.said ?? each(before, word, (was, is) => Math.max(was, is))
  const heard = known.said
    ? each(before, word, (was, is, field) => middle(was, said[field], is))
    : each(before, word, (was, is) => Math.min(was, is))
  if (word.block < heard.block) return { ...known, block: heard.block, said: { ...said, block: word.block } }
  const ours = (field: 'latest' | 'pending') => Math.min(word[field], explained(before[field], held))
  return {
    block: heard.block,
    latest: Math.max(heard.latest, ours('latest')),
    pending: Math.max(heard.pending, ours('pending')),
    said: known.said ? word : said,
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

function wordOf({ latest, pending, block = 0 }: EvmSynced): Word {
  return { latest, pending, block }
}

function each(a: Word, b: Word, choose: (a: number, b: number, field: keyof Word) => number): Word {
  return {
    block: choose(a.block, b.block, 'block'),
    latest: choose(a.latest, b.latest, 'latest'),
    pending: choose(a.pending, b.pending, 'pending'),
  }
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
