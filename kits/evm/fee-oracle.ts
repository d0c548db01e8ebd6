import type { At, Head, Log } from '../../core/contracts/index.ts'
import { abortable } from '../../core/async.ts'
import type { Rpc } from '../nodes/rpc.ts'
import { invalidAnswer, resultOf } from '../nodes/rpc.ts'
import { blockCall, readBlock, type Block } from './rpc.ts'
import { quantityOf } from './encoding.ts'
import { max } from './fees.ts'
import { isObject } from '../../core/json.ts'

/** For how many blocks base fees are kept. */
const maxBaseFees = 64
/** Where the node suggests no tip: the one that half of a block's transactions paid less than. */
const defaultPercentile = 50
const historyBlocks = '0x5'
/** A tip is stale after so many times `tipMs`. Followed heads refresh it sooner; this is for quotes while nobody follows. */
const staleFactor = 3

export interface FeeOracle {
  /** Wei per gas, of a block that was read or of the one after it. */
  baseFeeRaw(number: bigint): bigint | undefined
  /**
   * The tip of a transaction, wei per gas: the known one; if it is stale, what a node has just suggested (`tipMethod`), or what recent
   * blocks were paid if that is the policy or nodes suggest nothing.
   */
  tipFor(suggested: bigint | undefined, at: At): Promise<bigint | undefined>
  /** The tip as far as it is known, wei per gas. */
  tipRaw(): bigint | undefined
  /** Base fee plus tip at a block, wei per gas, without asking anybody. The newest known base fee stands in if the block's is not known. */
  priceRaw(head: Head | undefined): bigint
  /** Waits for a tip if there was never one, and refreshes a stale one in the background. Undefined if there is nothing to wait for. */
  warm(at: At): Promise<unknown> | undefined
  /** Reads the latest block, and the tip if it is old, in one round trip that all callers share. */
  refresh(): Promise<Block>
}

interface FeeOracleOptions {
  rpc: Rpc
  /** Takes the tip from what was paid, at this percentile, rather than from the node's suggestion. */
  tipPercentile?: number | undefined
  /** The tip if the node suggests less. */
  minTipRaw: bigint
  /** There is no base fee: the tip is the whole price. */
  legacy?: boolean | undefined
  /** An older tip is read again with the next block. */
  tipMs: number
  log: Log
}

export function createFeeOracle({ rpc, tipPercentile, minTipRaw, legacy = false, tipMs, log }: FeeOracleOptions): FeeOracle {
  const baseFees = new Map<bigint, bigint>()
  let latest: Block | undefined
  let tipRaw: bigint | undefined
  let tipAt = 0
  let refreshing: Promise<Block> | undefined
  // Not every node knows eth_maxPriorityFeePerGas. This is found out once.
  let byHistory = tipPercentile !== undefined

  function remember(block: Block): void {
    latest = block
    if (block.baseFeeRaw !== undefined) baseFees.set(block.number, block.baseFeeRaw)
    for (const number of baseFees.keys()) if (baseFees.size > maxBaseFees) baseFees.delete(number)
  }

  function baseFeeRaw(number: bigint): bigint | undefined {
    return baseFees.get(number) ?? (latest !== undefined && number === latest.number + 1n ? maxNextBaseFee(latest) : undefined)
  }

  async function read(): Promise<Block> {
    // Callers share this, so the node's own timeout bounds it and not one caller's signal.
    const at = { signal: new AbortController().signal }
    const readsTip = tipRaw === undefined || performance.now() - tipAt >= tipMs
    const [block, tip] = await rpc.batch([blockCall('latest'), ...(readsTip ? [tipCall()] : [])], at)
    const head = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', block))
    remember(head)
    if (!readsTip) return head
    const readRaw = byHistory ? medianReward(tip?.result) : quantityOf(tip?.result)
    if (readRaw !== undefined) {
      tipRaw = max(readRaw, minTipRaw)
      tipAt = performance.now()
      return head
    }
    if (byHistory) throw invalidAnswer(rpc, `gives no tip by ${tipMethod(legacy)} or eth_feeHistory`)
    byHistory = true
    return read()
  }

  const tipCall = () =>
    byHistory
      ? { method: 'eth_feeHistory', params: [historyBlocks, 'latest', [tipPercentile ?? defaultPercentile]] }
      : { method: tipMethod(legacy), params: [] }

  const refresh = (): Promise<Block> =>
    (refreshing ??= read().finally(() => {
      refreshing = undefined
    }))

  const isStale = () => performance.now() - tipAt > tipMs * staleFactor

  return {
    async tipFor(suggested, at) {
      if (tipRaw !== undefined && !isStale()) return tipRaw
      if (suggested !== undefined && !byHistory) return suggested
      await abortable(refresh(), at.signal)
      return tipRaw
    },
    baseFeeRaw,
    tipRaw: () => tipRaw,
    priceRaw(head) {
      const base = legacy ? 0n : (head?.baseFeeRaw ?? (head && baseFeeRaw(head.number)) ?? (latest && maxNextBaseFee(latest)) ?? 0n)
      return base + (tipRaw ?? 0n)
    },
    warm(at) {
      if (tipRaw === undefined) return abortable(refresh(), at.signal)
      if (isStale()) {
        refresh().catch((error: unknown) => log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'fees not refreshed'))
      }
      return undefined
    },
    refresh,
  }
}

/**
 * The base fee of the next block, but never less than this one's. On Arbitrum blocks have room for 2^50 gas, far more than the target, and
 * Ethereum's rule would always predict an eighth less.
 */
function maxNextBaseFee({ baseFeeRaw, nextBaseFeeRaw }: Block): bigint | undefined {
  return baseFeeRaw === undefined || nextBaseFeeRaw === undefined ? undefined : max(baseFeeRaw, nextBaseFeeRaw)
}

/** The method by which a node suggests the tip. Without a base fee the tip is the whole price. */
export const tipMethod = (legacy: boolean) => (legacy ? 'eth_gasPrice' : 'eth_maxPriorityFeePerGas')

/** The median of the blocks' rewards at the requested percentile. */
function medianReward(history: unknown): bigint | undefined {
  const reward = isObject(history) ? history['reward'] : undefined
  if (!Array.isArray(reward)) return undefined
  const tips = reward
    .flatMap((entry: unknown) => (Array.isArray(entry) ? (quantityOf(entry[0]) ?? []) : []))
    .toSorted((a, b) => (a < b ? -1 : 1))
  return tips[Math.floor(tips.length / 2)]
}
