import { verifyAuthorization } from 'ethers/hash'
import { toQuantity } from 'ethers/utils'
import type { Standing, At } from '../../core/contracts/index.ts'
import { isObject, type Rpc } from '../nodes/dialect.ts'
import { quantityOf } from './encoding.ts'

/** What an account's next nonce is by its transactions in blocks, and by those in the mempool too. */
type Word = { readonly latest: number; readonly pending: number }

/** One word of the network, or what is believed after some. */
export type NonceCounts = Word & {
  /** The last word; absent where there is only one, which nothing has borne out. */
  readonly last?: Word
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
export function mergeCounts(known: NonceCounts, news: NonceCounts, held: readonly number[] = []): NonceCounts {
  const { last: said } = known
  // The second: asked for before what is believed already.
  if (said && news.behind) return known
  if (news.last) return news
  const higher = (field: keyof Word) => Math.max(known[field], news[field])
  const believed = (field: keyof Word) => {
    // Of the first two neither is believed more: the lower one holds, until a third decides.
    const heard = said ? middle(known[field], said[field], news[field]) : Math.min(known[field], news[field])
    return Math.max(heard, Math.min(news[field], explained(known[field], held)))
  }
  return {
    latest: believed('latest'),
    pending: believed('pending'),
    last: said ? { latest: news.latest, pending: news.pending } : { latest: higher('latest'), pending: higher('pending') },
  }
}

/** Whether the last word went beyond what is believed, so that slots claimed now may be others' by now. */
export function isDoubtful(synced: NonceCounts, held: readonly number[]): boolean {
  const { latest, pending, last: said } = synced
  return said === undefined || Math.max(said.latest, said.pending) > explained(Math.max(latest, pending), held)
}

/** The lowest `count` consecutive nonces that nobody has. */
export function claimNonces({ latest, pending }: NonceCounts, held: readonly number[], count: number): readonly number[] {
  const taken = new Set(held)
  let first = Math.max(latest, pending)
  for (let nonce = first; nonce < first + count; nonce += 1) if (taken.has(nonce)) first = nonce + 1
  return noncesFrom(first, count)
}

export function noncesFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

export function nonceStatus({ latest, pending }: NonceCounts, nonce: number): Standing {
  if (nonce < latest) return 'past'
  return nonce < pending ? 'taken' : 'free'
}

/** Judged by the newest word alone: who asks believes it when it was said twice. What waits far beyond is there by a lie. */
export function nonceGaps(_known: NonceCounts, news: NonceCounts, held: readonly number[], waiting: readonly number[]): readonly number[] {
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

/**
 * What took a nonce.
 * - `by`: the transaction, seen in its block
 * - `untold`: the node no longer knows the state of blocks that old, or the account's code may have moved its nonce unseen
 * - `denied`: what the node says contradicts itself, so that the nonce may well be free
 */
export type NonceUser = { is: 'by'; id: string } | { is: 'untold' } | { is: 'denied' }

/** Counts asked for at once. */
const points = 32
/** EIP-7702: code of an account that lends itself another's; that may create contracts, each of which takes a nonce. */
const delegation = '0xef0100'

const untold: NonceUser = { is: 'untold' }
const denied: NonceUser = { is: 'denied' }

/** Finds what an account's nonce went to, given that its count at a block is beyond that nonce: two or three batches. */
export async function findNonceUser(rpc: Rpc, from: string, nonce: number, block: number, at: At): Promise<NonceUser> {
  const found = await passing(rpc, from, nonce, block, at)
  if (typeof found !== 'number') return found
  const [full, code] = await rpc.batch(
    [
      { method: 'eth_getBlockByNumber', params: [toQuantity(found), true] },
      { method: 'eth_getCode', params: [from, toQuantity(found)] },
    ],
    at,
  )
  const txs = isObject(full?.result) ? full.result['transactions'] : undefined
  if (!Array.isArray(txs)) return untold
  const taker = txs.find((tx: unknown) => isObject(tx) && (spends(tx, from, nonce) || authorizes(tx, from, nonce)))
  const id: unknown = isObject(taker) ? taker['hash'] : undefined
  if (typeof id === 'string') return { is: 'by', id }
  return typeof code?.result === 'string' && code.result.startsWith(delegation) ? untold : denied
}

/** The first block at whose end the count is beyond the nonce. */
async function passing(rpc: Rpc, from: string, nonce: number, block: number, at: At): Promise<number | NonceUser> {
  // Back in steps that double, for it was not long ago as a rule.
  const steps = [...Array.from({ length: points - 1 }, (_, power) => block - 2 ** power).filter((number) => number > 0), 0]
  let known = await counts(rpc, from, steps.toReversed(), at)
  let high = block
  for (;;) {
    const low = known.findLast(({ count }) => count !== undefined && count <= nonce)?.number
    const beyond = known.find(({ number, count }) => number > (low ?? -1) && count !== undefined && count > nonce)
    high = Math.min(high, beyond?.number ?? high)
    // A count never falls from one block to a later one.
    if (known.some(({ number, count }) => count !== undefined && (number < (low ?? 0) ? count > nonce : number > high && count <= nonce)))
      return denied
    if (low === undefined) return known.every(({ count }) => count !== undefined) ? denied : untold
    if (high - low === 1) return high
    const stride = Math.max(1, Math.ceil((high - low) / (points + 1)))
    const between = Array.from({ length: Math.ceil((high - low) / stride) - 1 }, (_, index) => low + (index + 1) * stride)
    known = [{ number: low, count: nonce }, ...(await counts(rpc, from, between, at))]
    if (known.some(({ count }) => count === undefined)) return untold
  }
}

async function counts(rpc: Rpc, from: string, blocks: readonly number[], at: At) {
  const answers = await rpc.batch(
    blocks.map((number) => ({ method: 'eth_getTransactionCount', params: [from, toQuantity(number)] })),
    at,
  )
  return blocks.map((number, index) => {
    const count = quantityOf(answers[index]?.result)
    return { number, count: count === undefined ? undefined : Number(count) }
  })
}

const isAccount = (value: unknown, account: string) => typeof value === 'string' && value.toLowerCase() === account.toLowerCase()

function spends(tx: Record<string, unknown>, from: string, nonce: number): boolean {
  return isAccount(tx['from'], from) && quantityOf(tx['nonce']) === BigInt(nonce)
}

/** EIP-7702: an authorization takes a nonce of the account that signed it, in a transaction of anybody's. */
function authorizes(tx: Record<string, unknown>, from: string, nonce: number): boolean {
  const list = tx['authorizationList']
  return (
    Array.isArray(list) &&
    list.some((each: unknown) => isObject(each) && quantityOf(each['nonce']) === BigInt(nonce) && isAccount(signerOf(each), from))
  )
}

function signerOf({ chainId, address, nonce, r, s, yParity }: Record<string, unknown>): string | undefined {
  const [chain, count, parity] = [quantityOf(chainId), quantityOf(nonce), quantityOf(yParity)]
  if (chain === undefined || count === undefined || parity === undefined) return undefined
  if (typeof address !== 'string' || typeof r !== 'string' || typeof s !== 'string') return undefined
  try {
    const yParityBit = parity === 0n ? 0 : 1
    return verifyAuthorization({ chainId: chain, address, nonce: count }, { r, s, yParity: yParityBit })
  } catch {
    // An authorization with a bad signature is part of the block all the same, and takes nobody's nonce.
    return undefined
  }
}
