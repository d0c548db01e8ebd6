import { toQuantity } from 'ethers/utils'
import { SluiceError, type At, type Head, type PollResult, type AttemptStatus, type OpenAttempt } from '../../core/contracts/index.ts'
import { type RpcAnswer } from '../nodes/dialect.ts'
import { speaksOfLimit } from '../nodes/faults.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import { isUnsupported, resultOf, type Rpc } from '../nodes/rpc.ts'
import { isSameHex, numberOf, quantityOf } from './encoding.ts'
import type { EvmFees } from './fees.ts'
import { callVerdict, saysLostState } from './node-errors.ts'
import { revertData, revertReason } from './reverts.ts'
import { type NonceCounts, findNonceUser, type NonceUser } from './nonces.ts'
import { readReceipt } from './receipts.ts'
import { blockCall, readBlock, type Block } from './rpc.ts'
import { isObject } from '../../core/base/json.ts'

type Attempt = Omit<OpenAttempt<string, number, EvmFees>, 'step'>

type LandedStatus = AttemptStatus & { is: 'landed' }

/**
 * The attempt is in no block and in no mempool, and the nonce count at the final block is beyond its nonce: something else seems to have
 * used the nonce.
 */
type TakenNonce = { is: 'nonce-taken' }

/** What a poll saw of one attempt. */
interface AttemptObservation {
  attempt: Attempt
  /** As the node gave them. */
  tx: unknown
  receipt: unknown
  /** Undefined where the answers say nothing. */
  status: AttemptStatus | TakenNonce | undefined
}

/** Nodes and providers take up to a thousand calls in a batch (geth `--rpc.batch-request-limit`). An attempt takes two. */
const attemptsPerBatch = 400
/** Of each kind in one poll. The other attempts have their turn at the next one. */
const maxFurtherQuestions = 16

/**
 * Asks for receipts, transactions and nonce counts of all open attempts in one batch. It asks further about those that failed, once, and
 * about those that seem to have lost their nonce, since a count alone may be wrong.
 * @param confirmations how many blocks, the transaction's own included, make it final
 */
export function createPoll(rpc: Rpc, confirmations: number) {
  /** Reasons of reverts, by transaction and block. */
  const reasons = createBoundedCache<string>()
  const nonceUsers = createBoundedCache<NonceUser>()
  const isFinal = (status: AttemptObservation['status']) => status?.is === 'landed' && status.depth >= confirmations

  return async function poll(open: readonly Attempt[], head: Head, at: At): Promise<PollResult<string, NonceCounts>> {
    const statuses: AttemptStatus[] = []
    const synced = new Map<string, NonceCounts>()
    for (let start = 0; start < open.length; start += attemptsPerBatch) {
      const part = await pollBatch(open.slice(start, start + attemptsPerBatch), head, at)
      statuses.push(...part.statuses)
      for (const [address, counts] of part.synced) synced.set(address, counts)
    }
    return { statuses, synced }
  }

  async function pollBatch(open: readonly Attempt[], head: Head, at: At): Promise<PollResult<string, NonceCounts>> {
    const owners = [...new Set(open.map(({ from }) => from))]
    const finalBlock = Math.max(0, Number(head.number) - (confirmations - 1))
    const [block, ...answers] = await rpc.batch(
      [
        blockCall('latest'),
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
    const counts = new Map<string, OwnerCounts>()
    const synced = new Map<string, NonceCounts>()
    for (const [index, owner] of owners.entries()) {
      const [ofFinal, ofLatest, ofPending] = answers.slice(index * 3, index * 3 + 3)
      const [final, mined, pending] = [ofFinal, ofLatest, ofPending].map((answer) => numberOf(answer?.result))
      // A node that tells the newest count and refuses the older one, whatever it says, has no state of that block.
      const isLost =
        ofFinal?.error !== undefined &&
        (saysLostState(ofFinal.error) || isUnsupported(ofFinal) || (mined !== undefined && !speaksOfLimit(ofFinal.error.message)))
      counts.set(owner, { final: isLost ? 'lost' : final, latest: mined })
      if (mined !== undefined && pending !== undefined && !lags) synced.set(owner, { latest: mined, pending })
    }
    const found = answers.slice(owners.length * 3)
    const observed = open.map((attempt, index): AttemptObservation => {
      const [receipt, tx] = found.slice(index * 2, index * 2 + 2)
      return { attempt, tx: tx?.result, receipt: receipt?.result, status: observe(attempt, view, counts.get(attempt.from), receipt, tx) }
    })
    return { statuses: await withReasons(await withNonceUsers(observed, finalBlock, at), at), synced }
  }

  /** Finds what used the nonce of each attempt that lost it. Says nothing about those that could not be asked about this time. */
  async function withNonceUsers(
    observed: readonly AttemptObservation[],
    finalBlock: number,
    at: At,
  ): Promise<readonly AttemptObservation[]> {
    let questions = 0
    const result: AttemptObservation[] = []
    for (const each of observed) {
      const { attempt, status } = each
      if (status?.is !== 'nonce-taken') {
        result.push(each)
        continue
      }
      const { from, sequence } = attempt
      const name = `${from}/${sequence}`
      const ours = observed.find((other) => other.attempt.from === from && other.attempt.sequence === sequence && isFinal(other.status))
      let user: NonceUser | undefined = ours ? { is: 'transaction', id: ours.attempt.id } : nonceUsers.get(name)
      if (!user && (questions += 1) <= maxFurtherQuestions)
        user = await findNonceUser(rpc, from, sequence, finalBlock, at).catch(unanswered)
      if (user?.is === 'contradiction')
        rpc.markUnhealthy(`says that nonce ${sequence} of ${from} is used, and has no block in which that happened`)
      if (user?.is === 'transaction' && user.id !== attempt.id) nonceUsers.set(name, user)
      result.push({ ...each, status: user && statusBy(user, attempt) })
    }
    return result
  }

  /** Adds the reasons of those that failed. */
  async function withReasons(observed: readonly AttemptObservation[], at: At): Promise<readonly AttemptStatus[]> {
    const keyOf = ({ id, blockHash }: LandedStatus) => `${id}/${blockHash}`
    const unexplained = observed
      .flatMap(({ tx, receipt, status }) =>
        isObject(tx) && status?.is === 'landed' && !status.ok ? [{ tx, receipt, landed: status }] : [],
      )
      .filter(({ landed }) => reasons.get(keyOf(landed)) === undefined)
      .slice(0, maxFurtherQuestions)
    const failed = unexplained.map(({ tx, receipt, landed }) => ({ tx, receipt, blockNumber: landed.blockNumber }))
    const found = await revertReasons(rpc, failed, at)
    for (const [index, { landed }] of unexplained.entries()) {
      const reason = found[index]
      if (reason !== undefined) reasons.set(keyOf(landed), reason)
    }
    return observed.flatMap(({ status }) => {
      if (!status || status.is === 'nonce-taken') return []
      const reason = status.is === 'landed' && !status.ok ? reasons.get(keyOf(status)) : undefined
      return reason === undefined ? [status] : [{ ...status, reason }]
    })
  }
}

/** A further question that fails does not undo what was seen. The failure of a node is logged where it happens. */
function unanswered(error: unknown): undefined {
  if (!(error instanceof SluiceError)) throw error
}

function statusBy(user: NonceUser, { id }: Attempt): AttemptStatus | undefined {
  if (user.is === 'contradiction') return { id, is: 'unseen', underpriced: false }
  if (user.is === 'unknown') return { id, is: 'dead' }
  // The attempt itself is in a block: the node gives its receipt at the next poll.
  return user.id === id ? undefined : { id, is: 'dead', by: user.id }
}

/** The block that a poll is about. */
interface PollView {
  latest: Block
  /** The node does not know the newest blocks: what it has counts, what it lacks does not. */
  lags: boolean
  /** What was mined up to this block has all its confirmations. */
  finalBlock: number
  /** The lower one of the head that was known before and the node's. Neither alone makes anything final. */
  newest: number
}

/** An account's nonce counts at the final block and at the latest. Undefined where the node did not say; lost where it has no state of that block. */
interface OwnerCounts {
  final: number | 'lost' | undefined
  latest: number | undefined
}

function observe(
  { id, sequence, fees }: Attempt,
  { latest, lags, newest, finalBlock }: PollView,
  counts: OwnerCounts | undefined,
  receipt: RpcAnswer | undefined,
  tx: RpcAnswer | undefined,
): AttemptStatus | TakenNonce | undefined {
  if (!receipt || !tx || receipt.error || tx.error) return undefined
  if (receipt.result !== null) {
    const read = readReceipt(receipt.result)
    if (!read || !isSameHex(read.transactionHash, id)) return undefined
    const { status, blockNumber, blockHash } = read
    // The receipt is of a block that a reorganisation undid. Caches and backends keep such receipts.
    if (blockNumber <= finalBlock && typeof counts?.final === 'number' && counts.final <= sequence) return undefined
    return { id, is: 'landed', ok: status === 1, blockNumber, blockHash, depth: Math.max(1, newest - blockNumber + 1), receipt: read }
  }
  if (lags) return undefined
  const underpriced = BigInt(fees.maxFeePerGas) < (latest.nextBaseFeeRaw ?? 0n)
  if (tx.result !== null) {
    // Another transaction's answer, or one in a block whose receipts the node does not have yet: the next poll tells.
    if (!isObject(tx.result) || !isSameHex(tx.result['hash'], id) || typeof tx.result['blockNumber'] === 'string') return undefined
    return { id, is: 'pending', underpriced, next: counts?.latest === sequence }
  }
  // If the node has lost the state of the final block, the latest count stands in for it. It has to hold until it would be final.
  if (counts?.final === 'lost' && counts.latest !== undefined && counts.latest > sequence) return { id, is: 'dead' }
  // Of a nonce that may be used nothing is known until its count is.
  if (counts?.final === undefined && counts?.latest !== undefined && counts.latest > sequence) return undefined
  return typeof counts?.final === 'number' && counts.final > sequence
    ? { is: 'nonce-taken' }
    : { id, is: 'unseen', underpriced, next: counts?.latest === sequence }
}

interface FailedTransaction {
  /** As `eth_getTransactionByHash` gave it. */
  tx: unknown
  /** As `eth_getTransactionReceipt` gave it. */
  receipt: unknown
  blockNumber: number
}

/**
 * Why transactions failed in their block, found by making the same calls again in one batch: at the end of that block, which has its time
 * and everything before it, or else at the end of the block before. Undefined if the node cannot tell, or if the call does not fail now.
 */
async function revertReasons(rpc: Rpc, failed: readonly FailedTransaction[], at: At): Promise<readonly (string | undefined)[]> {
  const calls = failed.flatMap(({ tx, blockNumber }) => [blockNumber, blockNumber - 1].map((number) => callAgain(tx, number)))
  // Whether it used up its gas is known without them.
  const answers = (await rpc.batch(calls, at).catch(unanswered)) ?? []
  return failed.map(({ tx, receipt }, index) => {
    const [inBlock, before] = answers.slice(index * 2, index * 2 + 2).map((answer) => reasonOf(answer))
    // An invalid instruction uses all gas, too.
    const gas = isObject(tx) ? quantityOf(tx['gas']) : undefined
    const isUsedUp = gas !== undefined && isObject(receipt) && quantityOf(receipt['gasUsed']) === gas
    return inBlock ?? before ?? (isUsedUp ? 'it used up all of its gas' : undefined)
  })
}

function callAgain(tx: unknown, blockNumber: number) {
  const { from, to, input, value, gas } = isObject(tx) ? tx : {}
  return { method: 'eth_call', params: [{ from, to, data: input, value, gas }, toQuantity(Math.max(0, blockNumber))] }
}

function reasonOf({ error }: RpcAnswer): string | undefined {
  if (!error) return undefined
  const verdict = callVerdict(error)
  if (verdict === 'out-of-gas') return 'out of gas'
  return verdict === 'reverted' ? revertReason(revertData(error)) : undefined
}
