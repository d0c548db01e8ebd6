import { toQuantity } from 'ethers/utils'
import { SluiceError, type At, type Head, type Look, type Sighting, type OpenAttempt } from '../../core/contracts/index.ts'
import { isObject, type Rpc, type RpcAnswer } from '../nodes/dialect.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import { resultOf } from '../nodes/rpc.ts'
import { quantityOf, isBytes } from './encoding.ts'
import type { EvmFees } from './fees.ts'
import { revertData, revertReason, errorMeaning } from './node-errors.ts'
import { type NonceCounts, findNonceUser, type NonceUser } from './nonces.ts'
import { readReceipt } from './receipts.ts'
import { readBlock, type Block } from './rpc.ts'

type Landed = Sighting & { is: 'landed' }

interface Seen {
  attempt: Attempt
  /** As the node has them. */
  tx: unknown
  receipt: unknown
  sighting: Sighting | NonceTaken | undefined
}

/** Nodes and providers take up to a thousand calls in a batch (geth `--rpc.batch-request-limit`), two for an attempt. */
const attemptsPerBatch = 400
/** Of each kind in one look; the others have their turn at the next. */
const furtherQuestions = 16

/**
 * Receipts, transactions and counts of all open attempts in one batch. More is asked only about what failed, once, and about what
 * seems to have lost its nonce: a count alone may be a lie.
 * @param confirmations how many blocks, the transaction's own included, make it final
 */
export function createPoll(rpc: Rpc, confirmations: number) {
  const reasons = createBoundedCache<string>()
  const takers = createBoundedCache<NonceUser>()
  const isFinal = (sighting: Seen['sighting']) => sighting?.is === 'landed' && sighting.depth >= confirmations

  return async function look(open: readonly Attempt[], head: Head, at: At): Promise<Look<string, NonceCounts>> {
    const sightings: Sighting[] = []
    const synced = new Map<string, NonceCounts>()
    for (let start = 0; start < open.length; start += attemptsPerBatch) {
      const part = await lookAt(open.slice(start, start + attemptsPerBatch), head, at)
      sightings.push(...part.sightings)
      for (const [address, counts] of part.synced) synced.set(address, counts)
    }
    return { sightings, synced }
  }

  async function lookAt(open: readonly Attempt[], head: Head, at: At): Promise<Look<string, NonceCounts>> {
    const owners = [...new Set(open.map(({ from }) => from))]
    const finalBlock = Math.max(0, Number(head.number) - (confirmations - 1))
    const [block, ...answers] = await rpc.batch(
      [
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        ...owners.flatMap((owner) =>
          [toQuantity(finalBlock), 'latest', 'pending'].map((tag) => ({ method: 'eth_getTransactionCount', params: [owner, tag] })),
        ),
        ...open.flatMap(({ id }) => ['eth_getTransactionReceipt', 'eth_getTransactionByHash'].map((method) => ({ method, params: [id] }))),
      ],
      at,
    )
    const latest = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', block))
    const lags = latest.number < head.number || block?.behind !== undefined
    const view: PollView = { latest, lags, finalBlock, newest: Number(latest.number < head.number ? latest.number : head.number) }
    const said = owners.map((_, index) => answers.slice(index * 3, index * 3 + 3).map(countOf))
    const counts = new Map(owners.map((owner, index) => [owner, { final: said[index]?.[0], latest: said[index]?.[1] }]))
    const found = answers.slice(owners.length * 3)
    const seen = open.map((attempt, index): Seen => {
      const [receipt, tx] = found.slice(index * 2, index * 2 + 2)
      return { attempt, tx: tx?.result, receipt: receipt?.result, sighting: observe(attempt, view, counts.get(attempt.from), receipt, tx) }
    })

    const synced = new Map<string, NonceCounts>()
    for (const [index, [, mined, pending]] of said.entries()) {
      const owner = owners[index]
      if (owner !== undefined && mined !== undefined && pending !== undefined && !lags) synced.set(owner, { latest: mined, pending })
    }
    return { sightings: await explained(await judged(seen, finalBlock, at), at), synced }
  }

  /** Says of each that lost its nonce who has it; nothing of those that could not be asked about this time. */
  async function judged(seen: readonly Seen[], finalBlock: number, at: At): Promise<readonly Seen[]> {
    let questions = 0
    const result: Seen[] = []
    for (const each of seen) {
      const { attempt, sighting } = each
      if (sighting?.is !== 'ousted') {
        result.push(each)
        continue
      }
      const { from, slot } = attempt
      const name = `${from}/${slot}`
      const ours = seen.find((other) => other.attempt.from === from && other.attempt.slot === slot && isFinal(other.sighting))
      let taker: NonceUser | undefined = ours ? { is: 'by', id: ours.attempt.id } : takers.get(name)
      if (!taker && (questions += 1) <= furtherQuestions) taker = await findNonceUser(rpc, from, slot, finalBlock, at).catch(unanswered)
      if (taker?.is === 'denied') rpc.markUnhealthy(`says that nonce ${slot} of ${from} is used, and has no block in which that happened`)
      if (taker?.is === 'by' && taker.id !== attempt.id) takers.set(name, taker)
      result.push({ ...each, sighting: taker && verdict(attempt, taker) })
    }
    return result
  }

  /** With the reasons of those that failed. */
  async function explained(seen: readonly Seen[], at: At): Promise<readonly Sighting[]> {
    const keyOf = ({ id, blockHash }: Landed) => `${id}/${blockHash}`
    const unknown = seen
      .flatMap(({ tx, receipt, sighting }) =>
        isObject(tx) && sighting?.is === 'landed' && !sighting.ok ? [{ tx, receipt, landed: sighting }] : [],
      )
      .filter(({ landed }) => reasons.get(keyOf(landed)) === undefined)
      .slice(0, furtherQuestions)
    const asked = unknown.map(({ tx, receipt, landed }) => ({ tx, receipt, blockNumber: landed.blockNumber }))
    const told = (await revertReasons(rpc, asked, at).catch(unanswered)) ?? []
    for (const [index, { landed }] of unknown.entries()) {
      const reason = told[index]
      if (reason !== undefined) reasons.set(keyOf(landed), reason)
    }
    return seen.flatMap(({ sighting }) => {
      if (!sighting || sighting.is === 'ousted') return []
      const reason = sighting.is === 'landed' && !sighting.ok ? reasons.get(keyOf(sighting)) : undefined
      return reason === undefined ? [sighting] : [{ ...sighting, reason }]
    })
  }
}

/** What was seen already holds all the same; nodes that fail are logged where they do. */
function unanswered(error: unknown): undefined {
  if (!(error instanceof SluiceError)) throw error
}

function verdict({ id }: Attempt, taker: NonceUser): Sighting | undefined {
  if (taker.is === 'denied') return { id, is: 'unseen', underpriced: false }
  if (taker.is === 'untold') return { id, is: 'dead' }
  // In a block after all: the node gives its receipt the next time.
  return taker.id === id ? undefined : { id, is: 'dead', by: taker.id }
}

function countOf(answer: RpcAnswer | undefined): number | undefined {
  const count = quantityOf(answer?.result)
  return count === undefined ? undefined : Number(count)
}

type Attempt = Omit<OpenAttempt<string, number, EvmFees>, 'step'>

/** The block that a look holds for. */
interface PollView {
  latest: Block
  /** The node does not know the newest blocks: that it has something is news, that it lacks something is not. */
  lags: boolean
  /** What is mined up to here has all its confirmations. */
  finalBlock: number
  /** The lower one of the head that was known before and the node's: neither alone makes anything final. */
  newest: number
}

/** An account's counts: at the final block and at the latest; undefined where the node did not say. */
interface Counts {
  final: number | undefined
  latest: number | undefined
}

/** In no block and in no mempool, and the count at the final block is beyond its nonce: it seems that something else has that. */
type NonceTaken = { is: 'ousted' }

/** What the answers about one attempt say; undefined where they say nothing. */
function observe(
  { id, slot, fees }: Attempt,
  { latest, lags, newest, finalBlock }: PollView,
  counts: Counts | undefined,
  receipt: RpcAnswer | undefined,
  tx: RpcAnswer | undefined,
): Sighting | NonceTaken | undefined {
  if (!receipt || !tx || receipt.error || tx.error) return undefined
  if (receipt.result !== null) {
    const read = readReceipt(receipt.result)
    if (!read || !isHash(read.transactionHash, id)) return undefined
    const { status, blockNumber, blockHash } = read
    // The receipt of a block that a reorganisation undid: caches and backends keep such.
    if (blockNumber <= finalBlock && counts?.final !== undefined && counts.final <= slot) return undefined
    return { id, is: 'landed', ok: status === 1, blockNumber, blockHash, depth: Math.max(1, newest - blockNumber + 1), receipt: read }
  }
  if (lags) return undefined
  const underpriced = BigInt(fees.maxFeePerGas) < (latest.nextBaseFeeRaw ?? 0n)
  if (tx.result !== null) {
    // Another's, or in a block whose receipts the node does not have yet: the next look tells.
    if (!isObject(tx.result) || !isHash(tx.result['hash'], id) || typeof tx.result['blockNumber'] === 'string') return undefined
    return { id, is: 'pending', underpriced, next: counts?.latest === slot }
  }
  // Where the node has lost the state of the final block the count of the latest stands in: it has to hold for as long as makes final.
  if (counts?.final === undefined && counts?.latest !== undefined && counts.latest > slot) return { id, is: 'dead' }
  return counts?.final !== undefined && counts.final > slot ? { is: 'ousted' } : { id, is: 'unseen', underpriced }
}

const isHash = (value: unknown, id: string) => typeof value === 'string' && value.toLowerCase() === id.toLowerCase()

/** Calls for one transaction. */
const calls = 2

interface FailedTransaction {
  /** As `eth_getTransactionByHash` gave it. */
  tx: unknown
  /** As `eth_getTransactionReceipt` gave it. */
  receipt: unknown
  blockNumber: number
}

/**
 * Why transactions failed in their block, as far as the same calls tell that again: at the end of that block, which knows its
 * time and all that came before, else at the end of the one before. One batch; undefined where the node cannot, or where it would not fail.
 */
async function revertReasons(rpc: Rpc, failed: readonly FailedTransaction[], at: At): Promise<readonly (string | undefined)[]> {
  const answers = await rpc.batch(
    failed.flatMap(({ tx, blockNumber }) => [blockNumber, blockNumber - 1].map((number) => callAgain(tx, number))),
    at,
  )
  return failed.map(({ tx, receipt }, index) => {
    const [inBlock, before] = answers.slice(index * calls, (index + 1) * calls).map(reasonOf)
    // An invalid instruction takes all of it, too.
    const gas = isObject(tx) ? quantityOf(tx['gas']) : undefined
    const isSpent = gas !== undefined && isObject(receipt) && quantityOf(receipt['gasUsed']) === gas
    return inBlock ?? before ?? (isSpent ? 'it used up all of its gas' : undefined)
  })
}

function callAgain(tx: unknown, blockNumber: number) {
  const { from, to, input, value, gas } = isObject(tx) ? tx : {}
  return { method: 'eth_call', params: [{ from, to, data: input, value, gas }, toQuantity(Math.max(0, blockNumber))] }
}

function reasonOf(answer: RpcAnswer): string | undefined {
  if (!answer.error) return undefined
  const meaning = errorMeaning(answer.error)
  if (meaning === 'out-of-gas') return 'out of gas'
  const data = revertData(answer.error)
  // Codes that stand for a revert stand for a lost state, too: without words or data it is none.
  return meaning === 'reverted' || (isBytes(data) && data !== '0x') ? revertReason(data) : undefined
}
