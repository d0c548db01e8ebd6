import { expect } from 'chai'
import { Contract, ContractFactory, Interface, JsonRpcProvider, MaxUint256, NonceManager, Wallet, ZeroAddress, toQuantity } from 'ethers'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { pairAddress } from '../../kits/amm/v2/pools.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'
import type { Answer } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { addresses } from '../devnet/addresses.ts'
import oddToken from '../fixtures/tokens/OddToken.json' with { type: 'json' }
import { chainSeconds, local, mined, noted, oneChain, outcome, traders } from './shared-server.ts'

const ether = 10n ** 18n
const { router } = addresses.exchanges.uniswap
const { router: sushiswap } = addresses.exchanges.sushiswap
const abi = new Interface([
  'function addLiquidityETH(address token, uint256 amount, uint256 least, uint256 leastCoin, address to, uint256 deadline) payable',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 least, address[] path, address to, uint256 deadline)',
  'function approve(address spender, uint256 value)',
  'function sync()',
])

describe('tokens that change between a quote and its trade', () => {
  let server: TestServer
  let token: Contract
  let odd: string
  let weth: string
  let pair: string

  /** Sends from an account of the test's own. */
  const send = async (method: string, ...args: unknown[]) => void (await (await token.getFunction(method)(...args)).wait())
  const trade = (fields: object = {}): Promise<Answer> =>
    server.client.post('/amm/trade', { ...local, address: traders, base: odd, quote: 'WETH', amount: '1', side: 'SELL', ...fields })
  const price = (fields: object = {}): Promise<Answer> =>
    server.client.post('/amm/price', { ...local, base: odd, quote: 'WETH', amount: '1', side: 'SELL', ...fields })
  const signed = async (): Promise<number> =>
    (await server.client.get('/transactions', { ...local, limit: '500' })).body.transactions.length
  const balance = async (holder: string): Promise<bigint> => token.getFunction('balanceOf').staticCall(holder)

  /**
   * Refused before anything is signed. Or, where a trade like it was seen within the hour and is not simulated again, reverted for its gas
   * alone, or carried out within its bound.
   */
  async function expectNothingLost(connector: string, cause?: 'slippage'): Promise<void> {
    const own = await balance(traders)
    const before = await signed()
    const { status, body, text } = await trade({ connector })
    if (status !== 200) {
      expect(`${status} ${body.name}`, text).to.equal('422 TRADE_FAILED')
      expect(await signed()).to.equal(before)
      expect(body.details.cause, text).to.equal(cause)
    } else {
      const { body: polled } = await mined(server.client, body.txHash)
      const { txReceipt, fill } = polled
      if (txReceipt.status === 1) expect(Number(fill.amountOut), text).to.be.at.least(Number(body.limitPrice))
      expect(own - (await balance(traders))).to.equal(txReceipt.status === 1 ? ether : 0n)
    }
  }

  before(async () => {
    server = await startServer(oneChain)
    const rpc = rpcTo(server.rpcUrl)
    const provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
    const own = Wallet.createRandom()
    await rpc('anvil_setBalance', own.address, toQuantity(10n ** 22n))
    const signer = new NonceManager(own.connect(provider))
    const made = await new ContractFactory(oddToken.abi, oddToken.bytecode, signer).deploy('Odd', 'ODD', 18)
    odd = await (await made.waitForDeployment()).getAddress()
    token = new Contract(odd, oddToken.abi, signer)
    for (const holder of [own.address, traders, odd]) await send('mint', holder, 10_000n * ether)
    for (const each of [router, sushiswap]) await send('approve', each, MaxUint256)
    const [uniswap, other] = [router, sushiswap].map((each) => new Contract(each, abi, signer).getFunction('addLiquidityETH'))
    const deadline = (await chainSeconds(rpc)) + 3600
    const value = { value: 1_000n * ether }
    await (await uniswap?.(odd, 3_000n * ether, 0n, 0n, own.address, deadline, value))?.wait()
    // Half the price.
    await (await other?.(odd, 600n * ether, 0n, 0n, own.address, deadline, { value: 100n * ether }))?.wait()
    weth = (await server.client.get('/network/tokens', { ...local, tokenSymbols: 'WETH' })).body[0].address
    const tokens = [odd, weth].toSorted((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1)) as [string, string]
    pair = pairAddress(v2Deployments['ethereum/local'], tokens)
    for (const spender of ['uniswap/v2', 'uniswap/v3', 'uniswap/v4', 'sushiswap']) {
      const approved = await server.client.post('/evm/approve', { ...local, address: traders, spender, token: odd })
      await mined(server.client, approved.body.txHash)
    }
  })
  afterEach(async () => {
    await send('pause', false)
    await send('callBack', ZeroAddress, '0x')
    await send('refuse', ZeroAddress)
  })
  after(() => server?.stop())

  it('do not go elsewhere for half the price where the best of all connectors would fail, but for a limit price that allows it', async () => {
    const sale = { connector: 'any', version: 'v2' }
    const asked = await price({ ...sale, candidates: true })
    await send('refuse', pair)
    expect(asked.body.candidates.map(({ connector }: { connector: string }) => connector)).to.deep.equal(['uniswap', 'sushiswap'])
    const before = await signed()
    const refused = await trade(sale)
    expect(outcome(refused), refused.text).to.equal('422 TRADE_FAILED')
    expect(await signed()).to.equal(before)
    const limitPrice = String(Number(asked.body.candidates[1].price) * 0.99)
    const traded = await trade({ ...sale, limitPrice })
    expect(outcome(traded), traded.text).to.equal('200')
    expect(traded.body.connector).to.equal('sushiswap')
    const { body, text } = await mined(server.client, traded.body.txHash)
    expect(body.txReceipt.status, text).to.equal(1)
  })

  for (const connector of ['uniswap', 'any']) {
    it(`cost nothing but gas where they were paused (${connector})`, async () => {
      expect(outcome(await price({ connector }))).to.equal('200')
      await send('pause', true)
      await expectNothingLost(connector)
      await send('pause', false)
      const traded = await trade({ connector })
      expect(outcome(traded), traded.text).to.equal('200')
      await mined(server.client, traded.body.txHash)
    })

    it(`cost nothing but gas where they call back and sell before the trade does (${connector})`, async () => {
      await send('act', odd, abi.encodeFunctionData('approve', [router, MaxUint256]))
      const sale = abi.encodeFunctionData('swapExactTokensForTokens', [300n * ether, 0n, [odd, weth], odd, MaxUint256])
      await send('callBack', router, sale)
      await expectNothingLost(connector, 'slippage')
    })
  }

  it('that call back into the pool while it is locked are traded as quoted', async () => {
    await send('callBack', pair, abi.encodeFunctionData('sync'))
    const { body: asked } = await price({ connector: 'uniswap', quote: 'USDC', side: 'BUY' })
    const traded = await trade({ connector: 'uniswap', base: odd, quote: 'ETH', side: 'BUY' })
    expect(outcome(traded), `${JSON.stringify(asked)} ${traded.text}`).to.equal('200')
    const { body } = await mined(server.client, traded.body.txHash)
    expect(body.fill).to.include({ amountOut: '1.000000000000000000', amountIn: traded.body.expectedAmount })
  })

  it('cost nothing but gas where the pool has less of them by a rebase, and are sold for no less than the quote where it has more', async () => {
    const held = await balance(pair)
    await send('rebase', pair, held - ether / 2n)
    await expectNothingLost('uniswap')
    await send('rebase', pair, held + ether / 2n)
    const traded = await trade({ connector: 'uniswap' })
    expect(outcome(traded), traded.text).to.equal('200')
    const { body } = await mined(server.client, traded.body.txHash)
    expect(body.fill).to.include({ amountIn: '1.000000000000000000', amountOut: traded.body.expectedAmount })
  })

  it('whose balance of the wallet shrinks are refused as a balance that is too small', async () => {
    const own = await balance(traders)
    await send('rebase', traders, ether / 2n)
    let answer = await trade({ connector: 'uniswap' })
    // No event tells of it. Where the balance is in memory one trade fails on the chain, which costs gas alone.
    if (outcome(answer) === '200') {
      expect((await mined(server.client, answer.body.txHash)).body.txReceipt.status).to.equal(0)
      await noted(server.client, answer.body.txHash)
      answer = await trade({ connector: 'uniswap' })
    }
    expect(outcome(answer), answer.text).to.equal('422 INSUFFICIENT_BALANCE')
    await send('rebase', traders, own)
  })

  it('appear with their pools and shares, whatever they do', async () => {
    await send('pause', true)
    await send('rebase', pair, 0n)
    const pools = await server.client.get('/amm/pools', { ...local, connector: 'any', base: odd, quote: 'WETH' })
    expect(outcome(pools), pools.text).to.equal('200')
    const shares = await server.client.get('/amm/shares/position', {
      ...local,
      connector: 'uniswap',
      address: traders,
      tokens: `${odd},WETH`,
    })
    expect(outcome(shares), shares.text).to.equal('200')
    expect(outcome(await price({ connector: 'any' }))).to.match(/^(200|404 TOKEN_NOT_SUPPORTED|422 PRICE_FAILED)$/)
  })
})

describe('an allowance within Permit2 that ends', () => {
  let server: TestServer
  before(async () => {
    server = await startServer(oneChain)
  })
  after(() => server?.stop())

  it('before the deadline of a trade does not count for it, also where it ended between quote and trade', async () => {
    const { client } = server
    const rpc = rpcTo(server.rpcUrl)
    const asked = {
      ...local,
      connector: 'uniswap',
      version: 'v4',
      base: 'WBTC',
      quote: 'USDC',
      amount: '0.001',
      side: 'SELL',
      address: traders,
    }
    const approve = async (fields: object) => {
      const { body, text } = await client.post('/evm/approve', {
        ...local,
        address: traders,
        spender: 'uniswap/v4',
        token: 'WBTC',
        ...fields,
      })
      expect(body.txHash, text).to.be.a('string')
      await mined(client, body.txHash)
    }
    const now = await chainSeconds(rpc)
    await approve({ expires: now + 900 })
    expect((await client.post('/amm/price', asked)).body.allowance).to.include({ sufficient: true })
    // Ten minutes later it ends before a trade of five minutes does.
    await rpc('evm_increaseTime', 700)
    await rpc('evm_mine')
    const jumped = Number(await rpc('eth_blockNumber'))
    while ((await client.post('/amm/price', asked)).body.blockNumber < jumped) await new Promise((resolve) => setTimeout(resolve, 100))
    const refused = await client.post('/amm/trade', asked)
    expect(outcome(refused), refused.text).to.equal('422 INSUFFICIENT_ALLOWANCE')
    expect((await client.get('/transactions', { ...local, state: 'QUEUED' })).body.transactions).to.deep.equal([])
    await approve({})
    const traded = await client.post('/amm/trade', asked)
    expect(outcome(traded), traded.text).to.equal('200')
    expect((await mined(client, traded.body.txHash)).body.fill.amountIn).to.equal('0.00100000')
  })
})
