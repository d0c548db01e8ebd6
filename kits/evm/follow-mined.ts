// Follows open transactions by the blocks that are read anyway. A node is asked for a transaction only if its blocks do not tell.
import type { At, Head, PollResult, OpenAttempt, AttemptStatus } from '../../core/contracts/index.ts'
import type { Rpc } from '../nodes/rpc.ts'
import { isSameHex } from './encoding.ts'
import type { EvmFees } from './fees.ts'
import type { NonceCounts } from './nonces.ts'
import type { createPoll } from './poll.ts'
import { readReceipt } from './receipts.ts'
import type { Branch, RecentBlock, RecentBlocks } from './recent-blocks.ts'

type Attempt = OpenAttempt<string, number, EvmFees>

/** After so many blocks without it, a transaction is asked for by itself. */
const maxMissedBlocks = 3n
/** The same where no blocks come. */
const minPatienceMs = 15_000
/** Where more blocks came since it was sent, it is asked for by itself, and they are not read. */
const maxGap = 64n
/** Receipts in one batch: nodes and providers take up to a thousand calls. */
const receiptsPerBatch = 500
/** Transactions that nobody polls for so long are forgotten. */
const forgetMs = 600_000

/** What is known of a transaction that may be mined. */
interface WatchedTransaction {
  usedAtMs: number
  pending?: PendingPeriod
}

/** Since it was last sent, or seen in a node's mempool. */
interface PendingPeriod {
  /** The newest block that was known then. There may have been newer ones. */
  readonly since: bigint
  readonly atMs: number
  /** The newest block that was known when a node accepted it. Undefined while it is on its way: no block counts that it could not be in. */
  readonly acceptedAt?: bigint
  /** The block before the first that came after that. Later ones count as blocks without it; earlier ones may be older than it. */
  missedSince?: bigint
}

/** A transaction, and the block of the head's branch that contains it. */
interface MinedAttempt {
  readonly attempt: Attempt
  readonly block: RecentBlock
}

/** Undefined if the transaction has to be asked for by itself; `later` if the node has no receipt of it yet. */
type Observation = AttemptStatus | 'later' | undefined

export interface MinedFollower {
  /** Call before the bytes are sent, and the returned function with whether a node has accepted them. */
  sending(id: string): (isAccepted: boolean) => void
  /** How many transactions of an account are in blocks, as a node said. */
  noteCount(from: string, latest: number): void
  look(open: readonly Attempt[], head: Head, at: At): Promise<PollResult<string, NonceCounts>>
}

interface FollowerOptions {
  rpc: Rpc
  blocks: RecentBlocks
  /** Asks a node for each transaction. */
  poll: ReturnType<typeof createPoll>
  /** The usual time between blocks. */
  blockMs: number
}

/**
 * A transaction counts as mined if it is in a block that is linked to the head by hashes, and its receipt names that block. The receipt is
 * asked for once. A reorganisation leads to another branch: what is not in that one is asked for by itself.
 *
 * By itself is also asked for: what no node is known to have; what was in none of three blocks; what waits for a nonce that is not ours;
 * what pays too little for the next block; what failed, for its reason; and everything, where blocks cannot be linked or do not list their transactions.
 */
export function createMinedFollower({ rpc, blocks, poll, blockMs }: FollowerOptions): MinedFollower {
  const patienceMs = Math.max(minPatienceMs, Number(maxMissedBlocks) * blockMs)
  const watched = new Map<string, WatchedTransaction>()
  /** By account: the nonce after those that blocks are known to have. It may be too low, or too high after a reorganisation. */
  const nextNonces = new Map<string, number>()
  let lastHead: Head | undefined

  function watch(id: string, changes: Pick<WatchedTransaction, 'pending'> = {}): void {
    blocks.watch(id)
    watched.set(id, { ...watched.get(id), ...changes, usedAtMs: performance.now() })
  }

  function watchAll(open: readonly Attempt[]): void {
    for (const { id } of open) watch(id)
    for (const [id, { usedAtMs }] of watched) {
      if (performance.now() - usedAtMs < forgetMs) continue
      watched.delete(id)
      blocks.unwatch(id)
    }
  }

  function noteCount(from: string, latest: number): void {
    const account = from.toLowerCase()
    nextNonces.set(account, Math.max(latest, nextNonces.get(account) ?? 0))
  }

  /** The lowest block that the branch should include: of those in blocks, and the first that may contain one of the others. */
  function lowestWanted(open: readonly Attempt[], head: Head): bigint {
    const numbers = open.flatMap(({ id, landed }) => {
      const since = watched.get(id)?.pending?.since
      if (landed) return BigInt(landed.blockNumber)
      return since === undefined || head.number - since > maxGap ? [] : since + 1n
    })
    return numbers.reduce((lowest, number) => (number < lowest ? number : lowest), head.number)
  }

  /** Where every lower nonce is in a block or ours: then only its own block is missing. */
  function inLine(open: readonly Attempt[]): ReadonlySet<Attempt> {
    const found = new Set<Attempt>()
    const next = new Map(nextNonces)
    for (const attempt of open.toSorted((a, b) => a.sequence - b.sequence)) {
      const account = attempt.from.toLowerCase()
      const first = nextNonces.get(account)
      const expected = next.get(account)
      if (first === undefined || expected === undefined || attempt.sequence < first || attempt.sequence > expected) continue
      found.add(attempt)
      next.set(account, attempt.sequence + 1)
    }
    return found
  }

  function isDue({ id, fees }: Attempt, { head, lowest }: Branch): boolean {
    const pending = watched.get(id)?.pending
    if (!pending || lowest > pending.since + 1n) return true
    if (BigInt(fees.maxFeePerGas) < (head.nextBaseFeeRaw ?? 0n)) return true
    if (pending.acceptedAt !== undefined && head.number > pending.acceptedAt) pending.missedSince ??= head.number - 1n
    const missed = pending.missedSince === undefined ? 0n : head.number - pending.missedSince
    return missed >= maxMissedBlocks || performance.now() - pending.atMs >= patienceMs
  }

  async function readReceipts(mined: readonly MinedAttempt[], head: RecentBlock, at: At): Promise<readonly Observation[]> {
    const observations: Observation[] = []
    for (let start = 0; start < mined.length; start += receiptsPerBatch) {
      const part = mined.slice(start, start + receiptsPerBatch)
      const answers = await rpc.batch(
        part.map(({ attempt }) => ({ method: 'eth_getTransactionReceipt', params: [attempt.id] })),
        at,
      )
      for (const [index, each] of part.entries()) {
        const { result = null, error } = answers[index] ?? {}
        const isAwaited = result === null && !error && head.number - each.block.number < maxMissedBlocks
        observations.push(isAwaited ? 'later' : fromReceipt(each, head, result))
      }
    }
    return observations
  }

  async function ask(open: readonly Attempt[], head: Head, at: At): Promise<PollResult<string, NonceCounts>> {
    if (open.length === 0) return { statuses: [], synced: new Map() }
    const result = await poll(open, head, at)
    for (const [from, { latest }] of result.synced) nextNonces.set(from.toLowerCase(), latest)
    const isPending = new Set(result.statuses.flatMap(({ id, is }) => (is === 'pending' ? [id] : [])))
    const pending = { since: head.number, acceptedAt: head.number, missedSince: head.number, atMs: performance.now() }
    for (const { id } of open) watch(id, { pending: isPending.has(id) ? { ...pending } : undefined })
    return result
  }

  return {
    sending(id) {
      const since = blocks.newest
      const pending = since === undefined ? undefined : { since, atMs: performance.now() }
      watch(id, { pending })
      return (isAccepted) => watch(id, { pending: pending && isAccepted ? { ...pending, acceptedAt: blocks.newest ?? since } : undefined })
    },
    noteCount,
    async look(open, head, at) {
      watchAll(open)
      const branch = await blocks.branchOf(head, lowestWanted(open, head), at)
      if (!branch) return ask(open, head, at)
      const before = lastHead && branch.withNumber(lastHead.number)
      if (lastHead && (lastHead.number > head.number || (before && before.hash !== lastHead.hash))) nextNonces.clear()
      lastHead = head

      const mined = open.flatMap((attempt): MinedAttempt[] => {
        const block =
          (attempt.landed?.blockHash === undefined ? undefined : branch.withHash(attempt.landed.blockHash)) ?? branch.containing(attempt.id)
        return block ? [{ attempt, block }] : []
      })
      for (const { attempt } of mined) noteCount(attempt.from, attempt.sequence + 1)
      const unread = mined.filter(({ attempt, block }) => !isSameHex(attempt.landed?.blockHash, block.hash))
      const read = await readReceipts(unread, branch.head, at)
      const observed = new Map<Attempt, Observation>(mined.map((each) => [each.attempt, fromJournal(each, branch.head)]))
      for (const [index, { attempt }] of unread.entries()) observed.set(attempt, read[index])

      const usedSlots = new Set(mined.map(({ attempt }) => slotName(attempt)))
      const next = inLine(open)
      const asked = open.filter((attempt) => {
        if (observed.has(attempt)) return observed.get(attempt) === undefined
        // Another one of ours has its nonce.
        if (usedSlots.has(slotName(attempt))) return false
        // A reorganisation removed the block of one that had landed, or the block is older than what is known.
        return attempt.landed !== undefined || !next.has(attempt) || isDue(attempt, branch)
      })
      const { statuses, synced } = await ask(asked, head, at)
      const followed = [...observed.values()].flatMap((each) => (each === undefined || each === 'later' ? [] : each))
      return { statuses: [...followed, ...statuses], synced }
    },
  }
}

const slotName = ({ from, sequence }: Attempt) => `${from.toLowerCase()}/${sequence}`

const depthOf = ({ block }: MinedAttempt, head: RecentBlock) => Number(head.number - block.number) + 1

/** The journal has the receipt. One that failed is asked for again until its reason is known. */
function fromJournal(mined: MinedAttempt, head: RecentBlock): AttemptStatus | undefined {
  const { id, landed } = mined.attempt
  if (!landed || (!landed.ok && landed.reason === undefined)) return undefined
  const { ok, blockNumber, blockHash, receipt, reason } = landed
  return {
    id,
    is: 'landed',
    ok,
    blockNumber,
    ...(blockHash !== undefined && { blockHash }),
    depth: depthOf(mined, head),
    receipt,
    ...(reason !== undefined && !ok && { reason }),
  }
}

/** Undefined if it failed, or if the receipt is of another transaction or of another block. */
function fromReceipt(mined: MinedAttempt, head: RecentBlock, raw: unknown): AttemptStatus | undefined {
  const { attempt, block } = mined
  const receipt = readReceipt(raw)
  if (receipt?.status !== 1 || !isSameHex(receipt.transactionHash, attempt.id) || !isSameHex(receipt.blockHash, block.hash))
    return undefined
  const { blockNumber, blockHash } = receipt
  return { id: attempt.id, is: 'landed', ok: true, blockNumber, blockHash, depth: depthOf(mined, head), receipt }
}
