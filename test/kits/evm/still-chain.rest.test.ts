import { expect } from 'chai'
import { at, startStillChain, wallet, type TestChain } from './test-chain.ts'
import { ask } from '../../../kits/nodes/rpc.ts'
import { readBlock, evmRpc } from '../../../kits/evm/rpc.ts'

const gwei = (amount: number) => `0x${(amount * 1e9).toString(16)}`

describe('on a chain that makes blocks only when told', () => {
  let test: TestChain
  before(async () => {
    test = await startStillChain()
  })
  after(() => test.stop())

  it('predicts the base fee after full and after empty blocks', async () => {
    const rpc = evmRpc({ rpcUrls: [test.rpcUrl], chainId: 31337, timeoutMs: 30_000, log: { info() {}, warn() {} }, meter: { rpc() {} } })
    const latestBlock = async () => readBlock(rpc, await ask(rpc, 'eth_getBlockByNumber', ['latest', false], at))
    // INVALID burns all gas that it is given.
    await test.rpc('anvil_setCode', '0x00000000000000000000000000000000000000bb', '0xfe')
    // Anvil's first block keeps the genesis block's base fee.
    await test.rpc('evm_mine')
    for (const gas of [0, 29_000_000, 15_000_000, 14_999_999, 21_500, 0]) {
      if (gas > 0)
        await test.rpc('eth_sendTransaction', {
          from: wallet,
          to: '0x00000000000000000000000000000000000000bb',
          gas: `0x${gas.toString(16)}`,
          maxFeePerGas: gwei(100),
        })
      const before = await latestBlock()
      await test.rpc('evm_mine')
      const filled = await latestBlock()
      expect(filled.baseFeeRaw).to.equal(before.nextBaseFeeRaw)
    }
    await rpc.stop()
  })

  it('finds a pending transaction, which pays and has no block', async () => {
    const hash = await test.rpc('eth_sendTransaction', { from: wallet, to: wallet, gas: '0x5208', maxFeePerGas: gwei(50) })
    const found = await test.chain.find(String(hash), at)
    expect(found).to.deep.include({ pays: true, receipt: null }).and.not.have.property('blockNumber')
    expect(found?.tx).to.deep.include({ maxFeePerGas: '50000000000', blockNumber: null })
  })
})

describe('on a chain without Multicall3', () => {
  let test: TestChain
  before(async () => {
    test = await startStillChain({ multicall: false })
  })
  after(() => test.stop())

  it('refuses to start and to read, and says what is missing', async () => {
    for (const work of [() => test.chain.start?.(at.signal), () => test.chain.reader.read([], at)]) {
      const failure: unknown = await work()?.catch((error: unknown) => error)
      expect(failure)
        .to.have.property('message')
        .that.matches(/ethereum\/local has no Multicall3 at 0xcA11/)
    }
  })
})
