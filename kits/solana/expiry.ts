import { SluiceError, type At, type Json, type Log, type OpenAttempt, type AttemptStatus } from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import type { Ask, Rpc } from '../nodes/rpc.ts'
import { accountsCalls, readAccount } from './accounts.ts'
import type { SolanaFees } from './fees.ts'
import { finalDepth } from './network.ts'
import { finalized, contextSlotOf, numberOf, valueOf } from './rpc.ts'
import { isDurableNonce, nonceIn, readFinal, type BlockhashSequence, type SolanaSequence, blockhashBlocks } from './sequence.ts'
import { readSignatureStatus, type SignatureStatus } from './transactions.ts'
import { isObject } from '../../core/base/json.ts'

/** What a poll and a proof of expiry need. */
export interface ExpiryOptions {
  rpc: Rpc
  /** How logs name the network: "solana/mainnet". */
  network: string
  /** Slots never pass faster than this for long. 0: no such bound. */
  minSlotMs: number
  log: Log
}

/**
 * What one node says about an attempt that seems to be expired.
 * - `over`: by its finalized state the attempt cannot land any more, and it is nowhere in the history since it was signed
 * - `alive`: the attempt is in a block, or may still land
 * - `unable`: the node does not have all of that history, or gives no valid answer
 */
type Verdict = 'over' | 'over unless blocks are missing' | 'alive' | 'unable'

/** In one poll. The others follow in the next ones. */
const maxProofs = 64

const nodeStateCalls: readonly RpcCall[] = [
  // A node that knows that it has stalled fails this, and with it the batch. It would call everything alive for ever.
  { method: 'getHealth', params: [] },
  { method: 'getEpochInfo', params: [finalized] },
  { method: 'getFirstAvailableBlock', params: [] },
]

/**
 * Proves that attempts are expired. A node may lag, lie, or have been restarted without the blocks in between, so every node is asked.
 * One node that says `alive` outweighs all others.
 */
export function createExpiryProofs({ rpc, log, network, minSlotMs }: ExpiryOptions, elapsedMs: NodeView['elapsedMs']) {
  let hasWarned = false
  let nextIndex = 0

  return async function prove(suspects: readonly Attempt[], at: At): Promise<readonly AttemptStatus[]> {
    const asked = nextSuspects(suspects)
    if (asked.length === 0) return []
    const byNode = await rpc.onEveryNode((ask) => judge(asked, ask), at).catch(noAnswers)
    return asked.map((attempt, index) =>
      statusOf(
        attempt,
        byNode.flatMap((of) => of[index] ?? []),
      ),
    )
  }

  async function judge(asked: readonly Attempt[], ask: Ask): Promise<readonly Verdict[]> {
    const verdicts = judgeAnswers(asked, await ask(callsFor(asked)), { elapsedMs, minSlotMs })
    const open = asked.filter((_, index) => verdicts[index] === 'over unless blocks are missing')
    if (open.length === 0) return verdicts
    const complete = await hasEveryBlock(
      ask,
      open.map(({ sequence }) => sequence),
    )
    return asked.map((attempt, index) => {
      const place = open.indexOf(attempt)
      return place < 0 ? (verdicts[index] ?? 'unable') : complete[place] === true ? 'over' : 'unable'
    })
  }

  /** Takes turns, so that attempts which no node can decide do not block the others. */
  function nextSuspects(suspects: readonly Attempt[]): readonly Attempt[] {
    if (suspects.length <= maxProofs) return suspects
    const from = nextIndex % suspects.length
    nextIndex = from + maxProofs
    return [...suspects.slice(from), ...suspects.slice(0, from)].slice(0, maxProofs)
  }

  function statusOf({ id, sequence }: Attempt, verdicts: readonly Verdict[]): AttemptStatus {
    if (verdicts.includes('over') && !verdicts.includes('alive'))
      return isDurableNonce(sequence) ? { id, is: 'dead' } : { id, is: 'expired' }
    if (verdicts.length > 0 && verdicts.every((each) => each === 'unable') && !hasWarned) {
      hasWarned = true
      log.warn(
        { network, txHash: id },
        'no node has the history that proves a transaction expired, so it stays open: add a node with history to rpcUrls',
      )
    }
    return { id, is: 'pending', underpriced: false, kept: false }
  }
}

const blockhashesOf = (asked: readonly Attempt[]): readonly string[] => [
  ...new Set(asked.flatMap(({ sequence }) => (isDurableNonce(sequence) ? [] : sequence.blockhash))),
]

/** Asks for the finalized state before the search, so that a search which is not older has seen all of it. */
function callsFor(asked: readonly Attempt[]): readonly RpcCall[] {
  return [
    ...nodeStateCalls,
    ...accountsCalls(nonceAccountsOf(asked), finalized),
    ...blockhashesOf(asked).map((blockhash) => ({ method: 'isBlockhashValid', params: [blockhash, finalized] })),
    ...statusCalls(asked.map(({ id }) => id)),
  ]
}

function judgeAnswers(
  asked: readonly Attempt[],
  answers: readonly RpcAnswer[],
  clock: Pick<NodeView, 'elapsedMs' | 'minSlotMs'>,
): readonly Verdict[] {
  const accounts = nonceAccountsOf(asked)
  const blockhashes = blockhashesOf(asked)
  const [, epoch, available, ...rest] = answers
  const nonceAnswer = accounts.length === 0 ? undefined : rest.shift()
  const validities = new Map(blockhashes.map((blockhash, index) => [blockhash, valueOf(rest[index]?.result)]))
  const found = rest[blockhashes.length]?.result
  const final = readFinal(epoch?.result)
  const [oldest, searched, statuses] = [numberOf(available?.result), contextSlotOf(found), valueOf(found)]
  const nonceSlot = contextSlotOf(nonceAnswer?.result)
  const values = valueOf(nonceAnswer?.result)
  const read = Array.isArray(values) ? values.map(readAccount) : []
  const areNoncesReadable = accounts.length === 0 || (nonceSlot !== undefined && read.length === accounts.length && !read.includes(null))
  if (!final || oldest === undefined || searched === undefined || !Array.isArray(statuses) || !areNoncesReadable)
    return asked.map(() => 'unable')

  const nonces = new Map(accounts.map((account, index) => [account, nonceIn(read[index] ?? undefined)]))
  const view = { final, searched, nonces, noncesAt: nonceSlot ?? 0, ...clock }
  return asked.map((attempt, index) => {
    const { sequence } = attempt
    const status = readSignatureStatus(statuses[index])
    // An unreadable status does not prove absence.
    if (!status && statuses[index] !== null) return 'unable'
    if (observe(attempt, status, view).is !== 'over') return 'alive'
    if (oldest > sequence.since) return 'unable'
    const valid = isDurableNonce(sequence) ? false : validities.get(sequence.blockhash)
    if (valid !== false) return valid === true ? 'alive' : 'unable'
    return isInSnapshot(sequence, final) ? 'over' : 'over unless blocks are missing'
  })
}

/** Nothing was learnt where nodes failed; they log it themselves. */
export function noAnswers(error: unknown): readonly never[] {
  if (error instanceof SluiceError) return []
  throw error
}

export type Attempt = Omit<OpenAttempt<string, SolanaSequence, SolanaFees>, 'step'>

/** The state of one node, from one batch. */
export interface NodeView {
  /** The newest slot and height that are finalized. */
  final: { slot: number; height: number }
  /** The slot up to which it searched for signatures. */
  searched: number
  /** How long ago the attempt was signed. */
  elapsedMs(attempt: SolanaSequence): number
  /** Slots never pass faster than this for long. */
  minSlotMs: number
  /** The value of each durable nonce account at a finalized slot. Undefined where it has none. */
  nonces: ReadonlyMap<string, string | undefined>
  noncesAt: number
}

/** The state of an attempt as one node sees it. `over` is only a suspicion. */
export type Observation = { is: 'landed'; slot: number; depth: number; err: Json } | { is: 'near' } | { is: 'waits' } | { is: 'over' }

export function observe({ sequence }: Pick<Attempt, 'sequence'>, status: SignatureStatus | undefined, view: NodeView): Observation {
  if (!status) return isExpired(sequence, view) ? { is: 'over' } : { is: 'waits' }
  // In a block that may still be skipped. No node has its receipt yet.
  if (status.is === 'processed') return { is: 'near' }
  const isFinal = status.is === 'finalized' && status.slot <= view.final.slot
  const depth = isFinal ? finalDepth : Math.min(finalDepth - 1, 1 + (status.confirmations ?? 0))
  return { is: 'landed', slot: status.slot, depth, err: status.err }
}

/**
 * Whether an attempt is expired by the finalized state, with a search that is not older. The age of a blockhash is counted from a
 * block's parent, so the last block that accepts it is one above `lastValidBlockHeight` (agave `runtime/src/bank/check_transactions.rs`).
 * When any height above that is finalized, that block is finalized too.
 */
export function isExpired(sequence: SolanaSequence, view: NodeView): boolean {
  const { final, searched, nonces, noncesAt } = view
  if (searched < final.slot || searched < noncesAt) return false
  if (!isDurableNonce(sequence)) return final.height > sequence.lastValidBlockHeight && isPlausible(sequence, view)
  // At first the finalized state is older than the nonce that was signed, and still has the value before it.
  return noncesAt >= sequence.since && nonces.has(sequence.nonceAccount) && nonces.get(sequence.nonceAccount) !== sequence.nonce
}

/** After this time a blockhash is expired, however slots pass. */
const surelyOverMs = 600_000

/**
 * Whether so many slots and blocks can have passed since the blockhash was read: a slot has at most one block. This refuses a node that
 * claims to be ahead of all others.
 */
function isPlausible(sequence: BlockhashSequence, { final, elapsedMs, minSlotMs }: NodeView): boolean {
  const { since, lastValidBlockHeight } = sequence
  const slots = final.slot - since
  const blocks = final.height - (lastValidBlockHeight - blockhashBlocks)
  const agoMs = elapsedMs(sequence)
  return blocks <= slots && (slots * minSlotMs <= agoMs || agoMs > surelyOverMs)
}

const maxRemembered = 10_000

/**
 * How long ago attempts were signed: by their numbers, which are times of the machine that signed them, or for how long they have been seen
 * here if that is longer. A machine's clock that was wrong or was set back cannot keep an attempt open for ever.
 */
export function createElapsed(
  steadyMs = () => performance.now(),
  nowMs = () => performance.timeOrigin + performance.now(),
): NodeView['elapsedMs'] {
  const firstSeen = new Map<string, number>()
  return ({ number, since }) => {
    const name = `${number} ${since}`
    const seenAtMs = firstSeen.get(name) ?? steadyMs()
    if (!firstSeen.has(name)) firstSeen.set(name, seenAtMs)
    for (const [oldest] of firstSeen) if (firstSeen.size > maxRemembered) firstSeen.delete(oldest)
    return Math.max(nowMs() - number, steadyMs() - seenAtMs)
  }
}

/** The observations that need nothing more. A landed attempt still needs its receipt, and an expired one its proof. */
export function certainStatus(id: string, { is }: Observation): AttemptStatus | undefined {
  if (is === 'near') return { id, is: 'pending', underpriced: false }
  return is === 'waits' ? { id, is: 'pending', underpriced: false, kept: false } : undefined
}

/** A snapshot has the statuses of the last 300 blocks: agave `runtime/src/status_cache.rs`, MAX_CACHE_ENTRIES. This leaves a margin. */
const snapshotBlocks = 250
/** The blocks that accept a blockhash, one more, and the block of the blockhash itself. */
const blocksOfBlockhash = blockhashBlocks + 2
/** https://solana.com/docs/rpc/http/getblockswithlimit: the maximum of one request, about two days. */
const maxBlocks = 500_000

/** Whether the snapshot that a node starts from has all statuses since the attempt was signed. */
function isInSnapshot(slot: SolanaSequence, final: { slot: number; height: number }): boolean {
  const blocks = isDurableNonce(slot) ? final.slot - slot.since : final.height - (slot.lastValidBlockHeight - blockhashBlocks)
  return blocks <= snapshotBlocks
}

/**
 * Whether a node has every block that each attempt may be in. A node that was down and restarted from a newer snapshot has older and newer
 * blocks but none in between, and does not say so. Block heights tell how many there must be. Takes two batches.
 */
async function hasEveryBlock(ask: Ask, slots: readonly SolanaSequence[]): Promise<readonly boolean[]> {
  const lists = await ask(
    slots.map((slot) => ({
      method: 'getBlocksWithLimit',
      params: [slot.since, isDurableNonce(slot) ? maxBlocks : blocksOfBlockhash, finalized],
    })),
  )
  const listed = lists.map(({ result }) => (Array.isArray(result) ? result.map(numberOf) : []))
  const ends = listed.map((list) => [list[0] ?? 0, list.at(-1) ?? 0])
  const heights = (await ask(ends.flat().map(blockCall))).map(({ result }) =>
    isObject(result) ? numberOf(result['blockHeight']) : undefined,
  )
  return slots.map((slot, index) => {
    const [low, high] = heights.slice(index * 2)
    const count = listed[index]?.length ?? 0
    if (low === undefined || high === undefined || count === 0 || high - low !== count - 1) return false
    if (isDurableNonce(slot)) return ends[index]?.[0] === slot.since
    return low <= slot.lastValidBlockHeight - blockhashBlocks + 1 && high > slot.lastValidBlockHeight
  })
}

const blockCall = (slot: number): RpcCall => ({
  method: 'getBlock',
  params: [slot, { transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: 0, ...finalized }],
})

/** https://solana.com/docs/rpc/http/getsignaturestatuses: "up to a maximum of 256". */
const maxSignatures = 256

/** The durable nonce accounts that open attempts use. */
export const nonceAccountsOf = (open: readonly Attempt[]): readonly string[] => [
  ...new Set(open.flatMap(({ sequence }) => (isDurableNonce(sequence) ? sequence.nonceAccount : []))),
]

/** As few calls as all signatures need. */
export const statusCalls = (ids: readonly string[], searchTransactionHistory = true): readonly RpcCall[] =>
  Array.from({ length: Math.ceil(ids.length / maxSignatures) }, (_, part) => ({
    method: 'getSignatureStatuses',
    params: [ids.slice(part * maxSignatures, (part + 1) * maxSignatures), { searchTransactionHistory }],
  }))
