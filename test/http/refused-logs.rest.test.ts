import { expect } from 'chai'
import { Interface, formatUnits, toQuantity } from 'ethers'
import { addresses } from '../devnet/addresses.ts'
import { follow } from '../events/client.ts'
import type { Answer } from '../../testkit/client.ts'
import { admins, local, mined, outcome, uniswap } from './shared-server.ts'
import { startBehindProxy, type BehindProxy } from './trouble/behind-proxy.ts'
import { healthy, refusing, telling } from './trouble/faulty-proxy.ts'
import { scrape } from './scrape.ts'

const amounts = new Interface(['function getAmountsOut(uint256, address[]) view returns (uint256[] amounts)'])
const { router } = addresses.exchanges.uniswap
const { WETH, USDC } = addresses.tokens
const sale = { ...uniswap, version: 'v2', base: 'WETH', quote: 'USDC', side: 'SELL' }
/** As PublicNode says it. */
const noAddress = {
  code: -32701,
  message: 'Please specify an address in your request or, to remove restrictions, order a dedicated full node',
}
/** As Infura says it: https://docs.infura.io/reference/ethereum/json-rpc-methods/eth_getlogs */
const tooMany = { code: -32005, message: 'query returned more than 10000 results' }
const isLogs = ({ method }: { method: string }) => method === 'eth_getLogs'
const isOfAnybody = ({ method, params: [filter] }: { method: string; params: readonly unknown[] }) =>
  method === 'eth_getLogs' && !Array.isArray(Reflect.get(Object(filter), 'address'))

describe('while nodes refuse to return logs', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  let proxy: BehindProxy['proxy']
  let server: BehindProxy['server']
  let rpc: BehindProxy['rpc']
  before(async () => {
    stage = await startBehindProxy()
    ;({ proxy, server, rpc } = stage)
  })
  after(() => stage?.stop())

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
  /** Moves the price that is asked for. */
  async function traded() {
    const order = { ...uniswap, version: 'v2', base: 'ETH', quote: 'USDC', side: 'SELL', amount: '2', address: admins }
    const answer = await server.client.post('/amm/trade', order)
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(server.client, answer.body.txHash)
  }
  async function reached(block: number): Promise<number> {
    for (;;) {
      const { blockNumber } = await price()
      if (blockNumber >= block) return blockNumber
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  async function priceFrom(source: string) {
    for (;;) {
      const given = await price()
      if (given.source === source) return given
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  it('prices come from memory if nodes return logs of named contracts, also for new pools', async () => {
    await proxy.become(refusing(isOfAnybody, noAddress))
    await price()
    for (let count = 0; count < 5; count += 1) {
      await rpc('evm_mine')
      expect((await price()).source).to.equal('memory')
    }
    for (const connector of ['sushiswap', 'balancer', 'curve']) {
      const [base, quote] = connector === 'curve' ? ['USDC', 'DAI'] : ['WETH', 'USDC']
      const { version: _, ...any } = sale
      const ask = () => server.client.get('/amm/price', { ...any, connector, base, quote, amount: '1' })
      let answer = await ask()
      expect(outcome(answer), connector).to.equal('200')
      while (answer.body.source !== 'memory') answer = await ask()
    }
    const from = await reached(Number(await rpc('eth_blockNumber')))
    proxy.asked.length = 0
    await reached(from + 4)
    const questions = proxy.asked.filter((method) => method === 'eth_getLogs').length
    // Once what they refuse is known, each block is one question; where the machine is slow, several blocks are.
    expect(questions).to.be.within(1, Number(await rpc('eth_blockNumber')) - from)
    await traded()
    await reached(Number(await rpc('eth_blockNumber')))
    await proxy.become(healthy)
  })

  it('prices are never of a block that the node does not have, although it returns no logs for it', async () => {
    await priceFrom('memory')
    const unknown = new Map<string, unknown>([
      ['eth_getLogs', []],
      ['eth_getBlockTransactionCountByHash', null],
    ])
    await proxy.become(telling(({ method }) => (unknown.has(method) ? { result: unknown.get(method) } : undefined)))
    await traded()
    for (let count = 0; count < 5; count += 1) await price()
    await proxy.become(healthy)
    await reached(Number(await rpc('eth_blockNumber')))
    await priceFrom('memory')
  })

  it('prices are read from the chain, exact at each new block, and come from memory again once nodes return logs', async () => {
    await priceFrom('memory')
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
    const { text } = await scrape(server.client)
    const count = (from: string) =>
      Number(new RegExp(`sluice_quotes_total\\{.*connector="uniswap",source="${from}"\\} (\\d+)`).exec(text)?.[1])
    expect(count('rpc')).to.be.at.least(6)
    expect(count('rpc') + count('memory')).to.be.at.least(asked)
    expect(text).to.contain('sluice_market_cut_off{chain="ethereum",network="local"} 0')
    expect(text).to.match(/sluice_market_block_age_seconds\{chain="ethereum",network="local"\} -?[\d.]+/)
    expect(text).to.match(/sluice_market_updates_total\{.*connector="uniswap"\} [1-9]/)
  })

  it('a node that refuses every question for logs answers all others, and is not put aside', async () => {
    await priceFrom('memory')
    // As the public nodes of BSC: https://github.com/bnb-chain/bsc/issues/1215
    await proxy.become(refusing(isLogs, { code: -32005, message: 'limit exceeded' }))
    const first = await priceFrom('rpc')
    for (let count = 0; count < 10; count += 1) {
      await rpc('evm_mine')
      const { blockNumber, source } = await price()
      expect(source).to.equal('rpc')
      expect(blockNumber).to.be.at.least(first.blockNumber)
      const balances = await server.client.get('/network/balances', { ...local, address: admins, tokenSymbols: ['ETH'] })
      expect(outcome(balances), balances.text).to.equal('200')
    }
    await traded()
    await proxy.become(healthy)
    await priceFrom('memory')
  })

  it('the positions of v4 are those that this server made, and how many are missing where it does not know them yet', async () => {
    const wallet = { ...local, address: admins }
    async function made(path: string, fields: object): Promise<Answer['body']> {
      const answer = await server.client.post(path, { ...wallet, ...fields })
      expect(outcome(answer), answer.text).to.equal('200')
      const { body } = await mined(server.client, answer.body.txHash)
      expect(body.txReceipt.status, body.reason).to.equal(1)
      return body
    }
    const v4 = { connector: 'uniswap', version: 'v4' }
    for (const token of ['WETH', 'USDC']) await made('/evm/approve', { spender: 'uniswap/v4Positions', token })
    const range = { token0: 'WETH', token1: 'USDC', fee: 'MEDIUM', amount0: '1', amount1: '3000', lowerPrice: '2500', upperPrice: '3500' }
    const ids: string[] = []
    for (const _ of [1, 2]) ids.push((await made('/amm/liquidity/add', { ...v4, ...range })).fill.tokenId)
    const [kept = '', sent = ''] = ids
    const listed = async () => (await server.client.get('/amm/liquidity/positions', { ...wallet, ...v4 })).body
    const idsOf = ({ positions }: Answer['body']) => positions.map(({ tokenId }: { tokenId: string }) => tokenId)

    await proxy.become(refusing(isLogs, tooMany))
    let blind = await listed()
    // The journal has the newest as soon as the server has seen it mined.
    for (let tries = 0; blind.missing !== undefined && tries < 100; tries += 1) {
      expect(blind.notSearched).to.be.a('string')
      await new Promise((resolve) => setTimeout(resolve, 200))
      blind = await listed()
    }
    expect(idsOf(blind)).to.have.members(ids)
    expect(blind).not.to.have.any.keys('missing', 'searchedFromBlock')
    // What is not the wallet's any more is not shown, though the journal knows it.
    await made('/amm/liquidity/remove', { ...v4, tokenId: sent, burn: true })
    expect(idsOf(await listed())).to.deep.equal([kept])
    await proxy.become(healthy)
  })
})
