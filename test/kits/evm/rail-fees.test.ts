import { expect } from 'chai'
import { assert, bigInt, property } from 'fast-check'
import { checkWish, defaultFeePolicy, feesOf, leastReplacement, outbids, priceFees } from '../../../core/kits/evm/rail/fees.ts'
import { meaningOf } from '../../../core/kits/evm/rail/wordings.ts'

const gwei = 10n ** 9n
const market = { baseFeeRaw: 20n * gwei, tipRaw: 2n * gwei, policy: defaultFeePolicy, feeCapRaw: 500n * gwei }

describe('fees of EVM transactions', () => {
  it('are twice the base fee and the tip', () => {
    expect(priceFees({}, undefined, market)).to.deep.equal({ maxFeeRaw: 42n * gwei, tipRaw: 2n * gwei, gasPriceRaw: 22n * gwei })
  })

  it('are as wished, and the rest follows', () => {
    expect(priceFees({ maxFeePerGasRaw: 21n * gwei }, undefined, market)).to.deep.equal({
      maxFeeRaw: 21n * gwei,
      tipRaw: 2n * gwei,
      gasPriceRaw: 21n * gwei,
    })
    expect(priceFees({ maxPriorityFeePerGasRaw: 5n * gwei }, undefined, market)).to.include({ maxFeeRaw: 45n * gwei, tipRaw: 5n * gwei })
    expect(priceFees({ maxFeePerGasRaw: 20n * gwei, maxPriorityFeePerGasRaw: 0n }, undefined, market)).to.include({
      gasPriceRaw: 20n * gwei,
    })
  })

  it('never go beyond the cap by themselves, and say so when the network is beyond it', () => {
    expect(priceFees({}, undefined, { ...market, baseFeeRaw: 400n * gwei })).to.include({ maxFeeRaw: 500n * gwei })
    expect(() => priceFees({}, undefined, { ...market, baseFeeRaw: 600n * gwei })).to.throw('feeCap')
  })

  it('refuse a wish that contradicts itself', () => {
    expect(() => checkWish({ maxFeePerGasRaw: gwei, maxPriorityFeePerGasRaw: 2n * gwei }, 500n * gwei)).to.throw('maxPriorityFeePerGas')
    expect(() => checkWish({ maxPriorityFeePerGasRaw: 501n * gwei }, 500n * gwei)).to.throw('not wei')
    expect(() => checkWish({ maxFeePerGasRaw: 500n * gwei, maxPriorityFeePerGasRaw: 500n * gwei }, 500n * gwei)).not.to.throw()
  })

  it('replace what they are to replace, unless the cap forbids', () => {
    const wei = bigInt(0n, 400n * gwei)
    assert(
      property(wei, wei, wei, wei, (oldMax, oldTip, baseFeeRaw, tipRaw) => {
        const old = { gasLimit: '21000', maxFeePerGas: String(oldMax), maxPriorityFeePerGas: String(oldTip) }
        const price = priceFees({}, old, { ...market, baseFeeRaw, tipRaw })
        const { fees } = feesOf(21_000n, price)
        expect(price.tipRaw <= price.maxFeeRaw && price.maxFeeRaw <= market.feeCapRaw && price.maxFeeRaw >= baseFeeRaw).to.equal(true)
        if (leastReplacement(old).maxFeeRaw <= market.feeCapRaw) expect(outbids(fees, old)).to.equal(true)
      }),
    )
  })

  it('raise both fields by a tenth, rounded up, and nothing to something', () => {
    expect(leastReplacement({ gasLimit: '1', maxFeePerGas: '101', maxPriorityFeePerGas: '0' })).to.deep.equal({
      maxFeeRaw: 112n,
      tipRaw: 1n,
    })
  })
})

const wordings = [
  { node: 'geth', code: -32000, message: 'already known', means: 'known' },
  { node: 'anvil', code: -32003, message: 'transaction already imported', means: 'known' },
  { node: 'nethermind', code: -32010, message: 'AlreadyKnown, Known transaction', means: 'known' },
  { node: 'besu', code: -32000, message: 'Known transaction', means: 'known' },
  { node: 'erigon', code: -32000, message: 'ALREADY_EXISTS: already known', means: 'known' },
  { node: 'geth', code: -32000, message: 'nonce too low: next nonce 7, tx nonce 5', means: 'nonce-too-low' },
  { node: 'besu', code: -32001, message: 'Nonce too low', means: 'nonce-too-low' },
  { node: 'nethermind', code: -32010, message: 'OldNonce, Current nonce: 7, nonce of rejected tx: 5.', means: 'nonce-too-low' },
  {
    node: 'geth',
    code: -32000,
    message: 'replacement transaction underpriced: new tx gas fee cap 1 < 2 queued + 10% replacement penalty',
    means: 'replacement-underpriced',
  },
  { node: 'geth', code: -32000, message: 'transaction underpriced: tip needed 1, tip permitted 0', means: 'fee-too-low' },
  {
    node: 'geth',
    code: -32000,
    message: 'max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2',
    means: 'fee-too-low',
  },
  { node: 'anvil', code: -32003, message: 'Insufficient funds for gas * price + value', means: 'insufficient-funds' },
  { node: 'besu', code: -32004, message: 'Upfront cost exceeds account balance', means: 'insufficient-funds' },
  { node: 'erigon', code: -32000, message: 'INTERNAL_ERROR: could not replace existing tx', means: 'replacement-underpriced' },
  { node: 'besu', code: -32009, message: 'Gas price below current base fee', means: 'fee-too-low' },
  { node: 'besu', code: -32003, message: 'Intrinsic gas exceeds gas limit', means: 'out-of-gas' },
  { node: 'geth', code: 3, message: 'execution reverted: UniswapV2: K', means: 'reverted' },
  { node: 'nethermind', code: -32015, message: 'VM execution error.', means: 'reverted' },
  { node: 'a node in another language', code: 3, message: 'zurückgesetzt', means: 'reverted' },
  { node: 'geth', code: -32000, message: 'gas required exceeds allowance (1000)', means: 'out-of-gas' },
  { node: 'nobody', code: -32000, message: 'the moon is full', means: undefined },
]

describe('what nodes say to transactions', () => {
  for (const { node, code, message, means } of wordings) {
    it(`takes "${message}" of ${node} for ${means ?? 'nothing that is known'}`, () => {
      expect(meaningOf({ code, message })).to.equal(means)
    })
  }
})
