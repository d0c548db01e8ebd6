// What transactions of the last blocks paid: prices for gas by speed.
import type { At, GasPrice, GasPrices } from '../../core/contracts/index.ts'
import { isObject } from '../../core/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { quantityOf } from './encoding.ts'
import { policyMaxFee, tipMethod, type FeePolicy } from './fees.ts'
import { blockCall, readBlock } from './rpc.ts'

const historyBlocks = '0x14'
/** Percent of a block's gas that paid a lower tip: https://ethereum.github.io/execution-apis/api-documentation, eth_feeHistory. */
const percentiles = [10, 50, 90] as const

/**
 * The tips that a tenth, half and nine tenths of the gas of a block paid less than, in the median of the last 20 blocks with transactions. Where
 * a node has no history, or blocks have no base fee, all three are what it suggests.
 */
export async function readGasPrices(rpc: Rpc, policy: FeePolicy, at: At): Promise<GasPrices> {
  const [block, suggested, history] = await rpc.batch(
    [
      blockCall('latest'),
      { method: tipMethod(policy.legacy), params: [] },
      ...(policy.legacy ? [] : [{ method: 'eth_feeHistory', params: [historyBlocks, 'latest', percentiles] }]),
    ],
    at,
  )
  const head = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', block))
  const fallback = quantityOf(suggested?.result)
  const tips = percentiles.map((_, index) => medianTip(history?.result, index) ?? fallback)
  const baseFeeRaw = policy.legacy ? undefined : (head.nextBaseFeeRaw ?? head.baseFeeRaw)
  const priceOf = (index: number): GasPrice => {
    const raw = tips[index]
    if (raw === undefined) throw invalidAnswer(rpc, `gives no tip by ${tipMethod(policy.legacy)} or eth_feeHistory`)
    const tipRaw = [raw, policy.minTipRaw, policy.networkMinTipRaw].reduce((one, other) => (one > other ? one : other))
    return { tipRaw, maxFeeRaw: baseFeeRaw === undefined ? tipRaw : policyMaxFee(baseFeeRaw, tipRaw, policy) }
  }
  return {
    blockNumber: head.number,
    ...(baseFeeRaw !== undefined && { baseFeeRaw }),
    slow: priceOf(0),
    normal: priceOf(1),
    fast: priceOf(2),
  }
}

/** Empty blocks have rewards of 0, which say nothing. */
function medianTip(history: unknown, index: number): bigint | undefined {
  const [rewards, used] = isObject(history) ? [history['reward'], history['gasUsedRatio']] : []
  if (!Array.isArray(rewards) || !Array.isArray(used)) return undefined
  const tips = rewards
    .flatMap((entry: unknown, block) => (Array.isArray(entry) && used[block] !== 0 ? (quantityOf(entry[index]) ?? []) : []))
    .toSorted((one, other) => (one < other ? -1 : 1))
  return tips[Math.floor(tips.length / 2)]
}
