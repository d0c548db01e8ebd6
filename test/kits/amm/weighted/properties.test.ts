import * as fc from 'fast-check'
import { one } from '../../../../kits/amm/weighted/math.ts'
import { amountIn, amountOut, type Holding, type HoldingsAlong } from '../../../../kits/amm/weighted/pools.ts'

const weight = fc.bigInt(one / 100n, (one * 98n) / 100n)
const holding = fc
  .tuple(fc.nat({ max: 100 }), fc.bigInt(0n, 2n ** 32n), weight, fc.integer({ min: 0, max: 18 }))
  .map(([bits, low, each, decimals]): Holding => ({
    balanceRaw: 2n ** BigInt(bits) + low,
    weight: each,
    scale: 10n ** BigInt(18 - decimals),
  }))
const along = fc.tuple(holding, holding).map(([into, outOf]): HoldingsAlong => ({ into, outOf }))
const terms = fc.record({ swapFee: fc.bigInt(10n ** 12n, 10n ** 17n), squares: fc.boolean() })
/** A part of a balance, of any magnitude. */
const part = fc.tuple(fc.nat({ max: 40 }), fc.bigInt(1n, 2n ** 20n)).map(
  ([bits, low]) =>
    (of: bigint) =>
      (of * low) / 2n ** BigInt(bits + 20) + 1n,
)

const state = (each: { readonly swapFee: bigint; readonly squares: boolean }) => ({ holdings: [], ...each })

describe('a weighted pool', () => {
  it('never gives back more than the input', () => {
    fc.assert(
      fc.property(along, terms, part, ({ into, outOf }, each, partOf) => {
        const inRaw = partOf(into.balanceRaw)
        const outRaw = amountOut({ into, outOf }, state(each), inRaw)
        if (outRaw === undefined || outRaw === 0n) return true
        const after = {
          into: { ...outOf, balanceRaw: outOf.balanceRaw - outRaw },
          outOf: { ...into, balanceRaw: into.balanceRaw + inRaw },
        }
        const backRaw = amountOut(after, state(each), outRaw)
        return backRaw === undefined || backRaw <= inRaw
      }),
    )
  })

  it('never beats its marginal price, for an exact input or output', () => {
    fc.assert(
      fc.property(along, terms, part, ({ into, outOf }, each, partOf) => {
        const atMargin = (inRaw: bigint, outRaw: bigint) =>
          outRaw * into.balanceRaw * outOf.weight <= inRaw * outOf.balanceRaw * into.weight
        const [inRaw, outRaw] = [partOf(into.balanceRaw), partOf(outOf.balanceRaw)]
        const given = amountOut({ into, outOf }, state(each), inRaw)
        const asked = amountIn({ into, outOf }, state(each), outRaw)
        return (given === undefined || atMargin(inRaw, given)) && (asked === undefined || atMargin(asked, outRaw))
      }),
    )
  })

  it('refuses more than 30 % of its balance, and nothing below', () => {
    fc.assert(
      fc.property(along, terms, ({ into, outOf }, each) => {
        const mostOutRaw = (outOf.balanceRaw * outOf.scale * 3n) / 10n / outOf.scale
        const roomy = { into: { ...into, balanceRaw: 10n ** 6n, scale: 1n }, outOf }
        const most = mostOutRaw === 0n || amountIn(roomy, state(each), mostOutRaw) !== undefined
        return most && amountIn(roomy, state(each), mostOutRaw + 1n) === undefined
      }),
    )
  })
})
