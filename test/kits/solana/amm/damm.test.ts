import { expect } from 'chai'
import { assert, bigInt, constantFrom, integer, property, record } from 'fast-check'
import type { DammPool, DammState } from '../../../../kits/solana/amm/damm/accounts.ts'
import { feeNow } from '../../../../kits/solana/amm/damm/fees.ts'
import { quoteDamm } from '../../../../kits/solana/amm/damm/quote.ts'
import { maxU64, type Clock, type Swap } from '../../../../kits/solana/amm/swap-quote.ts'
import type { MintTerms } from '../../../../kits/solana/mint-extensions.ts'
import { readVectors } from './vectors.ts'

const clock: Clock = { slot: 350_000_000n, epoch: 800n, unixTime: 1_790_000_000n }
const free: MintTerms = { decimals: 6, program: 'Token', transferFee: null }
const noAddress = '11111111111111111111111111111111'
const one = 1n << 64n
const percent = 10_000_000n

const poolWith = (part: Partial<DammPool> = {}): DammPool => ({
  mints: [noAddress, noAddress],
  vaults: [noAddress, noAddress],
  programs: [noAddress, noAddress],
  isEnabled: true,
  activation: { point: clock.unixTime - 1_000n, by: 'time' },
  feeMode: 'both',
  schedule: { cliff: percent, kind: 'linear', periods: 0, periodLength: 0n, reduction: 0n },
  protocolFeePercent: 20n,
  compoundingBasisPoints: 0n,
  maxFee: 500_000_000n,
  liquidity: 1_000_000_000n << 64n,
  sqrtPrices: { min: 4_295_048_016n, max: 79_226_673_521_066_979_257_578_248_091n, now: one },
  amountsRaw: [1_000_000_000n, 1_000_000_000n],
  owedRaw: [0n, 0n],
  ...part,
})
const stateWith = (part: Partial<DammPool> = {}, mints: DammState['mints'] = [free, free]): DammState => ({ pool: poolWith(part), mints })
const pay = (amountRaw: bigint, pays: 0 | 1 = 0): Swap => ({ pays, exact: 'in', amountRaw })
const get = (amountRaw: bigint, pays: 0 | 1 = 0): Swap => ({ pays, exact: 'out', amountRaw })
const refusal = (part: Partial<DammPool>, swap: Swap) => {
  const quote = quoteDamm(stateWith(part), clock, swap)
  return 'refused' in quote ? quote.refused : undefined
}

describe("the arithmetic of Meteora's DAMM v2", () => {
  it('does what the real program did, in each of its recorded steps', () => {
    const vectors = readVectors('damm')
    expect(vectors.length).to.be.above(30)
    for (const { state, clock: then, swap, moved, refused } of vectors) {
      const { terms, ...pool } = state as DammPool & { terms: DammState['mints'] }
      const quote = quoteDamm(stateWith({ ...pool }, terms), then as Clock, swap)
      if (refused !== undefined) expect(quote).to.deep.equal({ refused })
      else expect('refused' in quote ? quote : [quote.inRaw, quote.outRaw]).to.deep.equal(moved)
    }
  })

  it('takes the fee of what comes out, or always in the second token', () => {
    const feeOf = (feeMode: DammPool['feeMode'], swap: Swap) => {
      const quote = quoteDamm(stateWith({ feeMode }), clock, swap)
      return 'refused' in quote ? quote.refused : [quote.feeOn, quote.feeRaw, quote.protocolFeeRaw]
    }
    // 1,000,000 of 1,000,000,000: 999,000 are swapped, 1 % of which is 9,990, or of all that is paid 10,000.
    expect(feeOf('both', pay(1_000_000n, 0))).to.deep.equal(['out', 9_990n, 1_998n])
    expect(feeOf('both', pay(1_000_000n, 1))).to.deep.equal(['out', 9_990n, 1_998n])
    expect(feeOf('only-second', pay(1_000_000n, 0))).to.deep.equal(['out', 9_990n, 1_998n])
    for (const mode of ['only-second', 'compounding'] as const)
      expect(feeOf(mode, pay(1_000_000n, 1))).to.deep.equal(['in', 10_000n, 2_000n])
  })

  it('lets a fee fall with slots or seconds, in one of two ways, down to its last period', () => {
    const fee = (by: 'slot' | 'time', kind: 'linear' | 'exponential', passed: bigint, reduction: bigint) => {
      const point = (by === 'slot' ? clock.slot : clock.unixTime) - passed
      return feeNow(
        poolWith({ activation: { point, by }, schedule: { cliff: percent, kind, periods: 10, periodLength: 60n, reduction } }),
        clock,
      )
    }
    for (const by of ['slot', 'time'] as const) {
      const linear = [0n, 59n, 60n, 599n, 600n, 10n ** 9n].map((passed) => fee(by, 'linear', passed, 500_000n))
      expect(linear).to.deep.equal([percent, percent, 9_500_000n, 5_500_000n, 5_000_000n, 5_000_000n])
      // A tenth less each time; the tenth is rounded down, and the fee after it.
      const exponential = [0n, 60n, 120n, 600n, 10n ** 9n].map((passed) => fee(by, 'exponential', passed, 1_000n))
      expect(exponential).to.deep.equal([percent, 9_000_000n, 8_100_000n, 3_486_784n, 3_486_784n])
    }
  })

  it('adds a fee for a price that moved, up to the highest fee of the pool', () => {
    const fee = (volatility: bigint, maxFee = 500_000_000n) =>
      feeNow(poolWith({ dynamicFee: { volatility, binStep: 1n, control: 956n }, maxFee }), clock)
    expect(fee(0n)).to.equal(percent)
    // 956 × 1,000,000² / 10¹¹, rounded up.
    expect(fee(1_000_000n)).to.equal(percent + 9_560n)
    expect(fee(1_000_001n)).to.equal(percent + 9_561n)
    expect(fee(10n ** 9n)).to.equal(500_000_000n)
    expect(fee(10n ** 9n, 990_000_000n)).to.equal(990_000_000n)
  })

  it('refuses by kind what the program refuses, and fees that are not known here', () => {
    expect(refusal({ isEnabled: false }, pay(1_000n))).to.equal('disabled')
    expect(refusal({ activation: { point: clock.unixTime + 1n, by: 'time' } }, pay(1_000n))).to.equal('not-open')
    expect(refusal({ activation: { point: clock.unixTime + 1n, by: 'slot' } }, pay(1_000n))).to.equal('not-open')
    const { schedule: _schedule, ...limited } = poolWith()
    expect(quoteDamm({ pool: limited, mints: [free, free] }, clock, pay(1_000n))).to.deep.equal({ refused: 'unknown-fees' })
    for (const amountRaw of [0n, -1n, 1n]) expect(refusal({}, pay(amountRaw))).to.equal('too-little')
    expect(refusal({}, pay(maxU64 + 1n))).to.equal('overflow')
    expect(refusal({}, get(1_000_000_000n))).to.equal('too-much')
    expect(refusal({ feeMode: 'compounding' }, get(1_000_000_000n))).to.equal('too-much')
    expect(refusal({ liquidity: 0n }, pay(1_000n))).to.equal('no-reserves')
    const narrow = { min: one - 1_000n, max: one + 1_000n, now: one }
    for (const pays of [0, 1] as const) expect(refusal({ sqrtPrices: narrow }, pay(1_000_000n, pays))).to.equal('too-much')
    for (const pays of [0, 1] as const) expect(refusal({ sqrtPrices: narrow }, get(1_000_000n, pays))).to.equal('too-much')
  })

  const anyPool = record({
    feeMode: constantFrom<DammPool['feeMode']>('both', 'only-second', 'compounding'),
    cliff: bigInt(100_000n, 499_000_000n),
    liquidity: bigInt(1n << 70n, 1n << 110n),
    shift: integer({ min: -20, max: 20 }),
    first: bigInt(1n, 2n ** 60n),
    second: bigInt(1n, 2n ** 60n),
  }).map(({ feeMode, cliff, liquidity, shift, first, second }) =>
    stateWith({
      feeMode,
      liquidity,
      amountsRaw: [first, second],
      schedule: { cliff, kind: 'linear', periods: 0, periodLength: 0n, reduction: 0n },
      sqrtPrices: { ...poolWith().sqrtPrices, now: shift < 0 ? one >> BigInt(-shift) : one << BigInt(shift) },
    }),
  )

  it('never gives more for exactly the input that an exact output costs, nor takes less fee than the rate', () =>
    assert(
      property(anyPool, constantFrom<0 | 1>(0, 1), bigInt(1n, maxU64), (state, pays, amountRaw) => {
        const paid = quoteDamm(state, clock, pay(amountRaw, pays))
        if ('refused' in paid) return
        const cliff = state.pool.schedule!.cliff
        const base = paid.feeOn === 'in' ? paid.inRaw : paid.outRaw + paid.feeRaw
        expect(paid.feeRaw * 1_000_000_000n >= base * cliff).to.equal(true)
        const got = quoteDamm(state, clock, get(paid.outRaw, pays))
        if ('refused' in got) expect(got.refused).to.equal('too-much')
        else expect(got.inRaw <= amountRaw).to.equal(true)
        for (const raw of [paid.inRaw, paid.outRaw, paid.feeRaw]) expect(raw >= 0n && raw <= maxU64).to.equal(true)
      }),
      { numRuns: 400 },
    ))
})
