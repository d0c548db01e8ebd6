import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { readPluginFiles } from '../../core/loader/plugin-files.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, mined, oneChain, outcome, twins } from './shared-server.ts'

const plugins = fileURLToPath(new URL('../fixtures/plugins/allowed', import.meta.url))
const router = '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01'

/** What `sluice plugin allow` writes. */
const lock = {
  lockVersion: 1,
  plugins: {
    rogue: {
      sha256: readPluginFiles(`${plugins}/rogue`).sha256,
      tier: 'contained',
      kind: 'connector',
      networks: { 'ethereum/local': { contracts: { routerAddress: router }, spenders: [router] } },
      signs: [],
      hosts: [],
    },
  },
}
const twinList = {
  name: 'Twins',
  tokens: twins.map((address, index) => ({ chainId: 31337, address, symbol: `TWIN${index}`, name: 'Twin', decimals: 6 })),
}

describe('trades of a plugin that the operator has allowed', function () {
  this.timeout(60_000)
  let server: TestServer
  const nonce = () => rpcTo(server.rpcUrl)('eth_getTransactionCount', admins, 'pending')
  const trade = (swap: Record<string, string>) =>
    server.client.post('/amm/trade', { ...local, connector: 'rogue', address: admins, base: 'WETH', quote: 'USDC', side: 'SELL', ...swap })
  /** The last digit says how the plugin lies about it. */
  const [honest, half, lyingFill] = ['0.100000000000000000', '0.100000000000000001', '0.100000000000000002'] as const

  before(async () => {
    server = await startServer({
      settings: { ...oneChain.settings },
      plugins: [plugins],
      conf: {
        'chains/ethereum.yml': { mainnet: { enabled: false }, sepolia: { enabled: false } },
        '../sluice.lock': stringify(lock),
        'tokens/ethereum/local.json': JSON.stringify(twinList),
      },
    })
    for (const token of ['WETH', 'USDC']) {
      const answer = await server.client.post('/evm/approve', { ...local, address: admins, spender: 'rogue', token, amount: '1000' })
      expect(outcome(answer), answer.text).to.equal('200')
      await mined(server.client, answer.body.txHash)
    }
  })
  after(() => server?.stop())

  it('are signed where its quote is near that of the built-in connectors', async () => {
    for (const side of ['SELL', 'BUY']) {
      const answer = await trade({ amount: honest, side })
      expect(outcome(answer), answer.text).to.equal('200')
    }
  })

  it('are not signed where its quote is far worse, and the plan gives the rest to somebody else', async () => {
    const before = await nonce()
    const answer = await trade({ amount: half })
    expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
    expect(answer.body.details[0].field).to.equal('limitPrice')
    expect(answer.body.message).to.match(/rogue.*more than 5 % worse.*\(\w+\).*nothing was signed/i)
    expect(await nonce()).to.equal(before)
  })

  it('are not signed past the limitPrice of the request', async () => {
    const before = await nonce()
    const { body } = await server.client.get('/amm/price', {
      ...local,
      connector: 'uniswap',
      base: 'WETH',
      quote: 'USDC',
      amount: honest,
      side: 'SELL',
    })
    const answer = await trade({ amount: half, limitPrice: body.slippagePrice })
    expect(outcome(answer), answer.text).to.equal('422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
    expect(await nonce()).to.equal(before)
  })

  it('need a limitPrice where no built-in connector has a price', async () => {
    const before = await nonce()
    const swap = { base: 'TWIN0', quote: 'TWIN1', amount: '1.000003' }
    const answer = await trade(swap)
    expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
    expect(answer.body.details[0].field).to.equal('limitPrice')
    expect(answer.body.message).to.match(/no built-in connector/)
    // With it the trade goes on, to the wallet's funds.
    const limited = await trade({ ...swap, limitPrice: '0.1' })
    expect(outcome(limited)).to.not.equal('400 INCOMPLETE_PARAMS')
    expect(await nonce()).to.equal(before)
  })

  it('have the fill that their events tell, whatever the plugin says', async () => {
    const answer = await trade({ amount: lyingFill })
    expect(outcome(answer), answer.text).to.equal('200')
    const { body } = await mined(server.client, answer.body.txHash)
    expect(body.fill).to.include({ amountIn: lyingFill })
    expect(Number(body.fill.amountOut)).to.be.closeTo(Number(answer.body.expectedAmount), Number(answer.body.expectedAmount) / 100)
  })

  it('of the native coin have a fill where their events tell all of it, and none where they do not', async () => {
    for (const { swap, isTold } of [
      { swap: { base: 'ETH', amount: honest }, isTold: true },
      // What the router sends to the wallet, it sends without an event.
      { swap: { base: 'ETH', side: 'BUY', amount: honest }, isTold: false },
      { swap: { base: 'USDC', quote: 'ETH', side: 'BUY', amount: '10' }, isTold: false },
      { swap: { base: 'USDC', quote: 'ETH', amount: '10' }, isTold: false },
    ]) {
      const answer = await trade(swap)
      expect(outcome(answer), answer.text).to.equal('200')
      const { body } = await mined(server.client, answer.body.txHash)
      expect(body.txReceipt.status).to.equal(1)
      expect(body.fill !== undefined, JSON.stringify({ swap, fill: body.fill })).to.equal(isTold)
      if (isTold) expect(body.fill.amountIn).to.equal(honest)
    }
  })
})
