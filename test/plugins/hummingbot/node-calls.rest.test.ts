import { expect } from 'chai'
import { createClient, type Client } from '../../../testkit/client.ts'
import { admins, mined, swap as nativeSwap } from '../../http/shared-server.ts'
import { startBehindProxy, type BehindProxy } from '../../http/trouble/behind-proxy.ts'
import { healthy } from '../../http/trouble/faulty-proxy.ts'
import { until } from '../../transactions/site.ts'
import { Bot, chainNetwork } from './bot.ts'

/** What the server asks at its own pace, of each block, of what is in it, and of a transaction that is under way. */
const following: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_getBlockByNumber',
  'eth_getBlockTransactionCountByHash',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_getTransactionCount',
  'eth_getBalance',
  'eth_maxPriorityFeePerGas',
])

const swap = { chainNetwork, connector: 'uniswap', baseToken: 'WETH', quoteToken: 'USDC', side: 'SELL' }
const places = 2
const pollOf = (index: number) => ({ network: 'local', signature: `0x${String(index).padStart(64, '0')}` })

describe('what a bot of Hummingbot asks, and the node', function () {
  this.timeout(300_000)
  let stage: BehindProxy
  const clients: Client[] = []
  let asked: string[] = []
  /** Of the node, until it resolves. */
  let silence: Promise<void> | undefined

  const botOf = (): Bot => {
    const client = createClient(stage.server.interfaceUrls['hummingbot'] ?? '', stage.server.certsDir)
    clients.push(client)
    return new Bot(client)
  }

  before(async () => {
    stage = await startBehindProxy(
      { 'limits.inFlight': places, 'limits.clientInFlight': places, 'market.checkSeconds': 3_600 },
      { 'interfaces/hummingbot.yml': { port: 0 } },
    )
    await stage.proxy.become(async (exchange) => {
      asked.push(...exchange.methods)
      await silence
      await healthy(exchange)
    })
  })
  after(async () => {
    for (const each of clients) each.close()
    await stage?.stop()
  })

  async function askedBy(work: () => Promise<unknown>): Promise<string> {
    asked = []
    await work()
    return asked
      .filter((method) => !following.has(method))
      .toSorted()
      .join()
  }

  it('is asked by a quote and by a swap for what the server’s own paths ask for, and nothing more', async () => {
    const [bot, { client }] = [botOf(), stage.server]
    const { amount: _amount, ...priced } = nativeSwap
    const quotes = {
      native: () => client.get('/amm/price', { ...priced, amount: '0.011' }),
      bot: () => bot.get('/trading/router/quote-swap', { ...swap, amount: '0.012' }),
    }
    const swaps = {
      native: async (amount: string) =>
        mined(client, (await client.post('/amm/trade', { ...priced, amount, address: admins })).body.txHash),
      bot: (amount: string) => bot.post('/trading/router/execute-swap', { ...swap, amount, walletAddress: admins }),
    }
    await client
      .post('/evm/wrap', { chain: 'ethereum', network: 'local', address: admins, amount: '1' })
      .then(({ body }) => mined(client, body.txHash))
    await client
      .post('/evm/approve', { chain: 'ethereum', network: 'local', address: admins, spender: 'uniswap', token: 'WETH' })
      .then(({ body }) => mined(client, body.txHash))
    // The first are simulated, and make memory.
    await quotes.native()
    await swaps.native('0.01')
    await swaps.bot('0.011')
    expect(await askedBy(quotes.bot)).to.equal(await askedBy(quotes.native))
    expect(await askedBy(() => swaps.bot('0.013'))).to.equal(await askedBy(() => swaps.native('0.012')))
  })

  it('is not needed by a ping, which waits for nothing that requests hold: neither their places nor a node that is silent', async () => {
    const [busy, other] = [botOf(), botOf()]
    // A server asks a node for its chain first.
    await other.post('/chains/ethereum/poll', pollOf(99))
    let release = () => {}
    silence = new Promise<void>((resolve) => (release = resolve))
    asked = []
    let answered = 0
    const poll = (_: unknown, index: number) => busy.post('/chains/ethereum/poll', pollOf(index)).then(() => void (answered += 1))
    const held = Array.from({ length: 3 * places }, poll)
    await until('the node is asked', async () => asked.includes('eth_getTransactionByHash'))
    for (const bot of [busy, other]) expect(await bot.get('/')).to.include({ status: 'ok' })
    expect(answered).to.equal(0)
    release()
    await Promise.all(held)
  })
})
