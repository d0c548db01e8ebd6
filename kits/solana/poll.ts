import type { At, Head, PollResult, AttemptStatus } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { resultOf } from '../nodes/rpc.ts'
import { accountsCalls, readAccounts } from './accounts.ts'
import { createAgreement } from './agreement.ts'
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
  type ObservedAttempt,
  type NodeView,
} from './expiry.ts'
import { createReceipts } from './landed.ts'
import { finalDepth } from './network.ts'
import { confirmed, finalized, saysNoHistory, contextSlotOf, valueOf } from './rpc.ts'
import { type SolanaSyncState, lifetimeCalls, nonceIn, readDurable, readLifetime, syncStateOf } from './sequence.ts'
import type { TipAccounts } from './tips.ts'
import { readSignatureStatus } from './transactions.ts'

export interface PollOptions extends ExpiryOptions {
  /** Wallet → its durable nonce accounts. */
  durableNonces: Readonly<Record<string, readonly string[]>>
  tipAccounts: TipAccounts
}

/**
 * Reads the status of all open attempts in one batch. Only three kinds need more: an attempt that is new in a block, once, for its receipt; one that is
 * final, from every node, until they agree; and one that seems expired, from every node, since a block that one node lacks may contain it.
 * No poll waits long for every node: what they say later is there for the next one.
 */
export function createPoll(options: PollOptions) {
  const { rpc, durableNonces, tipAccounts, minSlotMs } = options
  const receipts = createReceipts(rpc, tipAccounts)
  const areFinal = createAgreement(options)
  const elapsedMs = createElapsed()
  const proofs = createExpiryProofs(options, elapsedMs)

  return async function poll(open: readonly Attempt[], _head: Head, at: At): Promise<PollResult<string, SolanaSyncState>> {
    for (const { id, fees } of open) if (fees.tip) tipAccounts.note(id, fees.tip.account)
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

    const proved = await proofs(observed.flatMap(({ attempt, observation }) => (observation.is === 'over' ? attempt : [])))
    const statuses = [
      ...observed.flatMap(({ attempt, observation }) => certainStatus(attempt.id, observation) ?? []),
      ...(await landed([...observed, ...proved.found], at)),
      ...proved.statuses,
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
    if (!answers.some((answer) => saysNoHistory('getSignatureStatuses', answer))) return answers
    return rpc.batch(
      statusCalls(
        open.map(({ id }) => id),
        false,
      ),
      at,
    )
  }

  async function landed(observed: readonly ObservedAttempt[], at: At): Promise<readonly AttemptStatus[]> {
    const found = observed.flatMap(({ attempt, observation }) =>
      observation.is === 'landed' ? { id: attempt.id, ...observation, agoMs: elapsedMs(attempt.sequence), before: attempt.landed } : [],
    )
    const final = found.filter(({ depth }) => depth >= finalDepth)
    const [agreed, reported] = await Promise.all([final.length === 0 ? undefined : areFinal(final), receipts(found, at).catch(noAnswers)])
    return reported.map((each) =>
      each.is === 'landed' && each.depth >= finalDepth && !agreed?.has(each.id) ? { ...each, depth: finalDepth - 1 } : each,
    )
  }
}

const landedOf = (owner: string, observed: readonly ObservedAttempt[]): readonly number[] =>
  observed.flatMap(({ attempt: { from, sequence }, observation }) => (from === owner && observation.is === 'landed' ? sequence.number : []))
