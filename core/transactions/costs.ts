// What a transaction cost its wallet, as an entry keeps it.
import type { Json, PaidFees } from '../contracts/index.ts'

/** Smallest units of the native coin, as decimal strings. */
export interface Cost {
  /** All of it, with what a rollup charges for layer 1. */
  readonly feeRaw: string
  /** Units of gas; absent where the chain has no gas. */
  readonly gasUsed?: string
  /** The part of a rollup's layer 1; absent where there is none. */
  readonly layer1FeeRaw?: string
}

/** By its receipt: the rail knows what its network charges. Undefined where that does not say all of it. */
export function costOf(
  receipt: Json | undefined,
  { paidFees }: { readonly paidFees?: (receipt: Json) => PaidFees | undefined },
): Cost | undefined {
  const paid = receipt === undefined || receipt === null ? undefined : paidFees?.(receipt)
  if (!paid) return undefined
  const { feeRaw, gasUsed, layer1FeeRaw } = paid
  if ([feeRaw, gasUsed, layer1FeeRaw].some((raw) => raw !== undefined && (raw < 0n || raw >= most))) return undefined
  return {
    feeRaw: feeRaw.toString(),
    ...(gasUsed !== undefined && { gasUsed: gasUsed.toString() }),
    ...(layer1FeeRaw !== undefined && { layer1FeeRaw: layer1FeeRaw.toString() }),
  }
}

/** What a mined transaction paid: as its entry keeps it, else by its receipt, which those of earlier versions have until they are archived. */
export function paidCost(
  { landed, signer }: { readonly landed?: { readonly cost?: Cost; readonly receipt: Json }; readonly signer?: string },
  rail: Parameters<typeof costOf>[1] | undefined,
): Cost | undefined {
  if (!landed || landed.cost || signer !== undefined || !rail) return landed?.cost
  try {
    return costOf(landed.receipt, rail)
  } catch {
    // It is not the receipt of this rail.
    return undefined
  }
}

/** What an entry can keep. */
const most = 10n ** 78n
