// What transactions of the last blocks paid: prices for gas by speed.
import type { At, GasPrice, GasPrices } from '../../core/contracts/index.ts'
import { invalidAnswer, isUnsupported, resultOf, type Rpc } from '../nodes/rpc.ts'
import { quantityOf } from './encoding.ts'
import { medianReward, policyMaxFee, tipMethod, type FeePolicy } from './fees.ts'
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
  // Only a node that knows no history gives none. One that could not tell is asked again by the caller.
  const told = history === undefined || isUnsupported(history) ? undefined : resultOf(rpc, 'eth_feeHistory', history)
  const fallback = quantityOf(suggested?.result)
  const tips = percentiles.map((_, index) => medianReward(told, index) ?? fallback)
  const baseFeeRaw = policy.legacy ? undefined : (head.nextBaseFeeRaw ?? head.baseFeeRaw)
  const priceOf = (index: number): GasPrice => {
    const raw = tips[index]
    if (raw === undefined && suggested?.error && !isUnsupported(suggested)) resultOf(rpc, tipMethod(policy.legacy), suggested)
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
