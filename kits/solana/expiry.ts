import { SluiceError, type At, type Sighting, type Json, type OpenAttempt } from '../../core/contracts/index.ts'
import { type RpcAnswer, type RpcCall } from '../nodes/dialect.ts'
import type { Ask } from '../nodes/rpc.ts'
import { accountsCalls, readAccount } from './accounts.ts'
import type { SolanaFees } from './fees.ts'
import { finalDepth } from './network.ts'
import type { SolanaRailOptions } from './rail.ts'
import { finalized, contextSlotOf, numberOf, valueOf } from './rpc.ts'
import { isDurableNonce, nonceIn, readFinal, type BlockhashSequence, type SolanaSequence, blockhashBlocks } from './sequence.ts'
import { readSignatureStatus, type SignatureStatus } from './transactions.ts'
import { isObject } from '../../core/json.ts'

/**
 * What one node says of an attempt that seems to be over.
 * - `over`: by what it has finalized it can land no more, and it is nowhere in all of the history since it was signed
 * - `alive`: it is somewhere, or may still land
 * - `unable`: the node has not got all of that history, or does not say
 */
type Verdict = 'over' | 'over unless blocks are missing' | 'alive' | 'unable'

/** For one look; the others have their turn at the next. */
const mostAtOnce = 64

const first: readonly RpcCall[] = [
  // A node that stands still and knows it says so, and is not heard: it would call everything alive for ever.
  { method: 'getHealth', params: [] },
  { method: 'getEpochInfo', params: [finalized] },
  { method: 'getFirstAvailableBlock', params: [] },
]

/**
 * Proves what is over. A node may lag, lie, or have been started anew without the blocks in between: none is believed alone where
 * there are others. One that says `alive` outweighs all that say otherwise.
 */
export function createExpiryProofs({ rpc, log, network, minSlotMs }: SolanaRailOptions) {
  let complained = false
  let turn = 0

  return async function prove(suspects: readonly Attempt[], at: At): Promise<readonly Sighting[]> {
    const asked = nextOf(suspects)
    if (asked.length === 0) return []
    const byNode = await rpc.onEveryNode((ask) => judge(asked, ask), at).catch(unanswered)
    return asked.map((attempt, index) =>
      sightingOf(
        attempt,
        byNode.flatMap((of) => of[index] ?? []),
      ),
    )
  }

  async function judge(asked: readonly Attempt[], ask: Ask): Promise<readonly Verdict[]> {
    const said = verdicts(asked, await ask(callsFor(asked)), minSlotMs)
    const open = asked.filter((_, index) => said[index] === 'over unless blocks are missing')
    if (open.length === 0) return said
    const complete = await hasEveryBlock(
      ask,
      open.map(({ slot }) => slot),
    )
    return asked.map((attempt, index) => {
      const place = open.indexOf(attempt)
      return place < 0 ? (said[index] ?? 'unable') : complete[place] === true ? 'over' : 'unable'
    })
  }

  /** What no node can tell of keeps nobody else waiting. */
  function nextOf(suspects: readonly Attempt[]): readonly Attempt[] {
    if (suspects.length <= mostAtOnce) return suspects
    const from = turn % suspects.length
    turn = from + mostAtOnce
    return [...suspects.slice(from), ...suspects.slice(0, from)].slice(0, mostAtOnce)
  }

  function sightingOf({ id, slot }: Attempt, said: readonly Verdict[]): Sighting {
    if (said.includes('over') && !said.includes('alive')) return isDurableNonce(slot) ? { id, is: 'dead' } : { id, is: 'expired' }
    if (said.length > 0 && said.every((each) => each === 'unable') && !complained) {
      complained = true
      log.warn(
        { network, txHash: id },
        'no node has the history that shows whether a transaction is lost for good: add one to rpcUrls that keeps it; until then it stays open',
      )
    }
    return { id, is: 'pending', underpriced: false, kept: false }
  }
}

const blockhashesOf = (asked: readonly Attempt[]): readonly string[] => [
  ...new Set(asked.flatMap(({ slot }) => (isDurableNonce(slot) ? [] : slot.blockhash))),
]

/** What is finalized before what is searched: a search that is not older than that has seen it all. */
function callsFor(asked: readonly Attempt[]): readonly RpcCall[] {
  return [
    ...first,
    ...accountsCalls(nonceAccountsOf(asked), finalized),
    ...blockhashesOf(asked).map((blockhash) => ({ method: 'isBlockhashValid', params: [blockhash, finalized] })),
    ...statusCalls(asked.map(({ id }) => id)),
  ]
}

function verdicts(asked: readonly Attempt[], answers: readonly RpcAnswer[], minSlotMs: number): readonly Verdict[] {
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
  const isReadable = accounts.length === 0 || (nonceSlot !== undefined && read.length === accounts.length && !read.includes(null))
  if (!final || oldest === undefined || searched === undefined || !Array.isArray(statuses) || !isReadable) return asked.map(() => 'unable')

  const nonces = new Map(accounts.map((account, index) => [account, nonceIn(read[index] ?? undefined)]))
  const view = { final, searched, nonces, noncesAt: nonceSlot ?? 0, nowMs: Date.now(), minSlotMs }
  return asked.map((attempt, index) => {
    const { slot } = attempt
    const status = readSignatureStatus(statuses[index])
    // What nobody can read is no absence.
    if (!status && statuses[index] !== null) return 'unable'
    if (observe(attempt, status, view).is !== 'over') return 'alive'
    if (oldest > slot.since) return 'unable'
    const valid = isDurableNonce(slot) ? false : validities.get(slot.blockhash)
    if (valid !== false) return valid === true ? 'alive' : 'unable'
    return isInSnapshot(slot, final) ? 'over' : 'over unless blocks are missing'
  })
}

function unanswered(error: unknown): readonly (readonly Verdict[])[] {
  if (error instanceof SluiceError) return []
  throw error
}

export type Attempt = Omit<OpenAttempt<string, SolanaSequence, SolanaFees>, 'step'>

/** What one node said at once. */
export interface NodeView {
  /** The newest slot and height that are finalized. */
  final: { slot: number; height: number }
  /** The slot up to which it looked for signatures. */
  searched: number
  /** By this machine's clock. */
  nowMs: number
  /** No slots pass faster than this for long. */
  minSlotMs: number
  /** Of durable nonce accounts, what they hold at a finalized slot; undefined where they hold none. */
  nonces: ReadonlyMap<string, string | undefined>
  noncesAt: number
}

/** Where an attempt is by one node's word: `over` is no more than a suspicion. */
export type Observation = { is: 'landed'; slot: number; depth: number; err: Json } | { is: 'near' } | { is: 'waits' } | { is: 'over' }

export function observe({ slot }: Pick<Attempt, 'slot'>, status: SignatureStatus | undefined, view: NodeView): Observation {
  if (!status) return isExpired(slot, view) ? { is: 'over' } : { is: 'waits' }
  // In a block that may still be passed over: nobody has its receipt yet.
  if (status.is === 'processed') return { is: 'near' }
  const isFinal = status.is === 'finalized' && status.slot <= view.final.slot
  const depth = isFinal ? finalDepth : Math.min(finalDepth - 1, 1 + (status.confirmations ?? 0))
  return { is: 'landed', slot: status.slot, depth, err: status.err }
}

/**
 * Whether its time is over by what is finalized, with the search not older than that. The age of a blockhash is counted from a block's
 * parent, so the last block that takes it is one above the height that is told (agave `runtime/src/bank/check_transactions.rs`): with any
 * height above the told one, that block is finalized too.
 */
export function isExpired(slot: SolanaSequence, view: NodeView): boolean {
  const { final, searched, nonces, noncesAt } = view
  if (searched < final.slot || searched < noncesAt) return false
  if (!isDurableNonce(slot)) return final.height > slot.lastValidBlockHeight && isPlausible(slot, view)
  // What was signed upon is newer than what is finalized, at first: that has another value since it has the one before.
  return noncesAt >= slot.since && nonces.has(slot.nonceAccount) && nonces.get(slot.nonceAccount) !== slot.nonce
}

/** agave `clock`, MAX_PROCESSING_AGE. */
const blockhashBlocksOfSight = 150
/** Whatever slots may be like one day, a blockhash is over by then. */
const surelyOverMs = 600_000

/**
 * Whether so many slots can have passed since the blockhash was told, and so many blocks in them: one a slot at most. A node that has run
 * ahead of everybody has only its word for it.
 */
function isPlausible({ number, since, lastValidBlockHeight }: BlockhashSequence, { final, nowMs, minSlotMs }: NodeView): boolean {
  const slots = final.slot - since
  const blocks = final.height - (lastValidBlockHeight - blockhashBlocksOfSight)
  const elapsedMs = nowMs - number
  return blocks <= slots && (slots * minSlotMs <= elapsedMs || elapsedMs > surelyOverMs)
}

/** What is certain at once: what landed is told with its receipt, and what seems to be over with a proof. */
export function certainSighting(id: string, { is }: Observation): Sighting | undefined {
  if (is === 'near') return { id, is: 'pending', underpriced: false }
  return is === 'waits' ? { id, is: 'pending', underpriced: false, kept: false } : undefined
}

/** The last few minutes of statuses are in the snapshot that a node starts from: agave `runtime/src/status_cache.rs`, MAX_CACHE_ENTRIES, 300 blocks. */
const surelyInSnapshot = 250
/** One more than a blockhash serves for, and the one that it is of. */
const blocksOfBlockhash = blockhashBlocks + 2
/** https://solana.com/docs/rpc/http/getblockswithlimit: as far as one question reaches, some two days. */
const mostBlocks = 500_000

/** Whether a node has all statuses since that was signed by what it started from. */
function isInSnapshot(slot: SolanaSequence, final: { slot: number; height: number }): boolean {
  const blocks = isDurableNonce(slot) ? final.slot - slot.since : final.height - (slot.lastValidBlockHeight - blockhashBlocks)
  return blocks <= surelyInSnapshot
}

/**
 * Of each, whether a node has every block that it may be in. One that was away and came back upon a newer snapshot has older blocks and
 * newer ones and none in between, which it does not say: heights tell how many there are. Two questions.
 */
async function hasEveryBlock(ask: Ask, slots: readonly SolanaSequence[]): Promise<readonly boolean[]> {
  const lists = await ask(
    slots.map((slot) => ({
      method: 'getBlocksWithLimit',
      params: [slot.since, isDurableNonce(slot) ? mostBlocks : blocksOfBlockhash, finalized],
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
const mostSignatures = 256

/** The nonce accounts that open attempts are signed upon. */
export const nonceAccountsOf = (open: readonly Attempt[]): readonly string[] => [
  ...new Set(open.flatMap(({ slot }) => (isDurableNonce(slot) ? slot.nonceAccount : []))),
]

/** All of them in as few calls as that takes. */
export const statusCalls = (ids: readonly string[], searchTransactionHistory = true): readonly RpcCall[] =>
  Array.from({ length: Math.ceil(ids.length / mostSignatures) }, (_, part) => ({
    method: 'getSignatureStatuses',
    params: [ids.slice(part * mostSignatures, (part + 1) * mostSignatures), { searchTransactionHistory }],
  }))
