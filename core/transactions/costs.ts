// What a transaction cost its wallet, as an entry keeps it.
import type { Json, Outline, PaidFees } from '../contracts/index.ts'

/** Smallest units of the native coin, as decimal strings. */
export interface Cost {
  /** All of it, with what a rollup charges for layer 1. */
  readonly feeRaw: string
  /** Units of gas; absent where the chain has no gas. */
  readonly gasUsed?: string
  /** The part of a rollup's layer 1; absent where there is none. */
  readonly layer1FeeRaw?: string
  /** What accounts that it made keep beside that, at most; absent where it made none. */
  readonly rentRaw?: string
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

/** The same of what is mined, with what accounts that the step makes keep: a step that failed makes none. */
export function costOfStep(
  step: Json,
  { ok, receipt }: { readonly ok: boolean; readonly receipt: Json },
  rail: Parameters<typeof costOf>[1] & { outline(step: Json): Outline },
): Cost | undefined {
  const cost = costOf(receipt, rail)
  if (!cost || !ok) return cost
  const rentRaw = rentBy(step, rail)
  return rentRaw > 0n && rentRaw < most ? { ...cost, rentRaw: rentRaw.toString() } : cost
}

function rentBy(step: Json, rail: { outline(step: Json): Outline }): bigint {
  try {
    return rail.outline(step).rentRaw ?? 0n
  } catch {
    // It is not a step of this rail: an earlier version wrote it.
    return 0n
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
