import type { At, Head, Log } from '../../core/contracts/index.ts'
import { isObject, withSignal, type Rpc } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf } from '../nodes/rpc.ts'
import { readBlock, type Block } from './rpc.ts'
import { quantityOf } from './encoding.ts'
import { max } from './fees.ts'

/** How many blocks' base fees are remembered. */
const remembered = 64
/** The tip that half of the transactions of a block paid less than, where the node suggests none. */
const defaultPercentile = 50
const historyBlocks = '0x5'
const blockCall = { method: 'eth_getBlockByNumber', params: ['latest', false] }
/** Followed heads refresh it sooner; this is for quotes while nobody follows. */
const staleTips = 3

export interface FeeOracle {
  /** Takes note of a block that was read for another reason. */
  observe(block: Block): void
  /** Wei per gas, of a block that was seen or of the one after it. */
  baseFeeRaw(number: bigint): bigint | undefined
  /**
   * The tip of a transaction, wei per gas: the one that is known; where that is old, what a node has just suggested
   * (`tipMethod`), or what recent blocks were paid where that is the policy or nodes suggest nothing.
   */
  tipFor(suggested: bigint | undefined, at: At): Promise<bigint | undefined>
  /** The tip as far as it is known, wei per gas. */
  tipRaw(): bigint | undefined
  /** Base fee plus tip at a block, wei per gas, from what is known; the newest known base fee where the block's is not. */
  priceRaw(head: Head | undefined): bigint
  /** Makes sure that there is a tip: asks and waits where there was never one, refreshes an old one in the background. Undefined where nothing is waited for. */
  warm(at: At): Promise<unknown> | undefined
  /** Asks for the latest block, and for the tip where that is old, in one round trip; callers share it. */
  refresh(): Promise<Block>
}

interface FeeOracleOptions {
  rpc: Rpc
  /** Take the tip from what was paid, at this percentile, rather than from the node's suggestion. */
  tipPercentile?: number | undefined
  /** The tip where the node suggests less. */
  minTipRaw: bigint
  /** There is no base fee: the tip is the whole price. */
  legacy?: boolean | undefined
  /** A tip older than that is asked for again with the next block. */
  tipMs: number
  log: Log
}

export function createFeeOracle({ rpc, tipPercentile, minTipRaw, legacy = false, tipMs, log }: FeeOracleOptions): FeeOracle {
  const baseFees = new Map<bigint, bigint>()
  let latest: Block | undefined
  let tipRaw: bigint | undefined
  let tipAt = 0
  let refreshing: Promise<Block> | undefined
  // Not every node knows eth_maxPriorityFeePerGas; which ones is learnt once.
  let byHistory = tipPercentile !== undefined

  function seen(block: Block): void {
    latest = block
    if (block.baseFeeRaw !== undefined) baseFees.set(block.number, block.baseFeeRaw)
    for (const number of baseFees.keys()) if (baseFees.size > remembered) baseFees.delete(number)
  }

  function baseFeeRaw(number: bigint): bigint | undefined {
    return baseFees.get(number) ?? (latest !== undefined && number === latest.number + 1n ? mostOfNext(latest) : undefined)
  }

  async function ask(): Promise<Block> {
    // Shared by its callers, so bounded by the node's own timeout and not by one caller's signal.
    const at = { signal: new AbortController().signal }
    const wantTip = tipRaw === undefined || performance.now() - tipAt >= tipMs
    const [block, tip] = await rpc.batch([blockCall, ...(wantTip ? [tipCall()] : [])], at)
    const head = readBlock(rpc, resultOf(rpc, blockCall.method, block))
    seen(head)
    if (!wantTip) return head
    const read = byHistory ? medianReward(tip?.result) : quantityOf(tip?.result)
    if (read !== undefined) {
      tipRaw = read > minTipRaw ? read : minTipRaw
      tipAt = performance.now()
      return head
    }
    if (byHistory) throw invalidAnswer(rpc, `gives no tip by ${tipMethod(legacy)} or eth_feeHistory`)
    byHistory = true
    return ask()
  }

  const tipCall = () =>
    byHistory
      ? { method: 'eth_feeHistory', params: [historyBlocks, 'latest', [tipPercentile ?? defaultPercentile]] }
      : { method: tipMethod(legacy), params: [] }

  const refresh = (): Promise<Block> =>
    (refreshing ??= ask().finally(() => {
      refreshing = undefined
    }))

  const isStale = () => performance.now() - tipAt > tipMs * staleTips

  return {
    observe: seen,
    async tipFor(suggested, at) {
      if (tipRaw !== undefined && !isStale()) return tipRaw
      if (suggested !== undefined && !byHistory) return suggested
      await withSignal(refresh(), at.signal)
      return tipRaw
    },
    baseFeeRaw,
    tipRaw: () => tipRaw,
    priceRaw(head) {
      const base = legacy ? 0n : (head?.baseFeeRaw ?? (head && baseFeeRaw(head.number)) ?? (latest && mostOfNext(latest)) ?? 0n)
      return base + (tipRaw ?? 0n)
    },
    warm(at) {
      if (tipRaw === undefined) return withSignal(refresh(), at.signal)
      if (isStale()) {
        refresh().catch((error: unknown) =>
          log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'fees could not be refreshed'),
        )
      }
      return undefined
    },
    refresh,
  }
}

/**
 * That a base fee falls is not believed beforehand: where blocks have room for far more than what it is steered to (2^50 gas on Arbitrum),
 * Ethereum's rule would always take an eighth off.
 */
function mostOfNext({ baseFeeRaw, nextBaseFeeRaw }: Block): bigint | undefined {
  return baseFeeRaw === undefined || nextBaseFeeRaw === undefined ? undefined : max(baseFeeRaw, nextBaseFeeRaw)
}

/** What suggests the tip; without a base fee that is the whole price. */
export const tipMethod = (legacy: boolean) => (legacy ? 'eth_gasPrice' : 'eth_maxPriorityFeePerGas')

/** The middle of the blocks' rewards at the asked percentile. */
function medianReward(history: unknown): bigint | undefined {
  const reward = isObject(history) ? history['reward'] : undefined
  if (!Array.isArray(reward)) return undefined
  const tips = reward
    .flatMap((entry: unknown) => (Array.isArray(entry) ? (quantityOf(entry[0]) ?? []) : []))
    .toSorted((a, b) => (a < b ? -1 : 1))
  return tips[Math.floor(tips.length / 2)]
}
