import { expect } from 'chai'
import { assert, bigInt, property } from 'fast-check'
import {
  checkFeeOverrides,
  createFeeOracle,
  defaultFeePolicy,
  feesOf,
  minReplacement,
  outbids,
  computeFeePerGas,
} from '../../../kits/evm/fees.ts'
import type { RpcAnswer, RpcCall } from '../../../kits/nodes/dialect.ts'
import type { Rpc } from '../../../kits/nodes/rpc.ts'

const gwei = 10n ** 9n
const market = { baseFeeRaw: 20n * gwei, tipRaw: 2n * gwei, policy: defaultFeePolicy, feeCapRaw: 500n * gwei }

describe('fees of EVM transactions', () => {
  it('come to twice the base fee plus the tip', () => {
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

  it('suffice for a replacement, unless the cap forbids it', () => {
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

describe('the tip of a network', () => {
  it('has the node asked again ten minutes after it did not know how to suggest one', async () => {
    let now = 0
    let suggests = false
    const asked: string[] = []
    const said: unknown[] = []
    const block = {
      number: '0x8',
      hash: `0x${'0'.repeat(64)}`,
      parentHash: `0x${'1'.repeat(64)}`,
      timestamp: '0x65000000',
      baseFeePerGas: '0x1',
      gasUsed: '0x1',
      gasLimit: '0x4',
    }
    const unknown = {
      code: -32601,
      message: 'the method eth_maxPriorityFeePerGas does not exist/is not available',
      fault: { is: 'unsupported' },
    } as const
    const answers: Record<string, () => RpcAnswer> = {
      eth_getBlockByNumber: () => ({ result: block }),
      eth_maxPriorityFeePerGas: () => (suggests ? { result: '0x5' } : { error: unknown }),
      eth_feeHistory: () => ({ result: { reward: [['0x9']], gasUsedRatio: [0.5] } }),
    }
    const rpc: Rpc = Object.assign(Object.create(null), {
      batch: async (calls: readonly RpcCall[]) =>
        calls.map(({ method }) => {
          asked.push(method)
          return answers[method]?.() ?? {}
        }),
    })
    const log = { info: (...line: unknown[]) => said.push(line), warn: (...line: unknown[]) => said.push(line) }
    const oracle = createFeeOracle({ rpc, minTipRaw: 0n, tipMs: 1, log, nowMs: () => now })
    const tipAfter = async (ms: number) => {
      now += ms
      asked.length = 0
      await oracle.refresh()
      return oracle.tipRaw()
    }
    expect(await tipAfter(0)).to.equal(9n)
    expect(await tipAfter(599_999)).to.equal(9n)
    expect(asked).to.not.include('eth_maxPriorityFeePerGas')
    expect(await tipAfter(1)).to.equal(9n)
    expect(asked).to.include('eth_maxPriorityFeePerGas')
    expect(said, 'once').to.have.length(1)
    suggests = true
    expect(await tipAfter(600_000)).to.equal(5n)
    expect(said).to.have.length(2)
  })
})
