// The block that would have a transaction that is signed now, and what the transaction would pay in it: calls that are simulated see these.
import { randomBytes } from 'node:crypto'
import { toQuantity } from 'ethers/utils'
import type { At, Json } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { canonicalAddress, nativeAddress, quantityOf } from './encoding.ts'
import { min, policyMaxFee, type FeePolicy } from './fees.ts'
import { blockCall, readBlock } from './rpc.ts'
import type { EvmIntent } from './types.ts'

export interface NextBlock {
  readonly number: bigint
  /** Seconds since the Unix epoch. */
  readonly timestamp: number
  readonly gasLimit: bigint
  /** That of the newest block: whoever makes the next one is not known. */
  readonly coinbase: string
  /** Wei per gas. Absent: blocks have none. */
  readonly baseFeeRaw?: bigint
  /** Absent where blocks show none. */
  readonly randao?: string
}

/**
 * A machine's clock counts up to so many blocks, or a minute, after the newest one: blocks that come on demand have its time. Beyond that the clock, or
 * the chain's, may be wrong.
 */
const clockBlocks = 10
const clockSeconds = 60

/** The block after the newest, and what a simulation needs besides, in one round trip. */
export async function readNextBlock(
  rpc: Rpc,
  { multicall, wallet, blockSeconds }: { multicall: string; wallet: string; blockSeconds: number },
  at: At,
): Promise<{ next: NextBlock; nativeRaw: bigint; code: unknown }> {
  const [newest, balance, code] = await rpc.batch(
    [
      blockCall('latest'),
      { method: 'eth_getBalance', params: [wallet, 'latest'] },
      { method: 'eth_getCode', params: [multicall, 'latest'] },
    ],
    at,
  )
  const raw = resultOf(rpc, 'eth_getBlockByNumber', newest)
  const nativeRaw = quantityOf(resultOf(rpc, 'eth_getBalance', balance))
  if (nativeRaw === undefined) throw invalidAnswer(rpc, 'answered eth_getBalance with something that is no number')
  const { number, timestamp, nextBaseFeeRaw } = readBlock(rpc, raw)
  const { gasLimit, miner, mixHash, difficulty } = isObject(raw) ? raw : {}
  const elapsed = Math.floor(Date.now() / 1000) - timestamp
  const usual = Math.max(1, Math.ceil(blockSeconds))
  const hasRandao = typeof mixHash === 'string' && (quantityOf(mixHash) ?? 0n) !== 0n && (quantityOf(difficulty) ?? 0n) === 0n
  return {
    next: {
      number: number + 1n,
      timestamp: timestamp + (elapsed > usual && elapsed <= Math.max(clockBlocks * usual, clockSeconds) ? elapsed : usual),
      gasLimit: quantityOf(gasLimit) ?? 0n,
      coinbase: (typeof miner === 'string' ? canonicalAddress(miner.toLowerCase()) : undefined) ?? nativeAddress,
      ...(nextBaseFeeRaw !== undefined && { baseFeeRaw: nextBaseFeeRaw }),
      ...(hasRandao && { randao: `0x${randomBytes(32).toString('hex')}` }),
    },
    nativeRaw,
    code: resultOf(rpc, 'eth_getCode', code),
  }
}

/** As nodes take them: https://github.com/ethereum/execution-apis/blob/main/src/schemas/execute.yaml */
export const blockOverrides = ({ number, timestamp, gasLimit, coinbase, baseFeeRaw, randao }: NextBlock) => ({
  number: toQuantity(number),
  time: toQuantity(timestamp),
  gasLimit: toQuantity(gasLimit),
  feeRecipient: coinbase,
  ...(baseFeeRaw !== undefined && { baseFeePerGas: toQuantity(baseFeeRaw) }),
  ...(randao !== undefined && { prevRandao: randao }),
})

/** What a step pays, wei per gas. */
export interface StepFees {
  readonly gasLimit: bigint
  readonly maxFeeRaw: bigint
  /** Absent: a transaction of type 0. */
  readonly tipRaw?: bigint
}

/** @param fees what the rail's check gave: `EvmFees` */
export function stepFeesOf(fees: Json): StepFees {
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas, legacy } = isObject(fees) ? fees : {}
  const tipRaw = legacy === true ? undefined : rawOf(maxPriorityFeePerGas)
  return { gasLimit: rawOf(gasLimit), maxFeeRaw: rawOf(maxFeePerGas), ...(tipRaw !== undefined && { tipRaw }) }
}

const rawOf = (text: Json | undefined): bigint => (typeof text === 'string' && /^\d+$/.test(text) ? BigInt(text) : 0n)

const usualGas = 5_000_000n
const usualTipRaw = 1_000_000_000n

/** Where nobody has priced the steps: as the policy would, with as much gas as the wallet can pay. */
export function usualFees(
  steps: readonly EvmIntent[],
  nativeRaw: bigint,
  { baseFeeRaw }: NextBlock,
  policy: FeePolicy,
): readonly StepFees[] {
  const tipRaw = policy.minTipRaw > usualTipRaw ? policy.minTipRaw : usualTipRaw
  const maxFeeRaw = policyMaxFee(baseFeeRaw ?? 0n, tipRaw, policy)
  const spareRaw = nativeRaw - steps.reduce((sum, { value }) => sum + BigInt(value), 0n)
  const payable = spareRaw > 0n ? spareRaw / maxFeeRaw / BigInt(Math.max(1, steps.length)) : 0n
  return steps.map(() => ({ gasLimit: min(usualGas, payable), maxFeeRaw, ...(!policy.legacy && { tipRaw }) }))
}

export const effectivePriceRaw = ({ maxFeeRaw, tipRaw }: StepFees, { baseFeeRaw = 0n }: NextBlock): bigint =>
  tipRaw === undefined ? maxFeeRaw : min(maxFeeRaw, baseFeeRaw + tipRaw)

/** The prices as nodes take them in a call. */
export const priceFields = ({ maxFeeRaw, tipRaw }: StepFees) =>
  tipRaw === undefined
    ? { gasPrice: toQuantity(maxFeeRaw) }
    : { maxFeePerGas: toQuantity(maxFeeRaw), maxPriorityFeePerGas: toQuantity(tipRaw) }

export const gasFields = (fees: StepFees) => ({ ...priceFields(fees), gas: toQuantity(fees.gasLimit) })
