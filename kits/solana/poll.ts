import { SluiceError, type At, type Head, type Look, type Sighting, type Json } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import { resultOf, type Rpc } from '../nodes/rpc.ts'
import { accountsCalls, readAccounts } from './accounts.ts'
import {
  createExpiryProofs,
  nonceAccountsOf,
  statusCalls,
  observe,
  certainSighting,
  type Attempt,
  type Observation,
  type NodeView,
} from './expiry.ts'
import { finalDepth } from './network.ts'
import type { SolanaRailOptions } from './rail.ts'
import { confirmed, finalized, noHistory, contextSlotOf, valueOf } from './rpc.ts'
import { type SolanaSyncState, lifetimeCalls, nonceIn, readDurable, readLifetime, syncStateOf } from './sequence.ts'
import { readSignatureStatus, readTransaction, receiptOfStatus, transactionOptions, failureReason } from './transactions.ts'
import type { SolanaReceipt } from './types.ts'

interface Seen {
  attempt: Attempt
  sight: Observation
}

/**
 * Statuses of all open attempts in one batch. More is asked only about what is new in a block, once, and about what seems to be over: of
 * every node, for what a single one does not have may be in a block all the same.
 */
export function createPoll(options: SolanaRailOptions) {
  const { rpc, durableNonces, minSlotMs: leastSlotMs } = options
  const receipts = createReceipts(rpc)
  const proofs = createExpiryProofs(options)

  return async function look(open: readonly Attempt[], _head: Head, at: At): Promise<Look<string, SolanaSyncState>> {
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
      nowMs: Date.now(),
      minSlotMs: leastSlotMs,
    }
    const statuses = found.flatMap((result) => valueOf(result))
    const seen = open.map((attempt, index): Seen => ({ attempt, sight: observe(attempt, readSignatureStatus(statuses[index]), view) }))

    const sightings = [
      ...seen.flatMap(({ attempt, sight }) => certainSighting(attempt.id, sight) ?? []),
      ...(await landed(seen, at)),
      ...(await proofs(
        seen.flatMap(({ attempt, sight }) => (sight.is === 'over' ? attempt : [])),
        at,
      )),
    ]
    let taken = 0
    const synced = new Map(
      owners.map((owner) => {
        const accounts = durableNonces[owner] ?? []
        const durable = readDurable(owner, accounts, own.accounts.slice(taken, (taken += accounts.length)), own.newestSlot)
        return [owner, { ...syncStateOf(lifetime, durable), landed: landedOf(owner, seen) }]
      }),
    )
    return { sightings, synced }
  }

  /** A node that keeps no history knows the last few minutes all the same. */
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

  async function landed(seen: readonly Seen[], at: At): Promise<readonly Sighting[]> {
    const found = seen.flatMap(({ attempt: { id }, sight }) => (sight.is === 'landed' ? { id, ...sight } : []))
    return receipts(found, at).catch(unanswered)
  }
}

/** What was seen already holds all the same; nodes that fail are logged where they do. */
function unanswered(error: unknown): readonly Sighting[] {
  if (error instanceof SluiceError) return []
  throw error
}

const landedOf = (owner: string, seen: readonly Seen[]): readonly number[] =>
  seen.flatMap(({ attempt: { from, slot }, sight }) => (from === owner && sight.is === 'landed' ? slot.number : []))

interface Found {
  id: string
  slot: number
  depth: number
  err: Json
}

/** For one look; the others have their turn at the next. */
const mostAtOnce = 64
/** Every node was asked so often for the receipt of what is final, and none has it: there is none to be had. */
const mostInVain = 10

/**
 * Tells what landed, with its receipt: asked for once. One whose receipt no node has yet is told with a later look: what is told as final
 * is not looked at again, and its receipt says what it gave and cost.
 */
function createReceipts(rpc: Rpc) {
  const known = createBoundedCache<SolanaReceipt>()
  const inVain = createBoundedCache<number>()
  const keyOf = ({ id, slot }: Pick<Found, 'id' | 'slot'>) => `${id}/${slot}`
  const triesOf = (each: Found) => inVain.get(keyOf(each)) ?? 0
  const isUnknown = (each: Found) => !known.get(keyOf(each))

  return async function tell(found: readonly Found[], at: At): Promise<readonly Sighting[]> {
    const unknown = found
      .filter((each) => isUnknown(each) && triesOf(each) < mostInVain)
      .toSorted((a, b) => triesOf(a) - triesOf(b))
      .slice(0, mostAtOnce)
    learn(unknown, await rpc.batch(callsFor(unknown), at))
    // The node in use may keep no history.
    const late = unknown.filter((each) => each.depth >= finalDepth && isUnknown(each))
    const answered = late.length === 0 ? [] : await rpc.onEveryNode((ask) => ask(callsFor(late)), at)
    for (const answers of answered) learn(late, answers)
    if (answered.length > 0) for (const each of late) inVain.set(keyOf(each), triesOf(each) + 1)
    return found.map((each) =>
      sightingOfOfReceipts(each, known.get(keyOf(each)) ?? (triesOf(each) < mostInVain ? undefined : withoutReceipt(each))),
    )
  }

  function learn(asked: readonly Found[], answers: readonly RpcAnswer[]): void {
    for (const [index, each] of asked.entries()) {
      const { receipt } = readTransaction(each.id, answers[index]?.result) ?? {}
      // Another slot's is of a block that is taken back, or of the one that came in its place.
      if (receipt?.slot === each.slot) known.set(keyOf(each), receipt)
    }
  }
}

const callsFor = (found: readonly Found[]) => found.map(({ id }) => ({ method: 'getTransaction', params: [id, transactionOptions] }))

const withoutReceipt = ({ id, slot, err }: Found): SolanaReceipt => receiptOfStatus(id, slot, err)

function sightingOfOfReceipts({ id, slot, depth }: Found, receipt: SolanaReceipt | undefined): Sighting {
  if (!receipt) return { id, is: 'pending', underpriced: false }
  const ok = receipt.status === 1
  return { id, is: 'landed', ok, blockNumber: slot, depth, receipt, ...(!ok && { reason: failureReason(receipt.err, receipt.logs) }) }
}
