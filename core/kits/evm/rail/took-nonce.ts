import { verifyAuthorization } from 'ethers/hash'
import { toQuantity } from 'ethers/utils'
import type { At } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import type { Rpc } from '../../nodes/types.ts'
import { quantityOf } from '../quantity.ts'

/**
 * What took a nonce.
 * - `by`: the transaction, seen in its block
 * - `untold`: the node no longer knows the state of blocks that old, or the account's code may have moved its nonce unseen
 * - `denied`: what the node says contradicts itself, so that the nonce may well be free
 */
export type Taker = { is: 'by'; id: string } | { is: 'untold' } | { is: 'denied' }

/** Counts asked for at once. */
const points = 32
/** EIP-7702: code of an account that lends itself another's; that may create contracts, each of which takes a nonce. */
const delegation = '0xef0100'

const untold: Taker = { is: 'untold' }
const denied: Taker = { is: 'denied' }

/** Finds what an account's nonce went to, given that its count at a block is beyond that nonce: two or three batches. */
export async function tookNonce(rpc: Rpc, from: string, nonce: number, block: number, at: At): Promise<Taker> {
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
async function passing(rpc: Rpc, from: string, nonce: number, block: number, at: At): Promise<number | Taker> {
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
