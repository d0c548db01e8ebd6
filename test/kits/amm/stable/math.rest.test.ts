import { expect } from 'chai'
import fc from 'fast-check'
import { poolKinds } from '../../../../kits/amm/stable/pools.ts'
import {
  getD,
  getY,
  amountIn,
  amountOut,
  precision,
  spotPrice,
  stablePoolState,
  type StablePoolState,
} from '../../../../kits/amm/stable/math.ts'
import { contractPool, type Case } from './contract-pool.ts'

const decimals = [18, 6, 6, 18]
const rates = decimals.map((each) => precision * 10n ** BigInt(18 - each))

const stateOf = ({ balances, amplification, fee }: Case, kind: keyof typeof poolKinds = 'first') =>
  stablePoolState({ balances, ramp: atRest(amplification), fee, adminFee: 0n, rates, rounding: poolKinds[kind] })

const atRest = (amplification: bigint) => ({ initial: amplification, future: amplification, initialTime: 0n, futureTime: 0n })

/** From one unit to more than the supply of any coin, equally many of every magnitude. */
const amount = (most: number) =>
  fc.tuple(fc.nat({ max: most }), fc.bigInt({ min: 1n, max: 9_999n })).map(([digits, lead]) => (lead * 10n ** BigInt(digits)) / 1000n + 1n)
const balance = (index: number) =>
  fc.oneof({ weight: 4, arbitrary: aboutMillion(index) }, { weight: 1, arbitrary: amount((decimals[index] ?? 0) + 9) })
const aboutMillion = (index: number) =>
  fc.bigInt({ min: 10n ** BigInt((decimals[index] ?? 0) + 5), max: 10n ** BigInt((decimals[index] ?? 0) + 7) })
const someCase: fc.Arbitrary<Case> = fc
  .record({
    balances: fc.tuple(balance(0), balance(1), balance(2), balance(3)),
    amplification: fc.oneof(fc.constantFrom(1n, 256n, 2000n, 10n ** 6n), fc.bigInt({ min: 1n, max: 5000n })),
    fee: fc.oneof(fc.constantFrom(0n, 4_000_000n, 5n * 10n ** 9n), fc.bigInt({ min: 0n, max: 10n ** 8n })),
    from: fc.nat({ max: 3 }),
    other: fc.nat({ max: 2 }),
    amountRaw: amount(30),
  })
  .map(({ from, other, ...rest }) => ({ ...rest, from, to: other < from ? other : other + 1 }))

const cases = (count: number, seed: number) => fc.sample(someCase, { numRuns: count, seed })
const edges: readonly Case[] = [1n, 256n, 10n ** 6n].flatMap((amplification) =>
  [0n, 1n, 4_000_000n, 5n * 10n ** 9n].flatMap((fee) =>
    [1n, 2n, 10n ** 6n, 10n ** 12n - 1n, 10n ** 12n, 10n ** 24n, 10n ** 36n, 2n ** 195n, 2n ** 255n].flatMap((amountRaw) =>
      [
        [0, 1],
        [1, 0],
        [1, 2],
        [0, 3],
      ].map(([from = 0, to = 0]) => ({
        balances: [10n ** 24n, 10n ** 12n, 3n * 10n ** 12n, 1n],
        amplification,
        fee,
        from,
        to,
        amountRaw,
      })),
    ),
  ),
)

describe('the mathematics of stable pools', function () {
  this.timeout(300_000)
  let contract: Awaited<ReturnType<typeof contractPool>>
  before(async () => void (contract = await contractPool()))
  after(() => contract.stop())

  const ours = (each: Case) => {
    const state = stateOf(each)
    return state && amountOut(state, each.from, each.to, each.amountRaw)
  }

  it("equals Curve's contract to the unit, for 10,000 random pools and amounts and all edges", async () => {
    const asked = [...cases(10_000, 1), ...edges]
    const expected = asked.map(ours)
    const at = (surplus: bigint) => contract.gives(asked.map((each, index) => ({ ...each, minRaw: (expected[index] ?? 0n) + surplus })))
    const [asMuch, more] = [await at(0n), await at(1n)]
    for (const [index, each] of asked.entries()) {
      const said = `${JSON.stringify(each, (_, value) => (typeof value === 'bigint' ? String(value) : value))}: ${expected[index]}`
      // So small or large that the contract refuses it, or gives nothing.
      if (expected[index] === undefined) expect(asMuch[index], said).to.equal(false)
      else if (expected[index] > 0n) expect(asMuch[index], said).to.equal(true)
      expect(more[index], said).to.equal(false)
    }
    expect(expected.filter((each) => each !== undefined && each > 0n)).to.have.length.above(7000)
  })

  it('gives what the contract’s get_dy promises, or one unit less as its exchange does', async () => {
    const asked = cases(3000, 2)
    const promised = await contract.promised(asked)
    let less = 0
    for (const [index, each] of asked.entries()) {
      const [mine, theirs] = [ours(each), promised[index]]
      if (mine === undefined || mine === 0n || theirs === undefined) continue
      expect(theirs - mine === 0n || theirs - mine === 1n, `${mine} and ${theirs}`).to.equal(true)
      if (theirs > mine) less += 1
    }
    expect(less).to.be.above(0)
  })

  it('finds the least input for which the contract gives the output', async () => {
    const asked = cases(5000, 3).flatMap((each) => {
      const state = stateOf(each)
      const minRaw = each.amountRaw
      const amountRaw = state && amountIn(state, each.from, each.to, minRaw)
      return amountRaw === undefined ? [] : [{ ...each, amountRaw, minRaw }]
    })
    expect(asked).to.have.length.above(1500)
    expect((await contract.gives(asked)).every((enough) => enough)).to.equal(true)
    const less = asked.filter(({ amountRaw }) => amountRaw > 1n).map((each) => ({ ...each, amountRaw: each.amountRaw - 1n }))
    expect((await contract.gives(less)).some((enough) => enough)).to.equal(false)
  })

  it('equals the later contracts, by another exchange’s port of them, for 10,000 random pools of two to eight coins', async () => {
    const pool = fc.record({
      xp: fc.oneof(
        { weight: 3, arbitrary: fc.array(aboutMillion(0), { minLength: 2, maxLength: 8 }) },
        { weight: 1, arbitrary: fc.array(amount(28), { minLength: 2, maxLength: 8 }) },
      ),
      a: fc.bigInt({ min: 100n, max: 10n ** 6n }),
      x: fc.oneof({ weight: 3, arbitrary: aboutMillion(0) }, { weight: 1, arbitrary: amount(30) }),
    })
    const asked = fc.sample(pool, { numRuns: 10_000, seed: 4 })
    const { template, second } = poolKinds
    const annOf = ({ xp, a }: { xp: bigint[]; a: bigint }) => a * BigInt(xp.length)
    const expected = asked.map((each) => getD(each.xp, annOf(each), template))
    expect(
      await contract.library(
        'getD',
        asked.map(({ xp, a }) => [xp, a]),
      ),
    ).to.deep.equal(expected)
    const y = asked.map((each, index) => {
      const d = expected[index]
      return d === undefined ? undefined : getY(each.xp, { index: 0, x: each.x }, 1, { ann: annOf(each), d, rounding: template })
    })
    expect(
      await contract.library(
        'getY',
        asked.map(({ xp, a, x }) => [a, 0, 1, x, xp]),
      ),
    ).to.deep.equal(y)
    expect(y.filter((each) => each !== undefined)).to.have.length.above(7000)

    // The versions between have no more digits of the amplification, and are otherwise equal.
    const whole = asked.slice(0, 2000).map((each) => ({ ...each, a: each.a / 100n }))
    expect(
      await contract.library(
        'getD',
        whole.map(({ xp, a }) => [xp, a * 100n]),
      ),
    ).to.deep.equal(whole.map((each) => getD(each.xp, annOf(each), { ...second, mustConverge: true })))
  })

  for (const kind of ['first', 'second', 'template'] as const) {
    const state = someCase.map((each) => ({ each, state: stateOf(each, kind) }))
    const pools = state.filter((one): one is { each: Case; state: StablePoolState } => one.state !== undefined)

    it(`finds the least input for an output: ${kind}`, () => {
      fc.assert(
        fc.property(pools, ({ each: { from, to, amountRaw }, state: pool }) => {
          const inRaw = amountIn(pool, from, to, amountRaw)
          if (inRaw === undefined) return true
          const [enough, less] = [
            amountOut(pool, from, to, inRaw) ?? -1n,
            inRaw > 1n ? (amountOut(pool, from, to, inRaw - 1n) ?? -1n) : -1n,
          ]
          return enough >= amountRaw && less < amountRaw
        }),
        { numRuns: 1000 },
      )
    })

    it(`has a marginal price that small amounts approach and never beat: ${kind}`, () => {
      fc.assert(
        fc.property(fc.bigInt({ min: 1n, max: 10n ** 4n }), fc.nat({ max: 3 }), fc.nat({ max: 2 }), (amplification, from, other) => {
          const to = other < from ? other : other + 1
          const balances = [2n * 10n ** 30n, 10n ** 18n, 3n * 10n ** 18n, 10n ** 30n]
          const pool = stateOf({ balances, amplification, fee: 0n, from, to, amountRaw: 0n }, kind)
          if (!pool) return false
          const { numerator, denominator } = spotPrice(pool, from, to)
          const inRaw = (balances[from] ?? 0n) / 10n ** 6n
          const bestRaw = (inRaw * numerator) / denominator
          const outRaw = amountOut(pool, from, to, inRaw) ?? 0n
          // In millionths: how much the amount moves the price.
          return outRaw <= bestRaw + 1n && bestRaw - outRaw <= bestRaw / 10_000n
        }),
      )
    })
  }
})
