import type { At, Head, PollResult, AttemptStatus, Json } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import { resultOf, type Rpc } from '../nodes/rpc.ts'
import { accountsCalls, readAccounts } from './accounts.ts'
import {
  createElapsed,
  createExpiryProofs,
  noAnswers,
  type ExpiryOptions,
  nonceAccountsOf,
  statusCalls,
  observe,
  certainStatus,
  type Attempt,
  type Observation,
  type NodeView,
} from './expiry.ts'
import { finalDepth } from './network.ts'
import { confirmed, finalized, noHistory, contextSlotOf, valueOf } from './rpc.ts'
import { type SolanaSyncState, lifetimeCalls, nonceIn, readDurable, readLifetime, syncStateOf } from './sequence.ts'
import { readSignatureStatus, readTransaction, receiptOfStatus, transactionOptions, failureReason } from './transactions.ts'
import type { SolanaReceipt } from './types.ts'

export interface PollOptions extends ExpiryOptions {
  /** Wallet → its durable nonce accounts. */
  durableNonces: Readonly<Record<string, readonly string[]>>
}

interface ObservedAttempt {
  attempt: Attempt
  observation: Observation
}

/**
 * Reads the status of all open attempts in one batch. Only two kinds need more: an attempt that is new in a block, once, for its receipt,
 * and one that seems expired, from every node, since a block that one node lacks may contain it.
 */
export function createPoll(options: PollOptions) {
  const { rpc, durableNonces, minSlotMs } = options
  const receipts = createReceipts(rpc)
  const elapsedMs = createElapsed()
  const proofs = createExpiryProofs(options, elapsedMs)

  return async function poll(open: readonly Attempt[], _head: Head, at: At): Promise<PollResult<string, SolanaSyncState>> {
    const owners = [...new Set(open.map(({ from }) => from))]
    const ownNonces = owners.flatMap((owner) => durableNonces[owner] ?? [])
    const usedNonces = nonceAccountsOf(open)
    const calls = {
      own: accountsCalls(ownNonces, confirmed),
      used: accountsCalls(usedNonces, finalized),
      statuses: statusCalls(open.map(({ id }) => id)),
    }
    const answers = await rpc.batch([...lifetimeCalls, ...calls.own, ...calls.used, ...calls.statuses], at)
    let next = 0
    const take = (of: { length: number }) => answers.slice(next, (next += of.length))
    const lifetime = readLifetime(rpc, take(lifetimeCalls))
    const own = readAccounts(rpc, take(calls.own))
    const used = readAccounts(rpc, take(calls.used))
    const found = (await withoutHistory(open, take(calls.statuses), at)).map((answer) => resultOf(rpc, 'getSignatureStatuses', answer))

    const nonces = new Map(usedNonces.map((account, index) => [account, nonceIn(used.accounts[index])]))
    const searched = Math.min(...found.map((result) => contextSlotOf(result) ?? 0))
    const view: NodeView = {
      final: lifetime.final,
      searched,
      nonces,
      noncesAt: usedNonces.length === 0 ? 0 : used.slot,
      elapsedMs,
      minSlotMs,
    }
    const answered = found.flatMap((result) => valueOf(result))
    const observed = open.map((attempt, index): ObservedAttempt => ({
      attempt,
      observation: observe(attempt, readSignatureStatus(answered[index]), view),
    }))

    const statuses = [
      ...observed.flatMap(({ attempt, observation }) => certainStatus(attempt.id, observation) ?? []),
      ...(await landed(observed, at)),
      ...(await proofs(
        observed.flatMap(({ attempt, observation }) => (observation.is === 'over' ? attempt : [])),
        at,
      )),
    ]
    let taken = 0
    const synced = new Map(
      owners.map((owner) => {
        const accounts = durableNonces[owner] ?? []
        const durable = readDurable(owner, accounts, own.accounts.slice(taken, (taken += accounts.length)), own.newestSlot)
        return [owner, { ...syncStateOf(lifetime, durable), landed: landedOf(owner, observed) }]
      }),
    )
    return { statuses, synced }
  }

  /** A node without history still knows the statuses of the last few minutes. */
  async function withoutHistory(open: readonly Attempt[], answers: readonly RpcAnswer[], at: At): Promise<readonly RpcAnswer[]> {
    if (!answers.some(({ error }) => error?.code === noHistory)) return answers
    return rpc.batch(
      statusCalls(
        open.map(({ id }) => id),
        false,
      ),
      at,
    )
  }

  async function landed(observed: readonly ObservedAttempt[], at: At): Promise<readonly AttemptStatus[]> {
    const found = observed.flatMap(({ attempt: { id }, observation }) => (observation.is === 'landed' ? { id, ...observation } : []))
    return receipts(found, at).catch(noAnswers)
  }
}

const landedOf = (owner: string, observed: readonly ObservedAttempt[]): readonly number[] =>
  observed.flatMap(({ attempt: { from, sequence }, observation }) => (from === owner && observation.is === 'landed' ? sequence.number : []))

interface LandedAttempt {
  id: string
  slot: number
  depth: number
  err: Json
}

/** In one poll. The others follow in the next ones. */
const maxReceipts = 64
/** After so many attempts at every node, a finalized transaction is reported without its receipt. */
const maxTries = 10

/**
 * Reports landed transactions with their receipts, each of which is read once. If no node has the receipt yet, a later poll reports the
 * transaction: one that is reported as final is not polled again, and its receipt says what it gave and cost.
 */
function createReceipts(rpc: Rpc) {
  const known = createBoundedCache<SolanaReceipt>()
  const failedTries = createBoundedCache<number>()
  const keyOf = ({ id, slot }: Pick<LandedAttempt, 'id' | 'slot'>) => `${id}/${slot}`
  const triesOf = (each: LandedAttempt) => failedTries.get(keyOf(each)) ?? 0
  const isUnknown = (each: LandedAttempt) => !known.get(keyOf(each))

  return async function withReceipts(found: readonly LandedAttempt[], at: At): Promise<readonly AttemptStatus[]> {
    const unknown = found
      .filter((each) => isUnknown(each) && triesOf(each) < maxTries)
      .toSorted((a, b) => triesOf(a) - triesOf(b))
      .slice(0, maxReceipts)
    remember(unknown, await rpc.batch(callsFor(unknown), at))
    // The node in use may keep no history, so every node is asked.
    const late = unknown.filter((each) => each.depth >= finalDepth && isUnknown(each))
    const answered = late.length === 0 ? [] : await rpc.onEveryNode((ask) => ask(callsFor(late)), at)
    for (const answers of answered) remember(late, answers)
    if (answered.length > 0) for (const each of late) failedTries.set(keyOf(each), triesOf(each) + 1)
    return found.map((each) =>
      landedStatus(each, known.get(keyOf(each)) ?? (triesOf(each) < maxTries ? undefined : receiptOfStatus(each.id, each.slot, each.err))),
    )
  }

  function remember(asked: readonly LandedAttempt[], answers: readonly RpcAnswer[]): void {
    for (const [index, each] of asked.entries()) {
      const { receipt } = readTransaction(each.id, answers[index]?.result) ?? {}
      // A receipt of another slot belongs to a block before or after a reorganisation.
      if (receipt?.slot === each.slot) known.set(keyOf(each), receipt)
    }
  }
}

const callsFor = (found: readonly LandedAttempt[]) =>
  found.map(({ id }) => ({ method: 'getTransaction', params: [id, transactionOptions] }))

function landedStatus({ id, slot, depth }: LandedAttempt, receipt: SolanaReceipt | undefined): AttemptStatus {
  if (!receipt) return { id, is: 'pending', underpriced: false }
  const ok = receipt.status === 1
  return { id, is: 'landed', ok, blockNumber: slot, depth, receipt, ...(!ok && { reason: failureReason(receipt.err, receipt.logs) }) }
}
