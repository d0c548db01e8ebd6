import { expect } from 'chai'
import {
  mulDiv,
  getAmountsForLiquidity,
  getLiquidityForAmount0,
  getLiquidityForAmount1,
  getLiquidityForAmounts,
  getAmount0Delta,
  getAmount1Delta,
  getNextSqrtPriceFromInput,
  getNextSqrtPriceFromOutput,
  getSqrtRatioAtTick,
  getTickAtSqrtRatio,
  maxSqrtRatioX96,
  maxTick,
  minSqrtRatioX96,
} from '../../../../../kits/amm/v3/math.ts'
import { computeSwapStep } from './compute-swap-step.ts'
import { contractLibraries, type Answer, type Argument, type ContractLibraries } from './contract-libraries.ts'
import { randomBits } from '../../../../../testkit/random-bits.ts'

const randomInputs = 10_000
const seed = 20_210_505
const { below, bits } = randomBits(seed)

/** A kind of argument: its edge values, and a random one. */
interface Kind<T extends Argument> {
  readonly edges: readonly T[]
  readonly random: () => T
}

const oneX96 = 2n ** 96n
const price: Kind<bigint> = {
  edges: [0n, 1n, minSqrtRatioX96, minSqrtRatioX96 + 1n, oneX96, oneX96 + 1n, maxSqrtRatioX96 - 1n, maxSqrtRatioX96, 2n ** 160n - 1n],
  random: () => bits(160),
}
/** A price that a pool can have. */
const poolPrice: Kind<bigint> = {
  edges: [minSqrtRatioX96, minSqrtRatioX96 + 1n, oneX96 - 1n, oneX96, oneX96 + 2n ** 64n, maxSqrtRatioX96 - 1n],
  random: () => minSqrtRatioX96 + (bits(160) % (maxSqrtRatioX96 - minSqrtRatioX96)),
}
const liquidity: Kind<bigint> = { edges: [0n, 1n, 2n ** 64n + 1n, 2n ** 127n, 2n ** 128n - 1n], random: () => bits(128) }
const amount: Kind<bigint> = {
  edges: [0n, 1n, 2n, 10n ** 18n, 2n ** 128n - 1n, 2n ** 160n - 1n, 2n ** 160n, 2n ** 255n, 2n ** 256n - 1n],
  random: () => bits(256),
}
/** Signed as in the contract: an exact output is below 0. */
const remaining: Kind<bigint> = {
  edges: [0n, 1n, 2n, 10n ** 18n, 2n ** 128n, 2n ** 255n - 1n].flatMap((value) => (value === 0n ? [value] : [value, -value])),
  random: () => (below(2) === 0 ? bits(255) : -bits(255)),
}
const feePips: Kind<bigint> = { edges: [0n, 1n, 3000n, 999_999n], random: () => BigInt(below(1_000_000)) }
const flag: Kind<boolean> = { edges: [false, true], random: () => below(2) === 0 }
const powers = Array.from({ length: 21 }, (_, bit) => 2 ** bit).flatMap((power) => [power - 1, power, power + 1])
const tick: Kind<number> = {
  edges: [...powers, maxTick - 1, maxTick, maxTick + 1].flatMap((value) => [value, -value]),
  random: () => below(2 * maxTick + 1) - maxTick,
}
/** Also at, just below and just above the prices of ticks. */
const priceNearTick: Kind<bigint> = {
  edges: [...price.edges, ...tick.edges.filter((at) => Math.abs(at) <= maxTick).flatMap((at) => around(getSqrtRatioAtTick(at)))],
  random: () => (below(2) === 0 ? bits(160) : (around(getSqrtRatioAtTick(tick.random()))[below(3)] ?? 0n)),
}

function around(value: bigint): readonly bigint[] {
  return [value - 1n, value, value + 1n]
}

/** A function of the contracts with its arguments, and our function on these. */
interface Case {
  readonly kinds: readonly Kind<Argument>[]
  ours(args: readonly Argument[]): readonly (bigint | number)[]
  /** The contract's result in our form. */
  theirs?(answer: readonly bigint[]): readonly bigint[]
}

const big = (value: Argument | undefined): bigint => (typeof value === 'bigint' ? value : 0n)
const bigs =
  (ours: (...args: bigint[]) => bigint) =>
  (args: readonly Argument[]): readonly bigint[] => [ours(...args.map(big))]
const flagged =
  (ours: (a: bigint, b: bigint, c: bigint, flag: boolean) => bigint) =>
  ([a, b, c, last]: readonly Argument[]): readonly bigint[] => [ours(big(a), big(b), big(c), last === true)]

const cases: Readonly<Record<string, Case>> = {
  mulDiv: { kinds: [amount, amount, amount], ours: bigs(mulDiv) },
  getSqrtRatioAtTick: { kinds: [tick], ours: ([at]) => [getSqrtRatioAtTick(Number(at))] },
  getTickAtSqrtRatio: { kinds: [priceNearTick], ours: ([at]) => [getTickAtSqrtRatio(big(at))] },
  getAmount0Delta: { kinds: [price, price, liquidity, flag], ours: flagged(getAmount0Delta) },
  getAmount1Delta: { kinds: [price, price, liquidity, flag], ours: flagged(getAmount1Delta) },
  getNextSqrtPriceFromInput: { kinds: [price, liquidity, amount, flag], ours: flagged(getNextSqrtPriceFromInput) },
  getNextSqrtPriceFromOutput: { kinds: [price, liquidity, amount, flag], ours: flagged(getNextSqrtPriceFromOutput) },
  computeSwapStep: {
    kinds: [poolPrice, poolPrice, liquidity, remaining, feePips],
    ours: ([current, target, available, left, fee]) => {
      const exact = big(left) < 0n ? 'out' : 'in'
      const size = big(left) < 0n ? -big(left) : big(left)
      const step = computeSwapStep(big(current), big(target), big(available), exact, size, big(fee))
      return [step.sqrtRatioNextX96, step.paidRaw, step.outRaw]
    },
    theirs: ([next = 0n, amountIn = 0n, amountOut = 0n, feeAmount = 0n]) => [next, amountIn + feeAmount, amountOut],
  },
  getLiquidityForAmount0: { kinds: [price, price, amount], ours: bigs(getLiquidityForAmount0) },
  getLiquidityForAmount1: { kinds: [price, price, amount], ours: bigs(getLiquidityForAmount1) },
  getLiquidityForAmounts: { kinds: [price, price, price, amount, amount], ours: bigs(getLiquidityForAmounts) },
  getAmountsForLiquidity: {
    kinds: [price, poolPrice, poolPrice, liquidity],
    ours: ([at, a, b, held]) => {
      const { amount0, amount1 } = getAmountsForLiquidity(big(at), big(a), big(b), big(held))
      return [amount0, amount1]
    },
  },
}

describe('the mathematics of concentrated liquidity', () => {
  let libraries: ContractLibraries
  before(async () => {
    libraries = await contractLibraries()
  })
  after(() => libraries.stop())

  for (const [name, { kinds, ours, theirs: asOurs }] of Object.entries(cases)) {
    it(`equals the contracts' ${name}, and throws where it reverts`, async () => {
      const inputs = [...allOf(kinds), ...Array.from({ length: randomInputs }, () => kinds.map(({ random }) => random()))]
      const expected = await libraries.ask(name, inputs)
      expect(expected.filter((answer) => answer !== undefined)).to.have.length.above(randomInputs / 20)
      const wrong = inputs.flatMap((input, index) => {
        const answer = expected[index]
        const [mine, theirs] = [attempt(() => ours(input)), answer && asOurs ? asOurs(answer) : answer]
        return String(mine) === String(theirs) ? [] : [{ input, mine, theirs }]
      })
      expect(wrong.slice(0, 3)).to.deep.equal([])
    })
  }
})

/** Every combination of edges. */
function allOf(kinds: readonly Kind<Argument>[]): readonly (readonly Argument[])[] {
  return kinds.reduce<readonly (readonly Argument[])[]>(
    (lists, { edges }) => lists.flatMap((list) => edges.map((edge) => [...list, edge])),
    [[]],
  )
}

function attempt(compute: () => readonly (bigint | number)[]): Answer {
  try {
    return compute().map((value) => BigInt.asIntN(256, BigInt(value)))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
