// Swaps that are tried on the chain: what a pool gives whose hooks or plugin act in swaps is known to nobody else.
import { AbiCoder, dataLength, hexlify, randomBytes } from 'ethers'
import type { Head } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { toInt256, wordAt } from '../evm/encoding.ts'
import type { CallResult, Probe } from '../evm/types.ts'
import { poolsUnread } from './deployment.ts'
import { blockName } from '../pools/pricing.ts'
import type { PoolReading } from './protocol.ts'
import type { Missing, Passed, Pool } from '../pools/protocol.ts'
import artifact from './artifacts/SwapTrial.json' with { type: 'json' }

/** A swap to be tried. */
export interface Trial {
  /** What identifies the pool. */
  readonly pool: string
  readonly zeroForOne: boolean
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
  /** The block for which the result is wanted, and its number. */
  readonly block: string
  readonly number: bigint
  /** It is tried for what it tells of that block, and of no other. */
  readonly ofBlock?: true
}

const isTrial = (value: unknown): value is Trial => isObject(value) && 'pool' in value && 'block' in value && 'amountRaw' in value

/** What a pool did; undefined where it refused, or did not all of it. */
export interface TrialResult {
  readonly trial: Trial
  readonly done: { readonly amountRaw: bigint; readonly gasUnits: bigint } | undefined
  /** It refused after it had used most of the gas that a swap gets. */
  readonly isSpent?: true
}

const isSameTrial = (one: Trial, other: Trial): boolean =>
  one.pool === other.pool && one.zeroForOne === other.zeroForOne && one.exact === other.exact && one.amountRaw === other.amountRaw

/** So many blocks later nobody waits for a result any more. */
const waitBlocks = 8n
/**
 * Of one reading, beside those of a block: the newest, as a quote needs a few of each pool. Where each uses all gas that it gets, a node of 30 million gas
 * for a call tries four at once, and a reading takes 24 calls at most (`maxRounds`).
 */
const mostTrials = 90

/** What is known of a pool by trials. Part of its state: a log leaves none of it. */
export interface TriedState {
  /** The block, its number, and what was tried after it. */
  readonly block?: string
  readonly number?: bigint
  readonly tried?: readonly TrialResult[]
}

/** What is kept of a pool after one block. */
const mostTried = 256
/** Pools take amounts as `int256`. */
const mostAmountRaw = 2n ** 255n

/** What the chain said of this swap at the block; else the question. What a trial uses is about what the pool uses in a transaction. */
export function passByTrial(
  { address, state: { block, number, tried } }: Pool<TriedState>,
  swap: Pick<Trial, 'zeroForOne' | 'exact' | 'amountRaw'>,
): Passed | Missing | undefined {
  if (block === undefined || number === undefined || swap.amountRaw <= 0n || swap.amountRaw >= mostAmountRaw) return undefined
  const trial: Trial = { pool: address, ...swap, block, number }
  const known = tried?.find((each) => isSameTrial(each.trial, trial))
  return known ? known.done : { missing: trial }
}

/** What a reading at the block of this head found out. */
export const triedIn = (tried: readonly TrialResult[], pool: string, head: Head): TriedState => ({
  block: blockName(head),
  number: head.number,
  tried: tried.filter(({ trial }) => trial.pool === pool),
})

/** What two readings of the same block know together. */
export function joinTried(inMemory: TriedState, { block, number, tried = [] }: TriedState): TriedState {
  if (block === undefined || number === undefined) return {}
  const older = inMemory.block === block ? (inMemory.tried ?? []) : []
  const kept = older.filter(({ trial }) => !tried.some((each) => isSameTrial(each.trial, trial)))
  return { block, number, tried: [...kept, ...tried].slice(-mostTried) }
}

/** By a pool in memory: the same at a later block, of which nothing was tried. */
const untried = new WeakMap<Pool, Pool<TriedState>>()

/** The pool at the block of this head: what was tried at another one is left out. @param cleared what else is of one block alone */
export function triedAsOf<S extends TriedState>(pool: Pool<S>, head: Head, cleared?: Partial<S>): Pool<S> {
  const block = blockName(head)
  if (pool.state.block === block) return pool
  const known = untried.get(pool)
  // It was made of this pool.
  if (known?.state.block === block) return known as Pool<S>
  const made = { ...pool, state: { ...pool.state, ...cleared, block, number: head.number, tried: [] } }
  untried.set(pool, made)
  return made
}

/** Those that somebody may still wait for, each once; the newest first. */
export function trialsAmong(missing: readonly unknown[], pools: ReadonlySet<string>): readonly Trial[] {
  const asked = missing.filter(isTrial).filter(({ pool }) => pools.has(pool))
  const newest = asked.reduce((most, { number }) => (number > most ? number : most), 0n)
  const wanted = asked.filter(({ number, ofBlock }) => number > newest - (ofBlock ? 1n : waitBlocks))
  const isSame = (one: Trial, other: Trial) => isSameTrial(one, other) && one.ofBlock === other.ofBlock
  const each = wanted.filter((trial, index) => wanted.findLastIndex((other) => isSame(other, trial)) === index)
  // Those of a block are two of a pool, and all quotes need them.
  let left = each.filter(({ ofBlock }) => !ofBlock).length - mostTrials
  return each.filter(({ ofBlock }) => ofBlock || left-- <= 0).toReversed()
}

/** Plugins of pools do not know it, so that none can pretend to be the pool. */
const secret = hexlify(randomBytes(32))
const swapsType = 'tuple(address target, bool zeroForOne, int256 amount, bytes kept)[]'

/** Where a pool is: itself, or the contract that keeps it, with the call of a swap to that. */
export type TargetOf = (trial: Trial) => { readonly target: string; readonly kept?: string }

/** Of the arguments of one probe: creation code takes 48 KiB, with the code of the probe and what else is called. */
const mostProbeBytes = 32 * 1024
/** Of a swap besides what it keeps: its place in the list, four words, and a length. */
const swapBytes = 6 * 32

/** As many of the first trials as fit into one probe. */
function probeOf(trials: readonly Trial[], targetOf: TargetOf): { readonly probe: Probe; readonly asked: readonly Trial[] } {
  const swaps: unknown[] = []
  let bytes = 0
  for (const trial of trials) {
    const { target, kept = '0x' } = targetOf(trial)
    bytes += swapBytes + Math.ceil(dataLength(kept) / 32) * 32
    if (bytes > mostProbeBytes && swaps.length > 0) break
    swaps.push([target, trial.zeroForOne, trial.exact === 'in' ? trial.amountRaw : -trial.amountRaw, kept])
  }
  const args = AbiCoder.defaultAbiCoder().encode(['bytes32', swapsType], [secret, swaps])
  return { probe: { code: artifact.bytecode, args }, asked: trials.slice(0, swaps.length) }
}

/** So much of the gas that a swap gets is most of it: SwapTrial.sol gives 3,000,000. */
const spentUnits = 1_500_000n
/** Of one pool and reading: its others are tried by the next, if somebody still asks for them. A call of a node has gas for about five. */
const mostSpent = 8

/** Where each swap spends all gas, as hooks may, a reading would have twenty calls: nothing else of it comes in time on a busy node. */
function spendersAmong(tried: readonly TrialResult[]): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const { trial, isSpent } of tried) if (isSpent) counts.set(trial.pool, (counts.get(trial.pool) ?? 0) + 1)
  return new Set([...counts].flatMap(([pool, count]) => (count >= mostSpent ? pool : [])))
}

/** Tries them at the block of the reading, in as many calls as their size and a node's limit of gas make it. */
export function trialReading(
  trials: readonly Trial[],
  targetOf: TargetOf,
  before: readonly TrialResult[] = [],
): PoolReading<unknown, TrialResult> {
  const { probe, asked } = trials.length > 0 ? probeOf(trials, targetOf) : { probe: undefined, asked: [] }
  const soFar = (results: readonly CallResult[]) => [...before, ...(asked.length > 0 ? readTried(results[0], asked) : [])]
  return {
    calls: probe ? [probe] : [],
    pools: soFar,
    rest(results) {
      const tried = soFar(results)
      const spenders = spendersAmong(tried)
      const left = trials.slice(tried.length - before.length).filter(({ pool }) => !spenders.has(pool))
      return left.length > 0 ? trialReading(left, targetOf, tried) : undefined
    },
  }
}

const bytesPerTrial = 97
const notReached = 0
const worked = 2

/** Those that the gas was enough for. @throws SluiceError NETWORK where the node tried none */
function readTried(result: CallResult | undefined, trials: readonly Trial[]): readonly TrialResult[] {
  if (!result?.ok || dataLength(result.data) !== bytesPerTrial * trials.length) throw poolsUnread()
  const tried: TrialResult[] = []
  for (const [index, trial] of trials.entries()) {
    const at = '0x'.length + 2 * bytesPerTrial * index
    const status = parseInt(result.data.slice(at, at + 2), 16)
    if (status === notReached) break
    const words = `0x${result.data.slice(at + 2)}`
    if (status === worked) tried.push({ trial, done: resultOf(trial, words) })
    else tried.push({ trial, done: undefined, ...(wordAt(words, 2) > spentUnits && { isSpent: true }) })
  }
  if (tried.length === 0) throw poolsUnread()
  return tried
}

/** Undefined where the price came to its end before the amount did. */
function resultOf({ zeroForOne, exact, amountRaw }: Trial, words: string): TrialResult['done'] {
  const amounts = [toInt256(wordAt(words, 0)), toInt256(wordAt(words, 1))] as const
  const [inRaw, outRaw] = zeroForOne ? [amounts[0], -amounts[1]] : [amounts[1], -amounts[0]]
  const isWhole = (exact === 'in' ? inRaw : outRaw) === amountRaw
  // A pool that takes nothing, or gives something for less, is not believed.
  if (!isWhole || inRaw <= 0n || outRaw < 0n) return undefined
  return { amountRaw: exact === 'in' ? outRaw : inRaw, gasUnits: wordAt(words, 2) }
}
