import { expect } from 'chai'
import { assert, bigInt, property } from 'fast-check'
import { checkFeeOverrides, defaultFeePolicy, feesOf, minReplacement, outbids, computeFeePerGas } from '../../../kits/evm/fees.ts'

const gwei = 10n ** 9n
const market = { baseFeeRaw: 20n * gwei, tipRaw: 2n * gwei, policy: defaultFeePolicy, feeCapRaw: 500n * gwei }

describe('fees of EVM transactions', () => {
  it('are twice the base fee plus the tip', () => {
    expect(computeFeePerGas({}, undefined, market)).to.deep.equal({ maxFeeRaw: 42n * gwei, tipRaw: 2n * gwei, gasPriceRaw: 22n * gwei })
  })

  it("follow the caller's overrides, and the rest the policy", () => {
    expect(computeFeePerGas({ maxFeePerGasRaw: 21n * gwei }, undefined, market)).to.deep.equal({
      maxFeeRaw: 21n * gwei,
      tipRaw: 2n * gwei,
      gasPriceRaw: 21n * gwei,
    })
    expect(computeFeePerGas({ maxPriorityFeePerGasRaw: 5n * gwei }, undefined, market)).to.include({
      maxFeeRaw: 45n * gwei,
      tipRaw: 5n * gwei,
    })
    expect(computeFeePerGas({ maxFeePerGasRaw: 20n * gwei, maxPriorityFeePerGasRaw: 0n }, undefined, market)).to.include({
      gasPriceRaw: 20n * gwei,
    })
  })

  it("never exceed the cap by themselves, and refuse when the network's base fee exceeds it", () => {
    expect(computeFeePerGas({}, undefined, { ...market, baseFeeRaw: 400n * gwei })).to.include({ maxFeeRaw: 500n * gwei })
    expect(() => computeFeePerGas({}, undefined, { ...market, baseFeeRaw: 600n * gwei })).to.throw('feeCap')
  })

  it("say what to do if they are below the network's minimum tip", () => {
    const picky = { ...market, policy: { ...defaultFeePolicy, minTipRaw: 30n * gwei, networkMinTipRaw: 30n * gwei } }
    expect(() => computeFeePerGas({ maxPriorityFeePerGasRaw: gwei }, undefined, picky)).to.throw('offer more')
    expect(() => computeFeePerGas({}, undefined, { ...picky, feeCapRaw: 29n * gwei })).to.throw('raise feeCap')
    expect(computeFeePerGas({}, undefined, picky)).to.include({ tipRaw: 30n * gwei })
  })

  it('refuse overrides that contradict each other', () => {
    expect(() => checkFeeOverrides({ maxFeePerGasRaw: gwei, maxPriorityFeePerGasRaw: 2n * gwei }, 500n * gwei)).to.throw(
      'maxPriorityFeePerGas',
    )
    expect(() => checkFeeOverrides({ maxPriorityFeePerGasRaw: 501n * gwei }, 500n * gwei)).to.throw('not wei')
    expect(() => checkFeeOverrides({ maxFeePerGasRaw: 500n * gwei, maxPriorityFeePerGasRaw: 500n * gwei }, 500n * gwei)).not.to.throw()
  })

  it('are enough for a replacement, unless the cap forbids it', () => {
    const wei = bigInt(0n, 400n * gwei)
    assert(
      property(wei, wei, wei, wei, (oldMax, oldTip, baseFeeRaw, tipRaw) => {
        const old = { gasLimit: '21000', maxFeePerGas: String(oldMax), maxPriorityFeePerGas: String(oldTip) }
        const price = computeFeePerGas({}, old, { ...market, baseFeeRaw, tipRaw })
        const { fees } = feesOf(21_000n, price)
        expect(price.tipRaw <= price.maxFeeRaw && price.maxFeeRaw <= market.feeCapRaw && price.maxFeeRaw >= baseFeeRaw).to.equal(true)
        if (minReplacement(old).maxFeeRaw <= market.feeCapRaw) expect(outbids(fees, old)).to.equal(true)
      }),
    )
  })

  it('raise both fields by a tenth, rounded up, and 0 to 1', () => {
    expect(minReplacement({ gasLimit: '1', maxFeePerGas: '101', maxPriorityFeePerGas: '0' })).to.deep.equal({
      maxFeeRaw: 112n,
      tipRaw: 1n,
    })
  })
})
