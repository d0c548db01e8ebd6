import { speaksOfLimit } from '../nodes/faults.ts'
import { resultOf, type Rpc } from '../nodes/rpc.ts'
import { verifyAuthorization } from 'ethers/hash'
import { toQuantity } from 'ethers/utils'
import type { SequenceStatus, At } from '../../core/contracts/index.ts'
import { isSameHex, numberOf, quantityOf } from './encoding.ts'
import { saysLostState } from './node-errors.ts'
import { isObject } from '../../core/base/json.ts'

/** An account's next nonce: by its transactions in blocks, and with those in the mempool. */
type Counts = { readonly latest: number; readonly pending: number }

/** What the network said once, or what counts as true after several answers. */
export type NonceCounts = Counts & {
  /** The last answer. Absent where there was only one, which no other has confirmed. */
  readonly last?: Counts
  /** The node knows older blocks than were known before. */
  readonly behind?: true
}

/** To fill an empty nonce costs a transfer. */
const maxGap = 256

/**
 * Nodes lag, fork and give wrong answers, so a single answer changes nothing except what our own transactions (`held`) explain. What counts
 * is the middle one of what counted before, the answer before and this one. Two answers in a row that agree count, whatever was before, so
 * that an error does not last.
 */
export function mergeCounts(known: NonceCounts, update: NonceCounts, held: readonly number[] = []): NonceCounts {
  const { last } = known
  // This answer comes second and is older than what counts already.
  if (last && update.behind) return known
  if (update.last) return update
  const merged = (field: keyof Counts) => {
    // Of the first two answers the lower one counts, until a third decides.
    const heard = last ? middle(known[field], last[field], update[field]) : Math.min(known[field], update[field])
    return Math.max(heard, Math.min(update[field], nextAfter(known[field], held)))
  }
  const higher = (field: keyof Counts) => Math.max(known[field], update[field])
  return {
    latest: merged('latest'),
    pending: merged('pending'),
    last: last ? { latest: update.latest, pending: update.pending } : { latest: higher('latest'), pending: higher('pending') },
  }
}

/** Whether the last answer is beyond what counts, so that nonces claimed now may be used by others already. */
export function isDoubtful({ latest, pending, last }: NonceCounts, held: readonly number[]): boolean {
  return last === undefined || Math.max(last.latest, last.pending) > nextAfter(Math.max(latest, pending), held)
}

/** The lowest `count` consecutive nonces that nobody uses. */
export function claimNonces({ latest, pending }: NonceCounts, held: readonly number[], count: number): readonly number[] {
  const taken = new Set(held)
  let first = Math.max(latest, pending)
  for (let nonce = first; nonce < first + count; nonce += 1) if (taken.has(nonce)) first = nonce + 1
  return noncesFrom(first, count)
}

export function noncesFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

export function nonceStatus({ latest, pending }: NonceCounts, nonce: number): SequenceStatus {
  if (nonce < latest) return 'past'
  return nonce < pending ? 'taken' : 'free'
}

/**
 * Empty nonces below our pending transactions, by the newest answer alone: the caller acts when two answers agree. A transaction that waits
 * far beyond got its nonce by a wrong answer.
 */
export function nonceGaps(
  _known: NonceCounts,
  update: NonceCounts,
  held: readonly number[],
  waiting: readonly number[],
): readonly number[] {
  const taken = new Set(held)
  const first = Math.max(update.latest, update.pending)
  const top = Math.max(first, ...waiting.filter((nonce) => nonce <= first + maxGap))
  return noncesFrom(first, top - first).filter((nonce) => !taken.has(nonce))
}

/** The first nonce from one on that we do not hold. */
function nextAfter(from: number, held: readonly number[]): number {
  const ours = new Set(held)
  let next = from
  while (ours.has(next)) next += 1
  return next
}

function middle(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}

/**
 * What used a nonce.
 * - `transaction`: seen in its block
 * - `unknown`: the node no longer has the state of blocks that old, or the account's code may have used the nonce unseen
 * - `contradiction`: the node's answers contradict each other, so the nonce may well be free
 */
export type NonceUser = { is: 'transaction'; id: string } | { is: 'unknown' } | { is: 'contradiction' }

/** Nonce counts asked for at once. */
const maxCounts = 32
/** EIP-7702: prefix of the code of an account that delegates to a contract. That may create contracts, each of which uses a nonce. */
const delegationPrefix = '0xef0100'

const unknown: NonceUser = { is: 'unknown' }
const contradiction: NonceUser = { is: 'contradiction' }

/** Finds what used an account's nonce, given that its count at a block is beyond that nonce. It takes two or three batches. */
export async function findNonceUser(rpc: Rpc, from: string, nonce: number, block: number, at: At): Promise<NonceUser> {
  const found = await blockThatUsed(rpc, from, nonce, block, at)
  if (typeof found !== 'number') return found
  const [full, code] = await rpc.batch(
    [
      { method: 'eth_getBlockByNumber', params: [toQuantity(found), true] },
      { method: 'eth_getCode', params: [from, toQuantity(found)] },
    ],
    at,
  )
  const inFull = resultOf(rpc, 'eth_getBlockByNumber', full)
  const txs = isObject(inFull) ? inFull['transactions'] : undefined
  if (!Array.isArray(txs)) return unknown
  const user = txs.find((tx: unknown) => isObject(tx) && (spends(tx, from, nonce) || authorizes(tx, from, nonce)))
  const id: unknown = isObject(user) ? user['hash'] : undefined
  if (typeof id === 'string') return { is: 'transaction', id }
  if (code?.error && saysLostState(code.error)) return unknown
  const codeThen = resultOf(rpc, 'eth_getCode', code)
  return typeof codeThen === 'string' && codeThen.startsWith(delegationPrefix) ? unknown : contradiction
}

/** The number of the first block at whose end the count is beyond the nonce. */
async function blockThatUsed(rpc: Rpc, from: string, nonce: number, block: number, at: At): Promise<number | NonceUser> {
  // It is usually a recent block, so the steps back double.
  const steps = [...Array.from({ length: maxCounts - 1 }, (_, power) => block - 2 ** power).filter((number) => number > 0), 0]
  let known = await countsAt(rpc, from, steps.toReversed(), at)
  let high = block
  for (;;) {
    const low = known.findLast(({ count }) => count !== undefined && count <= nonce)?.number
    const beyond = known.find(({ number, count }) => number > (low ?? -1) && count !== undefined && count > nonce)
    high = Math.min(high, beyond?.number ?? high)
    // A count never falls from one block to a later one.
    if (known.some(({ number, count }) => count !== undefined && (number < (low ?? 0) ? count > nonce : number > high && count <= nonce)))
      return contradiction
    if (low === undefined) return known.every(({ count }) => count !== undefined) ? contradiction : unknown
    if (high - low === 1) return high
    const stride = Math.max(1, Math.ceil((high - low) / (maxCounts + 1)))
    const between = Array.from({ length: Math.ceil((high - low) / stride) - 1 }, (_, index) => low + (index + 1) * stride)
    known = [{ number: low, count: nonce }, ...(await countsAt(rpc, from, between, at))]
    if (known.some(({ count }) => count === undefined)) return unknown
  }
}

/**
 * The account's counts at blocks, oldest first. Undefined where the node has no state of the block: it says so, or it refuses that block and
 * all older ones, whatever it says. Any other refusal is the node's trouble, of which nothing follows.
 */
async function countsAt(rpc: Rpc, from: string, blocks: readonly number[], at: At) {
  const method = 'eth_getTransactionCount'
  const answers = await rpc.batch(
    blocks.map((number) => ({ method, params: [from, toQuantity(number)] })),
    at,
  )
  const oldest = answers.findIndex((answer) => numberOf(answer.result) !== undefined)
  return blocks.map((number, index) => {
    const answer = answers[index]
    const isLost = answer?.error && (saysLostState(answer.error) || (index < oldest && !speaksOfLimit(answer.error.message)))
    return { number, count: isLost ? undefined : numberOf(resultOf(rpc, method, answer)) }
  })
}

function spends(tx: Record<string, unknown>, from: string, nonce: number): boolean {
  return isSameHex(tx['from'], from) && quantityOf(tx['nonce']) === BigInt(nonce)
}

/** EIP-7702: an authorization in anybody's transaction uses a nonce of the account that signed it. */
function authorizes(tx: Record<string, unknown>, from: string, nonce: number): boolean {
  const list = tx['authorizationList']
  return (
    Array.isArray(list) &&
    list.some((each: unknown) => isObject(each) && quantityOf(each['nonce']) === BigInt(nonce) && isSameHex(signerOf(each), from))
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
    // An authorization with an invalid signature may stand in a block, and uses nobody's nonce.
    return undefined
  }
}
