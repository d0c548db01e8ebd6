import { expect } from 'chai'
import { Contract, ContractFactory, Interface, JsonRpcProvider, MaxUint256, NonceManager, Wallet, toQuantity } from 'ethers'
import { rpcTo } from '../../core/devnet/anvil.ts'
import type { Answer } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { addresses } from '../devnet/addresses.ts'
import oddToken from '../fixtures/tokens/OddToken.json' with { type: 'json' }
import { until } from '../transactions/site.ts'
import { chainSeconds, local, oneChain, traders } from './shared-server.ts'

const ether = 10n ** 18n
const { router } = addresses.exchanges.uniswap
const abi = new Interface([
  'function addLiquidityETH(address token, uint256 amount, uint256 least, uint256 leastCoin, address to, uint256 deadline) payable',
])

describe('the book of a token that comes on a list after it was bought', function () {
  this.timeout(300_000)
  let server: TestServer
  let token: string
  let weth: string

  async function good(answer: Promise<Answer>): Promise<Answer['body']> {
    const { status, body, text } = await answer
    expect(status, text).to.equal(200)
    return body
  }
  async function final(answer: Promise<Answer>): Promise<void> {
    const { txHash } = await good(answer)
    await until('it is final', async () => (await good(server.client.get('/transactions', { txHash }))).transactions[0].final)
  }
  const trade = (fields: object) =>
    final(server.client.post('/amm/trade', { ...local, connector: 'uniswap', version: 'v2', address: traders, quote: 'WETH', ...fields }))
  const countOf = async (pair: string, of = {}) =>
    (await good(server.client.get('/transactions', { ...of, pair, archived: 'true' }))).transactions.length

  before(async () => {
    server = await startServer(oneChain)
    const rpc = rpcTo(server.rpcUrl)
    const provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
    const own = Wallet.createRandom()
    await rpc('anvil_setBalance', own.address, toQuantity(10n ** 22n))
    const signer = new NonceManager(own.connect(provider))
    const made = await new ContractFactory(oddToken.abi, oddToken.bytecode, signer).deploy('New', 'NEW', 18)
    token = await (await made.waitForDeployment()).getAddress()
    const send = async (method: string, ...args: unknown[]) =>
      void (await (await new Contract(token, oddToken.abi, signer).getFunction(method)(...args)).wait())
    await send('mint', own.address, 10_000n * ether)
    await send('approve', router, MaxUint256)
    const add = new Contract(router, abi, signer).getFunction('addLiquidityETH')
    const deadline = (await chainSeconds(rpc)) + 3600
    await (await add(token, 3_000n * ether, 0n, 0n, own.address, deadline, { value: 1_000n * ether })).wait()
    weth = (await good(server.client.get('/network/tokens', { ...local, tokenSymbols: 'WETH' })))[0].address
    await final(server.client.post('/evm/wrap', { ...local, address: traders, amount: '5' }))
    for (const each of [token, 'WETH'])
      await final(server.client.post('/evm/approve', { ...local, address: traders, spender: 'uniswap/v2', token: each }))
  })
  after(() => server?.stop())

  it('has the purchase and the sale, by whichever name it is asked for', async () => {
    await trade({ base: token, side: 'BUY', amount: '2' })
    expect(await countOf(`${token}-WETH`)).to.equal(1)
    await good(server.client.post('/network/tokens/add', { ...local, token }))
    await trade({ base: 'NEW', side: 'SELL', amount: '2' })
    for (const pair of ['NEW-WETH', `weth-${token.toLowerCase()}`, `${token}-${weth}`, `${weth}-new`]) {
      let book: Answer['body']
      await until('the book is whole', async () => {
        book = await good(server.client.get('/books', { pair }))
        return book.complete
      })
      expect(book.pairs, pair).to.have.length(1)
      expect(book.pairs[0], pair).to.include({ base: 'NEW', quote: 'WETH', trades: 2, bought: '2', sold: '2', position: '0' })
      expect(await countOf(pair), pair).to.equal(2)
      expect(await countOf(pair, { ...local, address: traders }), pair).to.equal(2)
    }
    expect(await countOf('NEW-WETH', { chain: 'elsewhere' })).to.equal(0)
  })
})
