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
  const { gasUsed, effectiveGasPrice, l1Fee, fee } = receipt
  const used = wholeNumber(gasUsed)
  const price = wholeNumber(effectiveGasPrice)
  if (used === undefined || price === undefined) {
    const wholeFee = wholeNumber(fee)
    return wholeFee === undefined ? undefined : { feeRaw: wholeFee.toString() }
  }
  const layer1Fee = l1Fee === undefined || l1Fee === null ? 0n : wholeNumber(l1Fee)
  if (layer1Fee === undefined) return undefined
  return {
    feeRaw: (used * price + layer1Fee).toString(),
    gasUsed: used.toString(),
    ...(layer1Fee > 0n && { layer1FeeRaw: layer1Fee.toString() }),
  }
}

/** Decimal or hexadecimal digits. */
const wholeNumber = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(value) ? BigInt(value) : undefined
