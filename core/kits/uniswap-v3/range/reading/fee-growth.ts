import type { RangeAmounts } from '../../../../contracts/index.ts'

const wrap256 = (value: bigint): bigint => BigInt.asUintN(256, value)
const wrap128 = (value: bigint): bigint => BigInt.asUintN(128, value)

/** Of one token, per unit of liquidity, times 2^128. Such counters wrap around; only differences between them mean something. */
export interface FeeGrowth {
  readonly globalX128: bigint
  readonly outsideLowerX128: bigint
  readonly outsideUpperX128: bigint
}

/** Tick.getFeeGrowthInside of @uniswap/v3-core@1.0.1. */
export function feeGrowthInside(
  growth: FeeGrowth,
  tick: number,
  { tickLower, tickUpper }: { tickLower: number; tickUpper: number },
): bigint {
  const { globalX128, outsideLowerX128, outsideUpperX128 } = growth
  const below = tick >= tickLower ? outsideLowerX128 : globalX128 - outsideLowerX128
  const above = tick < tickUpper ? outsideUpperX128 : globalX128 - outsideUpperX128
  return wrap256(globalX128 - below - above)
}

/** What a contract keeps of fees in a range, for a position of its own or for all of an owner's together. */
export interface FeeAccount {
  readonly liquidity: bigint
  readonly inside0LastX128: bigint
  readonly inside1LastX128: bigint
  readonly owed: RangeAmounts
}

/** What it owes once it has counted up to now: each account rounds down by itself, and wraps as the contracts do. */
export function owedNow(
  { liquidity, inside0LastX128, inside1LastX128, owed }: FeeAccount,
  insideX128: readonly [bigint, bigint],
): RangeAmounts {
  const earned = (nowX128: bigint, lastX128: bigint) => (wrap256(nowX128 - lastX128) * liquidity) >> 128n
  return {
    amount0Raw: wrap128(owed.amount0Raw + earned(insideX128[0], inside0LastX128)),
    amount1Raw: wrap128(owed.amount1Raw + earned(insideX128[1], inside1LastX128)),
  }
}
