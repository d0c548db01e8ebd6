import { SluiceError } from '../../core/contracts/index.ts'
import type { At, Head, Look, Sighting } from '../../core/contracts/index.ts'
import { resultOf } from '../../core/kits/nodes/ask.ts'
import type { RpcAnswer } from '../../core/kits/nodes/types.ts'
import { accountsCalls, readAccounts } from './accounts.ts'
import { readStatus } from '../../core/kits/solana/reading/status.ts'
import { confirmed, finalized, noHistory } from '../../core/kits/solana/rpc/commitment.ts'
import { contextSlotOf, valueOf } from '../../core/kits/solana/rpc/json.ts'
import { createProofs } from './expiry.ts'
import { nonceAccountsOf, statusCalls } from '../../core/kits/solana/rail/questions.ts'
import type { SolanaRailOptions } from './rail.ts'
import { createReceipts } from '../../core/kits/solana/rail/receipts.ts'
import { sight, sightingOf } from '../../core/kits/solana/rail/sight.ts'
import type { Attempt, Sight, View } from '../../core/kits/solana/rail/sight.ts'
import type { SolanaSynced } from './sequence.ts'
import { lifetimeCalls, nonceIn, readDurable, readLifetime, syncedOf } from '../../core/kits/solana/rail/sync.ts'

interface Seen {
  attempt: Attempt
  sight: Sight
}

/**
 * Statuses of all open attempts in one batch. More is asked only about what is new in a block, once, and about what seems to be over: of
 * every node, for what a single one does not have may be in a block all the same.
 */
export function createLook(options: SolanaRailOptions) {
  const { rpc, durableNonces, leastSlotMs } = options
  const receipts = createReceipts(rpc)
  const proofs = createProofs(options)

  return async function look(open: readonly Attempt[], _head: Head, at: At): Promise<Look<string, SolanaSynced>> {
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
    const view: View = {
      final: lifetime.final,
      searched,
      nonces,
      noncesAt: usedNonces.length === 0 ? 0 : used.slot,
      nowMs: Date.now(),
      leastSlotMs,
    }
    const statuses = found.flatMap((result) => valueOf(result))
    const seen = open.map((attempt, index): Seen => ({ attempt, sight: sight(attempt, readStatus(statuses[index]), view) }))

    const sightings = [
      ...seen.flatMap(({ attempt, sight }) => sightingOf(attempt.id, sight) ?? []),
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
        return [owner, { ...syncedOf(lifetime, durable), landed: landedOf(owner, seen) }]
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
