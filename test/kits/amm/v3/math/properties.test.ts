import * as fc from 'fast-check'
import {
  getAmount0Delta,
  getAmount1Delta,
  getAmountsForLiquidity,
  getLiquidityForAmounts,
  getSqrtRatioAtTick,
  getTickAtSqrtRatio,
  maxSqrtRatioX96,
  maxTick,
  minSqrtRatioX96,
  minTick,
  wholeFeePips,
  withoutFee,
} from '../../../../../kits/amm/v3/math.ts'
import { computeSwapStep } from './compute-swap-step.ts'

const price = fc.bigInt(minSqrtRatioX96, maxSqrtRatioX96 - 1n)
// Prices of all magnitudes alike. A plain range would give high ones only.
const anyPrice = fc
  .tuple(fc.integer({ min: minTick, max: maxTick - 1 }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([tick, part]) => {
    const [lower, upper] = [getSqrtRatioAtTick(tick), getSqrtRatioAtTick(tick + 1)]
    return lower + ((upper - lower) * BigInt(Math.floor(part * 1_000_000))) / 1_000_001n
  })
const liquidity = fc.bigInt(1n, 2n ** 110n)
const amount = fc.bigInt(1n, 2n ** 120n)
const feePips = fc.constantFrom(0n, 100n, 500n, 2500n, 3000n, 10_000n)

describe('the mathematics of concentrated liquidity', () => {
  it('finds for every price the highest tick that is not above it', () => {
    fc.assert(
      fc.property(fc.oneof(price, anyPrice), (at) => {
        const tick = getTickAtSqrtRatio(at)
        return getSqrtRatioAtTick(tick) <= at && at < getSqrtRatioAtTick(tick + 1)
      }),
    )
  })

  it('never takes more than the remaining input or gives more than the remaining output', () => {
    fc.assert(
      fc.property(anyPrice, anyPrice, liquidity, amount, feePips, (from, to, available, left, fee) => {
        const into = computeSwapStep(from, to, available, 'in', left, fee)
        const out = computeSwapStep(from, to, available, 'out', left, fee)
        return into.paidRaw <= left && out.outRaw <= left
      }),
    )
  })

  it('stops between the price and its target, and uses the whole amount where it stops early', () => {
    fc.assert(
      fc.property(anyPrice, anyPrice, liquidity, amount, feePips, (from, to, available, left, fee) =>
        (['in', 'out'] as const).every((exact) => {
          const { sqrtRatioNextX96: next, paidRaw, outRaw } = computeSwapStep(from, to, available, exact, left, fee)
          const between = from <= to ? from <= next && next <= to : to <= next && next <= from
          return between && (next === to || (exact === 'in' ? paidRaw : outRaw) === left)
        }),
      ),
    )
  })

  it('gives an exact input no more than the same input would buy as an exact output', () => {
    fc.assert(
      fc.property(anyPrice, anyPrice, liquidity, amount, feePips, (from, to, available, left, fee) => {
        const { outRaw } = computeSwapStep(from, to, available, 'in', left, fee)
        if (outRaw === 0n) return true
        const back = computeSwapStep(from, to, available, 'out', outRaw, fee)
        // An output of everything up to the target, rounded down, moves the price to the target.
        return back.sqrtRatioNextX96 === to || back.paidRaw <= left
      }),
    )
  })

  it('takes at least its fee of the input, and exactly its fee where it reaches the target', () => {
    fc.assert(
      fc.property(anyPrice, anyPrice, liquidity, amount, feePips, (from, to, available, left, fee) =>
        (['in', 'out'] as const).every((exact) => {
          const { sqrtRatioNextX96: next, paidRaw } = computeSwapStep(from, to, available, exact, left, fee)
          const amountIn = (from >= to ? getAmount0Delta : getAmount1Delta)(from, next, available, true)
          const isJust = withoutFee(paidRaw, fee) === amountIn
          return (paidRaw - amountIn) * wholeFeePips >= paidRaw * fee && (isJust || (exact === 'in' && next !== to))
        }),
      ),
    )
  })

  it('makes liquidity that takes no more than the deposit and gives back no more', () => {
    fc.assert(
      fc.property(anyPrice, anyPrice, anyPrice, amount, amount, (at, a, b, most0, most1) => {
        fc.pre(a !== b)
        let made: bigint
        try {
          made = getLiquidityForAmounts(at, a, b, most0, most1)
        } catch (error) {
          // More than 128 bits: so narrow a range does not take such amounts.
          return error instanceof RangeError
        }
        const taken = getAmountsForLiquidity(at, a, b, made, true)
        const given = getAmountsForLiquidity(at, a, b, made)
        return taken.amount0 <= most0 && taken.amount1 <= most1 && given.amount0 <= taken.amount0 && given.amount1 <= taken.amount1
      }),
    )
  })
})
