import { expect } from 'chai'
import { at, mined, startStillChain, wallet } from './test-chain.ts'
import type { TestChain } from './test-chain.ts'
import { latestBlock } from '../../../core/kits/evm/block.ts'
import { createRpc } from '../../../core/kits/evm/rpc.ts'

const gwei = (amount: number) => `0x${(amount * 1e9).toString(16)}`

describe('on a chain that makes blocks only when told', () => {
  let test: TestChain
  before(async () => { test = await startStillChain() })
  after(() => test.stop())

  it('the base fee of the next block is known beforehand, in full and in empty blocks', async () => {
    const rpc = createRpc({ rpcUrls: [test.rpcUrl], chainId: 31337, timeoutMs: 5000, log: { info() {}, warn() {} }, meter: { rpc() {} } })
    // INVALID burns all gas that it is given.
    await test.rpc('anvil_setCode', '0x00000000000000000000000000000000000000bb', '0xfe')
    for (const gas of [0, 29_000_000, 15_000_000, 14_999_999, 21_500, 0]) {
      if (gas > 0) await test.rpc('eth_sendTransaction', { from: wallet, to: '0x00000000000000000000000000000000000000bb', gas: `0x${gas.toString(16)}`, maxFeePerGas: gwei(100) })
      const before = await latestBlock(rpc, at)
      await test.rpc('evm_mine')
      const filled = await latestBlock(rpc, at)
      expect(filled.baseFeeRaw).to.equal(before.nextBaseFeeRaw)
    }
    await rpc.stop()
  })

  it('a pending transaction pays, or pays too little for the next block', async () => {
    const send = async (maxFee: number, nonce: number) => String(await test.rpc('eth_sendTransaction', {
      from: wallet, to: wallet, nonce: `0x${nonce.toString(16)}`, gas: '0x5208', maxFeePerGas: gwei(maxFee), maxPriorityFeePerGas: '0x0',
    }))
    const next = Number(await test.rpc('eth_getTransactionCount', wallet, 'latest'))
    const [rich, poor] = [await send(50, next), await send(5, next + 1)]
    expect(await test.chain.find(rich, at)).to.deep.include({ pays: true, receipt: null }).and.not.have.property('blockNumber')
    await test.rpc('anvil_setNextBlockBaseFeePerGas', gwei(20))
    await test.rpc('evm_mine')
    await mined(test, rich)
    expect(await test.chain.find(poor, at)).to.include({ pays: false })
  })
})

describe('on a chain without Multicall3', () => {
  let test: TestChain
  before(async () => { test = await startStillChain({ multicall: false }) })
  after(() => test.stop())

  it('starting and reading fail and say what is missing', async () => {
    for (const work of [test.chain.start?.(at.signal), test.chain.reader.read([], at)]) {
      const failure: unknown = await work?.catch((error: unknown) => error)
      expect(failure).to.have.property('message').that.matches(/ethereum\/local has no Multicall3 at 0xcA11/)
    }
  })
})
