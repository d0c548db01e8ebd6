import { expect } from 'chai'
import { Contract, ContractFactory, JsonRpcProvider, MaxUint256, Wallet } from 'ethers'
import thief from '../fixtures/uniswap-v3/CoinThief.json' with { type: 'json' }
import type { Client } from '../../testkit/client.ts'
import { admins, local, mined, outcome, sharedServer, uniswap } from './shared-server.ts'

const ether = 10n ** 18n

describe('the native coin against a token whose code takes it from the router', () => {
  let client: Client
  let provider: JsonRpcProvider
  let token = ''
  let router = ''
  let allowed = false

  const approve = async (of: string, spender: string, amount?: string) => {
    const { body } = await client.post('/evm/approve', { ...local, address: admins, spender, token: of, ...(amount && { amount }) })
    await mined(client, body.txHash)
  }
  const held = async (): Promise<Record<string, string>> =>
    (await client.post('/network/balances', { ...local, address: admins, tokenSymbols: ['WETH', 'ETH'] })).body.balances

  before(async () => {
    const server = await sharedServer()
    client = server.client
    provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 })
    const { v3RouterAddress, positionManagerAddress } = (await client.get('/connector/config', { connector: 'uniswap' })).body
      .contractAddresses.local
    router = v3RouterAddress
    const asked = { ...local, address: admins, spender: router, tokenSymbols: 'WETH' }
    allowed = Number((await client.get('/evm/allowances', asked)).body.approvals.WETH) > 0
    const stranger = Wallet.createRandom(provider)
    await server.rpc('anvil_setBalance', stranger.address, '0x3635c9adc5dea00000')
    const deployed = await new ContractFactory(thief.abi, thief.bytecode, stranger).deploy()
    await deployed.waitForDeployment()
    token = await deployed.getAddress()
    const weth: string = (await client.get('/network/tokens', { ...local, tokenSymbols: 'WETH' })).body[0].address
    const send = async (to: string, abi: string, args: readonly unknown[], value = 0n) => {
      const contract = new Contract(to, [`function ${abi} payable`], stranger)
      // More than it takes: what it takes also goes by the time of its block.
      await (await contract.getFunction(abi)(...args, { value, gasLimit: 8_000_000n })).wait()
    }
    await send(weth, 'deposit()', [], 200n * ether)
    for (const each of [weth, token]) await send(each, 'approve(address,uint256)', [positionManagerAddress, MaxUint256])
    const [token0, token1] = BigInt(token) < BigInt(weth) ? [token, weth] : [weth, token]
    await send(positionManagerAddress, 'createAndInitializePoolIfNecessary(address,address,uint24,uint160)', [
      token0,
      token1,
      3000,
      2n ** 96n,
    ])
    const position = [token0, token1, 3000, -6000, 6000, 100n * ether, 100n * ether, 0n, 0n, stranger.address, 2n ** 40n]
    await send(positionManagerAddress, 'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))', [
      position,
    ])
    await send(token, 'rob(address,address)', [router, admins])
  })
  after(async () => {
    provider?.destroy()
    // The others' server and wallet are the same.
    if (allowed) await approve('WETH', 'uniswap/v3')
  })

  for (const [side, base, quote] of [
    ['SELL', 'ETH', () => token],
    ['BUY', () => token, 'ETH'],
  ] as const) {
    it(`never leaves the wallet twice, native and wrapped (${side})`, async () => {
      const nameOf = (one: string | (() => string)) => (typeof one === 'string' ? one : one())
      const trade = { ...uniswap, address: admins, base: nameOf(base), quote: nameOf(quote), side, amount: '1', version: 'v3' }
      await approve('WETH', 'uniswap/v3')
      const before = await held()
      const refused = await client.post('/amm/trade', trade)
      expect(outcome(refused)).to.equal('422 TRADE_FAILED')
      expect(refused.body.message).to.contain(router).and.to.contain('Give WETH instead')
      expect(await held()).to.deep.equal(before)
      // The wrapped coin is taken once.
      const { body } = await client.post('/amm/trade', {
        ...trade,
        base: trade.base.replace('ETH', 'WETH'),
        quote: trade.quote.replace('ETH', 'WETH'),
      })
      expect((await mined(client, body.txHash)).body.txReceipt.status).to.equal(1)
      // Without the allowance there is nothing to take, and the trade reverts before it is sent.
      await approve('WETH', 'uniswap/v3', '0')
      const reverting = await client.post('/amm/trade', trade)
      expect(outcome(reverting)).to.equal('422 TRADE_FAILED')
      expect(reverting.body.message).not.to.contain('Give WETH instead')
    })
  }
})
