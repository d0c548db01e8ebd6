import type { FeeWish } from '../../../contracts/index.ts'
import { isBytes } from '../quantity.ts'
import type { EvmIntent } from '../../../../kits/evm/types.ts'
import { checkWish, leastReplacement, max, min, priceFees } from '../../../../kits/evm/fees.ts'
import type { EvmFees, PricedFees, Prices } from '../../../../kits/evm/fees.ts'

/** Yellow paper, G_transaction. */
const transactionGas = 21_000n
/** https://eips.ethereum.org/EIPS/eip-2028. Where EIP-7623 holds, calldata costs more still. */
const zeroByteGas = 4n
const byteGas = 16n
/** What a router takes to find its function, look at the clock and revert: rounded down. */
const lateCallGas = 300n

/**
 * The price of another attempt in place of `over`: both fees raised by the policy's percentage, and at least what the policy
 * pays now. Cut to the cap; undefined where that leaves less than nodes take as a replacement.
 */
export function bumpedPrice(over: EvmFees, { baseFeeRaw, tipRaw, policy, feeCapRaw }: Prices): PricedFees | undefined {
  const least = leastReplacement(over, policy.leastBumpPercent)
  if (least.maxFeeRaw > feeCapRaw) return undefined
  const wanted = leastReplacement(over, Math.max(policy.bumpPercent, policy.leastBumpPercent))
  const tip = max(wanted.tipRaw, tipRaw ?? 0n, policy.minTipRaw)
  const byPolicy = (baseFeeRaw * BigInt(Math.round(policy.baseFeeMultiplier * 1000))) / 1000n + tip
  const maxFeeRaw = min(max(wanted.maxFeeRaw, byPolicy), feeCapRaw)
  return priceAt(baseFeeRaw, maxFeeRaw, min(tip, maxFeeRaw))
}

export function bumpFees(over: EvmFees, prices: Prices): EvmFees | undefined {
  const price = bumpedPrice(over, prices)
  return price && { ...over, maxFeePerGas: String(price.maxFeeRaw), maxPriorityFeePerGas: String(price.tipRaw) }
}

/** Fees of another attempt as a caller wishes them. @throws the caller's error where they cannot be */
export function wishedFees(over: EvmFees, wish: FeeWish, prices: Prices): EvmFees {
  checkWish(wish, prices.feeCapRaw)
  const { maxFeeRaw, tipRaw } = priceFees(wish, over, prices)
  return { ...over, maxFeePerGas: String(maxFeeRaw), maxPriorityFeePerGas: String(tipRaw) }
}

/** What reverts for being late burns at least, against a transfer of nothing at the price that replaces it. */
export function cancelIsCheaper({ data }: EvmIntent, fees: EvmFees, prices: Prices): boolean {
  const cancel = bumpedPrice(fees, prices)
  if (!cancel) return false
  const late = priceAt(prices.baseFeeRaw, BigInt(fees.maxFeePerGas), BigInt(fees.maxPriorityFeePerGas))
  return transactionGas * cancel.gasPriceRaw < (transactionGas + calldataGas(data) + lateCallGas) * late.gasPriceRaw
}

/** One that pays less than the base fee waits until that has come down to what it pays. */
function priceAt(baseFeeRaw: bigint, maxFeeRaw: bigint, tipRaw: bigint): PricedFees {
  return { maxFeeRaw, tipRaw, gasPriceRaw: min(maxFeeRaw, baseFeeRaw + tipRaw) }
}

function calldataGas(data: string): bigint {
  if (!isBytes(data)) return 0n
  const bytes = data.slice(2).match(/../g) ?? []
  const zeros = bytes.filter((byte) => byte === '00').length
  return BigInt(zeros) * zeroByteGas + BigInt(bytes.length - zeros) * byteGas
}
