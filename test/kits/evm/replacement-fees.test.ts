import { expect } from 'chai'
import { assert, bigInt, integer, property, record } from 'fast-check'
import { bumpFees, bumpedFeePerGas, defaultFeePolicy, outbids, type EvmFees, type FeeConditions } from '../../../kits/evm/fees.ts'

const gwei = 10n ** 9n
const market: FeeConditions = { baseFeeRaw: 20n * gwei, tipRaw: 2n * gwei, policy: defaultFeePolicy, feeCapRaw: 500n * gwei }
const feesOf = (maxFeeRaw: bigint, tipRaw: bigint): EvmFees => ({
  gasLimit: '150000',
  maxFeePerGas: String(maxFeeRaw),
  maxPriorityFeePerGas: String(tipRaw),
})

const wei = bigInt(0n, 600n * gwei)
const anyMarket = record({
  baseFeeRaw: wei,
  tipRaw: wei,
  capRaw: bigInt(1n, 600n * gwei),
  bumpPercent: integer({ min: 10, max: 300 }),
}).map(({ baseFeeRaw, tipRaw, capRaw, bumpPercent }): FeeConditions => ({
  baseFeeRaw,
  tipRaw,
  feeCapRaw: capRaw,
  policy: { ...defaultFeePolicy, bumpPercent },
}))
const anyFees = record({ a: wei, b: wei }).map(({ a, b }) => (a > b ? feesOf(a, b) : feesOf(b, a)))

describe('the fees of a replacement', () => {
  it('rise by an eighth, rounded up, and keep the gas limit', () => {
    const quiet = { ...market, baseFeeRaw: gwei, tipRaw: 0n }
    expect(bumpFees(feesOf(10n * gwei + 1n, 1n), quiet)).to.deep.equal({
      gasLimit: '150000',
      maxFeePerGas: '11250000002',
      maxPriorityFeePerGas: '2',
    })
  })

  it('follow what the policy pays now if that is more', () => {
    expect(bumpFees(feesOf(4n * gwei, gwei), { ...market, baseFeeRaw: 40n * gwei })).to.deep.equal({
      gasLimit: '150000',
      maxFeePerGas: String(82n * gwei),
      maxPriorityFeePerGas: String(2n * gwei),
    })
  })

  it('rise up to the cap, and are undefined if the cap does not outbid', () => {
    const over = feesOf(100n * gwei, gwei)
    expect(bumpFees(over, { ...market, feeCapRaw: 111n * gwei })).to.include({ maxFeePerGas: String(111n * gwei) })
    expect(bumpFees(over, { ...market, feeCapRaw: 110n * gwei - 1n })).to.equal(undefined)
  })

  it("rise by the network's minimum if that is more than the policy's", () => {
    const strict = { ...market, baseFeeRaw: gwei, tipRaw: 0n, policy: { ...defaultFeePolicy, minBumpPercent: 100 } }
    expect(bumpFees(feesOf(10n * gwei, gwei), strict)).to.include({
      maxFeePerGas: String(20n * gwei),
      maxPriorityFeePerGas: String(2n * gwei),
    })
  })

  it('always outbid, never exceed the cap, and never tip more than their maximum fee', () => {
    assert(
      property(anyFees, anyMarket, (over, prices) => {
        const bumped = bumpFees(over, prices)
        if (!bumped) return
        const [maxFee, tip] = [BigInt(bumped.maxFeePerGas), BigInt(bumped.maxPriorityFeePerGas)]
        expect(outbids(bumped, over)).to.equal(true)
        expect(maxFee <= prices.feeCapRaw && tip <= maxFee).to.equal(true)
        // Below the cap it is all that was meant.
        if (maxFee < prices.feeCapRaw)
          expect(maxFee >= prices.baseFeeRaw * 2n + tip || outbids(bumped, over, prices.policy.bumpPercent)).to.equal(true)
      }),
    )
  })

  it('never fall when the base fee, the tip or the replaced fees rise', () => {
    assert(
      property(anyFees, anyMarket, wei, wei, wei, (over, prices, moreBase, moreTip, moreFee) => {
        const dearer = { ...prices, baseFeeRaw: prices.baseFeeRaw + moreBase, tipRaw: (prices.tipRaw ?? 0n) + moreTip }
        const higher = feesOf(BigInt(over.maxFeePerGas) + moreFee, BigInt(over.maxPriorityFeePerGas))
        const price = bumpedFeePerGas(over, prices)
        for (const other of [bumpedFeePerGas(over, dearer), bumpedFeePerGas(higher, prices)])
          if (price && other) expect(other.maxFeeRaw >= price.maxFeeRaw && other.tipRaw >= price.tipRaw).to.equal(true)
      }),
    )
  })

  it('reach the cap in a bounded number of steps', () => {
    let fees: EvmFees | undefined = feesOf(1n, 0n)
    let steps = 0
    while (fees && steps < 1_000) {
      fees = bumpFees(fees, { ...market, baseFeeRaw: 0n, tipRaw: 0n })
      steps += 1
    }
    expect(steps).to.be.lessThan(300)
  })
})
