// What a transaction cost its wallet, as its receipt says it.
import { isObject } from '../base/json.ts'
import type { Json } from '../contracts/index.ts'

/** Smallest units of the native coin, as decimal strings: that is how an archived entry keeps it. */
export interface Cost {
  /** All of it, with what a rollup charges for layer 1. */
  readonly feeRaw: string
  /** Units of gas; absent where the chain has no gas. */
  readonly gasUsed?: string
  /** The part of a rollup's layer 1; absent where there is none. */
  readonly layer1FeeRaw?: string
}

/** Undefined where the receipt does not tell it, as that of an exchange's own rail. */
export function costOf(receipt: Json | undefined): Cost | undefined {
  if (!isObject(receipt)) return undefined
  const { gasUsed, effectiveGasPrice, l1Fee, operatorFeeScalar, operatorFeeConstant, fee } = receipt
  const used = wholeNumber(gasUsed)
  const price = wholeNumber(effectiveGasPrice)
  if (used === undefined || price === undefined) {
    const wholeFee = wholeNumber(fee)
    return wholeFee === undefined ? undefined : { feeRaw: wholeFee.toString() }
  }
  const layer1Fee = partOf(l1Fee)
  const [scalar, constant] = [partOf(operatorFeeScalar), partOf(operatorFeeConstant)]
  // A receipt without a price has 0.
  if (layer1Fee === undefined || scalar === undefined || constant === undefined || price === 0n) return undefined
  const feeRaw = used * price + layer1Fee + (used * scalar) / million + constant
  if (feeRaw >= most) return undefined
  return { feeRaw: feeRaw.toString(), gasUsed: used.toString(), ...(layer1Fee > 0n && { layer1FeeRaw: layer1Fee.toString() }) }
}

/** The operator's fee is a factor per million gas, and an amount: https://specs.optimism.io/protocol/isthmus/exec-engine.html#operator-fee */
const million = 1_000_000n
/** What an entry can keep. */
const most = 10n ** 78n

const partOf = (value: unknown): bigint | undefined => (value === undefined || value === null ? 0n : wholeNumber(value))

/** Decimal or hexadecimal digits, or a number. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(value) ? BigInt(value) : undefined
}
