import { SluiceError, type Json, type Log, type OpenAttempt, type AttemptStatus } from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import { createBoundedCache } from '../nodes/rails.ts'
import type { Ask, Rpc, Witnesses } from '../nodes/rpc.ts'
import { accountsCalls, readAccount } from './accounts.ts'
import type { SolanaFees } from './fees.ts'
import { finalDepth } from './network.ts'
import { createRounds } from './rounds.ts'
import { finalized, contextSlotOf, numberOf, valueOf } from './rpc.ts'
import { isDurableNonce, nonceIn, readFinal, type BlockhashSequence, type SolanaSequence, blockhashBlocks } from './sequence.ts'
import { readSignatureStatus, type SignatureStatus } from './transactions.ts'
import { isObject } from '../../core/base/json.ts'
import { dropOldest } from '../../core/base/oldest.ts'

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
 * - `over`: by its finalized state the attempt cannot land any more, and it is nowhere in the history since it was signed, all of which is in the
 *   snapshot that a node starts from. `over by its blocks`: that history is longer, and the node has every block of it
 * - `alive`: the attempt may still land, or is in a block that has few votes
 * - an observation: the attempt is in a block
 * - `unable`: the node does not have all of that history, or gives no valid answer
 */
type Verdict = 'over' | 'over by its blocks' | 'over unless blocks are missing' | 'alive' | 'unable' | BlockObservation

export interface ObservedAttempt {
  attempt: Attempt
  observation: Observation
}

interface Proofs {
  statuses: readonly AttemptStatus[]
  /** In a block of a node that is not in use. */
  found: readonly ObservedAttempt[]
}

/** So long a node that does not answer is waited for since another one, which can have no hole there, has shown it over. */
const maxSilenceMs = 120_000
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
 * One node that says `alive` outweighs all others, and one that does not answer is waited for. One that has it in a block tells more of it than the node in
 * use, which lacks that block.
 */
export function createExpiryProofs({ rpc, log, network, minSlotMs }: ExpiryOptions, elapsedMs: NodeView['elapsedMs']) {
  let hasWarned = false
  let nextIndex = 0
  const results = new Map<string, ProofResult>()
  /** How long ago each was signed when a node first found it over by its snapshot. */
  const overSinceMs = createBoundedCache<number>()
  const rounds = createRounds<Attempt, readonly Verdict[]>({ rpc, keyOf: ({ id }) => id, talk: judge, take })

  return async function prove(suspects: readonly Attempt[]): Promise<Proofs> {
    const ids = new Set(suspects.map(({ id }) => id))
    for (const id of results.keys()) if (!ids.has(id)) results.delete(id)
    await rounds.start(nextSuspects(suspects.filter((each) => !rounds.isOpen(each))))
    const reported = suspects.flatMap((attempt) => report(attempt) ?? [])
    return {
      statuses: reported.flatMap(({ status }) => status ?? []),
      found: reported.flatMap(({ attempt, observation }) => (observation ? { attempt, observation } : [])),
    }
  }

  /** A round that takes longer than a poll neither counts twice nor lets what was found out before seem undone. */
  function report(attempt: Attempt): ProofResult | undefined {
    const result = results.get(attempt.id)
    if (result?.isNew) {
      results.set(attempt.id, { ...result, isNew: false })
      return result
    }
    if (!rounds.isOpen(attempt)) return undefined
    if (!result) return { attempt, status: stillOpen(attempt), isNew: false }
    return result.status?.is === 'expired' || result.status?.is === 'dead' ? undefined : result
  }

  function take(asked: readonly Attempt[], { told, silent }: Witnesses<readonly Verdict[]>): void {
    for (const [index, attempt] of asked.entries()) {
      const verdicts = told.flatMap((of) => of[index] ?? [])
      const [observation] = verdicts.flatMap((each) => (typeof each === 'object' ? each : [])).toSorted((a, b) => b.depth - a.depth)
      noteOver(attempt, verdicts)
      const isAnyMissed = silent > 0 && isWaitedFor(attempt)
      const said = observation ? { observation } : { status: statusOf(attempt, verdicts, isAnyMissed) }
      results.set(attempt.id, { attempt, ...said, isNew: true })
    }
  }

  /** Whoever says otherwise shows that it was too early. */
  function noteOver({ id, sequence }: Attempt, verdicts: readonly Verdict[]): void {
    if (verdicts.some((each) => each === 'alive' || typeof each === 'object')) overSinceMs.set(id, Infinity)
    else if (verdicts.includes('over')) overSinceMs.set(id, Math.min(overSinceMs.get(id) ?? Infinity, elapsedMs(sequence)))
  }

  /**
   * A node that does not answer may have it in a block, if others have a hole there: answers behind one URL may come from several nodes. Where no hole was
   * possible, a node that is away for long costs less than what a transaction that ended holds back.
   */
  function isWaitedFor({ id, sequence }: Attempt): boolean {
    const agoMs = elapsedMs(sequence)
    return agoMs <= Math.min(surelyOverMs, (overSinceMs.get(id) ?? Infinity) + maxSilenceMs)
  }

  async function judge(asked: readonly Attempt[], ask: Ask): Promise<readonly Verdict[]> {
    const answers = await ask(callsFor(asked))
    const verdicts = judgeAnswers(asked, answers, { elapsedMs, minSlotMs })
    const open = asked.filter((_, index) => verdicts[index] === 'over unless blocks are missing')
    if (open.length === 0) return verdicts
    const complete = await hasEveryBlock(
      ask,
      open.map(({ sequence }) => sequence),
      readFinal(answers[1]?.result)?.slot ?? Infinity,
    )
    return asked.map((attempt, index) => {
      const place = open.indexOf(attempt)
      return place < 0 ? (verdicts[index] ?? 'unable') : complete[place] === true ? 'over by its blocks' : 'unable'
    })
  }

  /** Takes turns, so that attempts which no node can decide do not block the others. */
  function nextSuspects(suspects: readonly Attempt[]): readonly Attempt[] {
    if (suspects.length <= maxProofs) return suspects
    const from = nextIndex % suspects.length
    nextIndex = from + maxProofs
    return [...suspects.slice(from), ...suspects.slice(0, from)].slice(0, maxProofs)
  }

  function statusOf(attempt: Attempt, verdicts: readonly Verdict[], isAnyMissed: boolean): AttemptStatus {
    const { id, sequence } = attempt
    const isOver = verdicts.includes('over') || verdicts.includes('over by its blocks')
    if (isOver && !verdicts.includes('alive') && !isAnyMissed) return isDurableNonce(sequence) ? { id, is: 'dead' } : { id, is: 'expired' }
    if (verdicts.length > 0 && verdicts.every((each) => each === 'unable') && !hasWarned) {
      hasWarned = true
      log.warn(
        { network, txHash: id },
        'no node has the history that proves a transaction expired, so it stays open: add a node with history to rpcUrls',
      )
    }
    return stillOpen(attempt)
  }
}

/** What a round about an attempt came to. */
interface ProofResult extends Pick<ObservedAttempt, 'attempt'> {
  readonly status?: AttemptStatus
  readonly observation?: BlockObservation
  /** No poll has reported it. */
  readonly isNew: boolean
}

const stillOpen = ({ id }: Attempt): AttemptStatus => ({ id, is: 'pending', underpriced: false, kept: false })

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
    // A status that cannot be read is one all the same.
    if (!status && statuses[index] !== null) return isObject(statuses[index]) ? 'alive' : 'unable'
    const observation = observe(attempt, status, view)
    if (observation.is === 'landed') return observation
    if (observation.is !== 'over') return 'alive'
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

/** In a block, as one node sees it. */
interface BlockObservation {
  is: 'landed'
  slot: number
  depth: number
  err: Json
}

/** The state of an attempt as one node sees it. `over` is only a suspicion. */
export type Observation = BlockObservation | { is: 'near' } | { is: 'waits' } | { is: 'over' }

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

/** After this time a blockhash is expired, however slots pass. No longer it is waited for nodes that do not answer. */
export const surelyOverMs = 600_000

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
  return (sequence) => {
    const { number, since } = sequence
    const name = `${number} ${since}`
    const seenAtMs = firstSeen.get(name) ?? steadyMs()
    if (!firstSeen.has(name)) firstSeen.set(name, seenAtMs)
    dropOldest(firstSeen, maxRemembered)
    const seenForMs = steadyMs() - seenAtMs
    // The number of a durable nonce is no time.
    return isDurableNonce(sequence) ? seenForMs : Math.max(nowMs() - number, seenForMs)
  }
}

/** The observations that need nothing more. A landed attempt still needs its receipt, and an expired one its proof. */
export function certainStatus(id: string, { is }: Observation): AttemptStatus | undefined {
  if (is === 'near') return { id, is: 'pending', underpriced: false }
  return is === 'waits' ? { id, is: 'pending', underpriced: false, kept: false } : undefined
}

/** A snapshot has the statuses of the last 300 blocks: agave `runtime/src/status_cache.rs`, MAX_CACHE_ENTRIES. This leaves a margin. */
export const snapshotBlocks = 250
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
 * blocks but none in between, and does not say so. Block heights tell how many there must be. Takes two batches, more for a durable nonce of days ago.
 * @param finalSlot that by which they are judged: what is on a durable nonce may be in any block up to it
 */
async function hasEveryBlock(ask: Ask, slots: readonly SolanaSequence[], finalSlot: number): Promise<readonly boolean[]> {
  const listed = await listBlocks(ask, slots, finalSlot)
  const heights = (await ask(listed.flatMap(({ first, last }) => [blockCall(first), blockCall(last)]))).map(({ result }) =>
    isObject(result) ? numberOf(result['blockHeight']) : undefined,
  )
  return slots.map((slot, index) => {
    const [low, high] = heights.slice(index * 2)
    const { first, last, count } = listed[index] ?? noBlocks
    if (low === undefined || high === undefined || count === 0 || high - low !== count - 1) return false
    if (isDurableNonce(slot)) return first === slot.since && last >= finalSlot
    return low <= slot.lastValidBlockHeight - blockhashBlocks + 1 && high > slot.lastValidBlockHeight
  })
}

/** Blocks that a node lists, by their slots. */
interface BlockList {
  readonly first: number
  readonly last: number
  readonly count: number
}

const noBlocks: BlockList = { first: 0, last: 0, count: 0 }
/** Of lists of two days: what is on a durable nonce for longer stays open. */
const maxLists = 60

/** Up to the finalized slot for a durable nonce, as long as the lists are full. */
async function listBlocks(ask: Ask, slots: readonly SolanaSequence[], finalSlot: number): Promise<readonly BlockList[]> {
  const listed = slots.map(() => noBlocks)
  let open = slots.map((_, index) => index)
  for (let list = 0; list < maxLists && open.length > 0; list += 1) {
    const calls = open.map((index) => {
      const { count, last } = listed[index] ?? noBlocks
      const slot = slots[index]
      const limit = slot && isDurableNonce(slot) ? maxBlocks : blocksOfBlockhash
      return { method: 'getBlocksWithLimit', params: [count === 0 ? slot?.since : last + 1, limit, finalized] }
    })
    const answers = await ask(calls)
    open = open.filter((index, place) => {
      const found = blocksIn(answers[place])
      const { first, count } = listed[index] ?? noBlocks
      if (found.count > 0) listed[index] = { ...found, first: count === 0 ? found.first : first, count: count + found.count }
      return found.count === maxBlocks && found.last < finalSlot
    })
  }
  return listed
}

function blocksIn(answer: RpcAnswer | undefined): BlockList {
  const slots = Array.isArray(answer?.result) ? answer.result.map(numberOf) : []
  return { first: slots[0] ?? 0, last: slots.at(-1) ?? 0, count: slots.length }
}

export const blockCall = (slot: number): RpcCall => ({
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
