import { expect } from 'chai'
import { Interface, formatUnits, toQuantity } from 'ethers'
import { rpcTo, type Rpc } from '../../core/devnet/rpc-to.ts'
import { startServer, type TestServer } from '../../core/testing/server.ts'
import { addresses } from '../devnet/addresses.ts'
import { follow } from './events-client.ts'
import { oneChain, outcome, uniswap } from './shared-server.ts'
import { healthy, refusing, startFaultyProxy, type FaultyProxy } from './trouble/faulty-proxy.ts'

const amounts = new Interface(['function getAmountsOut(uint256, address[]) view returns (uint256[] amounts)'])
const { router } = addresses.exchanges.uniswap
const { WETH, USDC } = addresses.tokens
const sale = { ...uniswap, version: 'v2', base: 'WETH', quote: 'USDC', side: 'SELL' }
/** As Infura says it: https://docs.infura.io/reference/ethereum/json-rpc-methods/eth_getlogs */
const tooMany = { code: -32005, message: 'query returned more than 10000 results' }
const isLogs = ({ method }: { method: string }) => method === 'eth_getLogs'

describe('prices where nodes refuse to say what happened in a block', function () {
  this.timeout(120_000)
  let proxy: FaultyProxy
  let server: TestServer
  let rpc: Rpc
  before(async () => {
    proxy = await startFaultyProxy()
    server = await startServer({
      ...oneChain,
      async between(url) {
        proxy.target = url
        return `http://127.0.0.1:${proxy.port}`
      },
    })
    rpc = rpcTo(proxy.target)
  })
  after(async () => {
    await server?.stop()
    await proxy?.stop()
  })

  let asked = 0
  /** A new amount every time, as the exchange itself has it at the block that is named. */
  async function price() {
    asked += 1
    const amountRaw = 10n ** 18n + BigInt(asked)
    const answer = await server.client.get('/amm/price', { ...sale, amount: formatUnits(amountRaw, 18) })
    expect(outcome(answer), answer.text).to.equal('200')
    const { blockNumber, expectedAmount, source } = answer.body
    const data = amounts.encodeFunctionData('getAmountsOut', [amountRaw, [WETH.address, USDC.address]])
    const own = amounts.decodeFunctionResult('getAmountsOut', String(await rpc('eth_call', { to: router, data }, toQuantity(blockNumber))))
    expect(expectedAmount).to.equal(formatUnits([...own.getValue('amounts')].at(-1), USDC.decimals))
    return { blockNumber: Number(blockNumber), source: String(source) }
  }
  async function priceFrom(source: string) {
    for (;;) {
      const given = await price()
      if (given.source === source) return given
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  it('are asked of the chain, each exact at a new block, and come from memory again once the nodes say it', async () => {
    expect((await price()).source).to.equal('memory')
    const follower = await follow(
      { url: server.kernel.url, certsDir: server.settings.ssl.certsDir },
      { topics: 'price', ...sale, amount: '1' },
    )
    await proxy.become(refusing(isLogs, tooMany))
    const first = await priceFrom('rpc')
    await follower.hears('that it is not known', ({ data }) => data.stale === true)
    for (let count = 0; count < 5; count += 1) {
      const { blockNumber, source } = await price()
      expect(source).to.equal('rpc')
      expect(blockNumber).to.be.at.least(first.blockNumber)
    }
    await proxy.become(healthy)
    await priceFrom('memory')
    await follower.hears('a price again', ({ data }) => data.stale !== true)
    await follower.close()
    const { text } = await server.client.get('/metrics')
    const count = (from: string) =>
      Number(new RegExp(`sluice_quotes_total\\{.*connector="uniswap",source="${from}"\\} (\\d+)`).exec(text)?.[1])
    expect(count('rpc')).to.be.at.least(6)
    expect(count('rpc') + count('memory')).to.equal(asked)
    expect(text).to.contain('sluice_market_cut_off{chain="ethereum",network="local"} 0')
  })
})
