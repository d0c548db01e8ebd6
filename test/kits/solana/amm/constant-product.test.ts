import { expect } from 'chai'
import { assert, bigInt, constantFrom, property, record } from 'fast-check'
import type { MintTerms } from '../../../../kits/solana/mint-extensions.ts'
import type { ConstantProductState } from '../../../../kits/solana/amm/constant-product/accounts.ts'
import { quoteConstantProduct } from '../../../../kits/solana/amm/constant-product/quote.ts'
import { maxU64, type Clock, type Swap } from '../../../../kits/solana/amm/swap-quote.ts'
import { readVectors } from './vectors.ts'

const clock: Clock = { slot: 350_000_000n, epoch: 800n, unixTime: 1_790_000_000n }
const free: MintTerms = { decimals: 6, program: 'Token', transferFee: null }
const noAddress = '11111111111111111111111111111111'

type Part = Partial<Omit<ConstantProductState, 'pool' | 'config'>> & {
  pool?: Partial<ConstantProductState['pool']>
  config?: Partial<ConstantProductState['config']>
}

const stateWith = ({ pool, config, ...rest }: Part = {}): ConstantProductState => ({
  version: 'creator-fees',
  vaultsRaw: [1_000_000_000n, 150_000_000n],
  mints: [free, free],
  ...rest,
  config: { tradeFeeRate: 2_500n, protocolFeeRate: 120_000n, fundFeeRate: 40_000n, creatorFeeRate: 500n, ...config },
  pool: {
    config: noAddress,
    vaults: [noAddress, noAddress],
    mints: [noAddress, noAddress],
    programs: [noAddress, noAddress],
    decimals: [6, 6],
    observation: noAddress,
    status: 0,
    openTime: 0n,
    owedRaw: [0n, 0n],
    creatorFee: { isTaken: false, on: 0 },
    ...pool,
  },
})

const pay = (amountRaw: bigint, pays: 0 | 1 = 0): Swap => ({ pays, exact: 'in', amountRaw })
const get = (amountRaw: bigint, pays: 0 | 1 = 0): Swap => ({ pays, exact: 'out', amountRaw })
const refusal = (state: ConstantProductState, swap: Swap) => {
  const quote = quoteConstantProduct(state, clock, swap)
  return 'refused' in quote ? quote.refused : undefined
}

describe("the arithmetic of Raydium's constant-product pools", () => {
  it('does what the real program did, in each of its recorded steps', () => {
    const vectors = readVectors('constant-product')
    expect(vectors.length).to.be.above(30)
    for (const { state, clock: then, swap, moved, refused } of vectors) {
      const { status, openTime, owedRaw, ...rest } = state as ConstantProductState['pool'] & Part
      const quote = quoteConstantProduct(
        stateWith({ ...rest, version: 'early-2025', pool: { status, openTime, owedRaw } }),
        then as Clock,
        swap,
      )
      if (refused !== undefined) expect(quote).to.deep.equal({ refused })
      else expect('refused' in quote ? quote : [quote.inRaw, quote.outRaw]).to.deep.equal(moved)
    }
  })

  // Computed by hand from curve/calculator.rs: 1,000,000 in; fees 3,000 (of 3,000 millionths), a sixth of which is the creator's.
  it("takes the creator's fee of what is paid as one fee with the trade's", () => {
    const quote = quoteConstantProduct(stateWith({ pool: { creatorFee: { isTaken: true, on: 0 } } }), clock, pay(1_000_000n))
    expect(quote).to.deep.equal({
      inRaw: 1_000_000n,
      // 997,000 × 150,000,000 / 1,000,997,000
      outRaw: 149_401n,
      feeRaw: 2_500n,
      feeOn: 'in',
      protocolFeeRaw: 300n,
      fundFeeRaw: 100n,
      creatorFeeRaw: 500n,
      creatorFeeOn: 'in',
      transferFeesRaw: [0n, 0n],
    })
  })

  it("takes the creator's fee of what comes out where it is the other token's", () => {
    const state = stateWith({ pool: { creatorFee: { isTaken: true, on: 2 } } })
    const quote = quoteConstantProduct(state, clock, pay(1_000_000n))
    // 997,500 × 150,000,000 / 1,000,997,500 = 149,475; 500 millionths of it, rounded up, are 75.
    expect(quote).to.include({ outRaw: 149_400n, feeRaw: 2_500n, creatorFeeRaw: 75n, creatorFeeOn: 'out' })
    const back = quoteConstantProduct(state, clock, get(149_400n))
    expect(back).to.include({ outRaw: 149_400n, creatorFeeRaw: 75n, creatorFeeOn: 'out' })
    const other = quoteConstantProduct(state, clock, pay(1_000_000n, 1))
    expect(other).to.include({ creatorFeeOn: 'in' })
  })

  it("knows nothing of creator's fees in a program of early 2025", () => {
    expect(refusal(stateWith({ version: 'early-2025', pool: { creatorFee: { isTaken: true, on: 0 } } }), pay(1_000n))).to.equal(
      'unknown-fees',
    )
    expect(refusal(stateWith({ pool: { creatorFee: { isTaken: true, on: 3 } } }), pay(1_000n))).to.equal('unknown-fees')
  })

  it('quotes without what is owed to protocol, fund and creator', () => {
    const owing = stateWith({ vaultsRaw: [1_000_000_500n, 150_000_700n], pool: { owedRaw: [500n, 700n] } })
    expect(quoteConstantProduct(owing, clock, pay(12_345_678n))).to.deep.equal(quoteConstantProduct(stateWith(), clock, pay(12_345_678n)))
    expect(refusal(stateWith({ pool: { owedRaw: [1_000_000_001n, 0n] } }), pay(1_000n))).to.equal('no-reserves')
    expect(refusal(stateWith({ pool: { owedRaw: [0n, 150_000_000n] } }), pay(1_000n))).to.equal('no-reserves')
  })

  it('refuses by kind what the program refuses', () => {
    expect(refusal(stateWith({ pool: { status: 4 } }), pay(1_000n))).to.equal('disabled')
    expect(refusal(stateWith({ pool: { status: 3 } }), pay(1_000n))).to.equal(undefined)
    expect(refusal(stateWith({ pool: { openTime: clock.unixTime + 1n } }), pay(1_000n))).to.equal('not-open')
    expect(refusal(stateWith({ pool: { openTime: clock.unixTime } }), pay(1_000n))).to.equal(undefined)
    for (const amountRaw of [0n, -1n]) expect(refusal(stateWith(), pay(amountRaw))).to.equal('too-little')
    expect(refusal(stateWith(), pay(1n))).to.equal('too-little')
    expect(refusal(stateWith(), get(150_000_000n))).to.equal('too-much')
    expect(refusal(stateWith(), pay(maxU64 + 1n))).to.equal('overflow')
    expect(refusal(stateWith(), pay(maxU64))).to.equal('overflow')
    expect(refusal(stateWith(), get(149_999_999n))).to.equal(undefined)
    expect(refusal(stateWith({ vaultsRaw: [maxU64 - 10n, 150_000_000n] }), get(149_999_999n))).to.equal('overflow')
  })

  const anyState = record({
    first: bigInt(1n, 2n ** 62n),
    second: bigInt(1n, 2n ** 62n),
    tradeFeeRate: bigInt(1n, 999_000n),
    creatorFeeRate: bigInt(0n, 900n),
    isTaken: constantFrom(true, false),
    on: constantFrom(0, 1, 2),
    basisPoints: constantFrom(0, 1, 250, 5_000, 9_999),
    maximumRaw: constantFrom(0n, 9n, maxU64),
  }).map(({ first, second, isTaken, on, basisPoints, maximumRaw, ...config }) => {
    const fee = { epoch: 0n, basisPoints, maximumRaw }
    const mint = { ...free, transferFee: { older: fee, newer: fee } }
    return stateWith({ vaultsRaw: [first, second], mints: [mint, free], config, pool: { creatorFee: { isTaken, on } } })
  })
  const anyAmount = bigInt(1n, maxU64)

  it('never gives more for exactly the input that an exact output costs, nor costs less', () =>
    assert(
      property(anyState, constantFrom<0 | 1>(0, 1), anyAmount, (state, pays, amountRaw) => {
        const paid = quoteConstantProduct(state, clock, pay(amountRaw, pays))
        if ('refused' in paid) return
        const got = quoteConstantProduct(state, clock, get(paid.outRaw, pays))
        // Where the token's own fee leaves no exact amount, there is no answer.
        if ('refused' in got) expect(got.refused).to.be.oneOf(['inexact-transfer-fee', 'overflow'])
        else expect(got.inRaw <= amountRaw).to.equal(true)
      }),
      { numRuns: 300 },
    ))

  it('never gives back more than was paid on the way there and back, and never less fee than the rate', () =>
    assert(
      property(anyState, constantFrom<0 | 1>(0, 1), anyAmount, (state, pays, amountRaw) => {
        const quote = quoteConstantProduct(state, clock, pay(amountRaw, pays))
        if ('refused' in quote) return
        const netRaw = quote.inRaw - quote.transferFeesRaw[0]
        const feesRaw = quote.feeRaw + (quote.creatorFeeOn === 'in' ? quote.creatorFeeRaw : 0n)
        expect(feesRaw * 1_000_000n >= netRaw * state.config.tradeFeeRate).to.equal(true)
        for (const raw of [quote.inRaw, quote.outRaw, ...quote.transferFeesRaw]) expect(raw >= 0n && raw <= maxU64).to.equal(true)
        const gets = pays === 0 ? 1 : 0
        const vaultsRaw: [bigint, bigint] = [...state.vaultsRaw]
        vaultsRaw[pays] += netRaw
        vaultsRaw[gets] -= quote.outRaw + quote.transferFeesRaw[1]
        const back = quoteConstantProduct({ ...state, vaultsRaw }, clock, pay(quote.outRaw, gets))
        if (!('refused' in back)) expect(back.outRaw <= amountRaw).to.equal(true)
      }),
      { numRuns: 300 },
    ))
})
