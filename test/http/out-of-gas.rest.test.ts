import { expect } from 'chai'
import { Contract, ContractFactory, Interface, JsonRpcProvider, MaxUint256, NonceManager, Wallet, toQuantity } from 'ethers'
import { setTimeout } from 'node:timers/promises'
import { addresses } from '../devnet/addresses.ts'
import oddToken from '../fixtures/tokens/OddToken.json' with { type: 'json' }
import { atNode, local, mined, others, outcome, sharedServer, type SharedServer, traders, withoutBlocks } from './shared-server.ts'

describe('a wallet without coins for gas', () => {
  let server: SharedServer
  let balance: unknown
  before(async () => {
    server = await sharedServer()
    balance = await server.rpc('eth_getBalance', others, 'latest')
    await server.rpc('anvil_setBalance', others, '0x0')
  })
  after(() => server.rpc('anvil_setBalance', others, balance))

  it('gets OUT_OF_GAS with balance and need, and nothing is sent', async () => {
    const nonce = async () => (await server.client.get('/evm/nonce', { ...local, address: others })).body.nonce
    const before = await nonce()
    const { status, body } = await server.client.post('/evm/approve', { ...local, address: others, spender: 'sushiswap', token: 'DAI' })
    expect(status).to.equal(422)
    expect(body).to.include({ errorCode: 1003, name: 'OUT_OF_GAS' })
    expect(body.details).to.include({ current: '0.000000000000000000' }).and.to.have.property('needed')
    expect(await nonce()).to.equal(before)
  })
})

describe('a trade through a pool that the newest block made', () => {
  const ether = 10n ** 18n
  let server: SharedServer
  let signer: NonceManager
  let own: string

  before(async () => {
    server = await sharedServer()
    const provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
    const wallet = Wallet.createRandom(provider)
    own = wallet.address
    await server.rpc('anvil_setBalance', own, toQuantity(10n ** 22n))
    signer = new NonceManager(wallet)
  })
  after(() => signer.provider?.destroy())

  for (const connector of ['uniswap', 'sushiswap'] as const) {
    it(`has gas for the sums of prices that a pool first writes in a later block (${connector})`, async () => {
      const deployed = await new ContractFactory(oddToken.abi, oddToken.bytecode, signer).deploy('Fresh', 'FRESH', 18)
      const base = await (await deployed.waitForDeployment()).getAddress()
      const token = new Contract(base, oddToken.abi, signer)
      const { router } = addresses.exchanges[connector]
      const abi = new Interface([
        'function addLiquidityETH(address token, uint256 amount, uint256 least, uint256 leastCoin, address to, uint256 deadline) payable',
      ])
      await (await token.getFunction('mint')(own, 1_000n * ether)).wait()
      await (await token.getFunction('approve')(router, MaxUint256)).wait()
      await withoutBlocks(server.rpc, async () => {
        const filling = new Contract(router, abi, signer).getFunction('addLiquidityETH')
        await filling(base, 1_000n * ether, 0n, 0n, own, MaxUint256, { value: 1_000n * ether, gasLimit: 5_000_000n })
        await server.rpc('evm_mine')
        const version = connector === 'uniswap' ? { version: 'v2' } : {}
        const trade = { ...local, connector, ...version, base, quote: 'ETH', amount: '1', side: 'BUY', address: traders }
        // Its block is seen at the next look for new ones.
        while (outcome(await server.client.post('/amm/price', trade)) === '422 PRICE_FAILED') await setTimeout(50)
        const traded = await server.client.post('/amm/trade', trade)
        expect(outcome(traded), traded.text).to.equal('200')
        await atNode(server.rpc, traded.body.txHash)
        await server.rpc('evm_increaseTime', 2)
        await server.rpc('evm_mine')
        const { body, text } = await mined(server.client, traded.body.txHash)
        expect(body.txReceipt.status, text).to.equal(1)
      })
    })
  }
})
