import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { subtract } from '../../../core/base/decimal.ts'
import { rpcTo, type Rpc } from '../../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { admins, atNode, local, mined, noted, oneChain, traders, withoutBlocks } from '../../http/shared-server.ts'
import { until } from '../../transactions/site.ts'
import { type Bot, botsOf, chainNetwork, cuttablePost } from './bot.ts'

type Amounts = Readonly<Record<string, string>>

const venue = { chainNetwork, connector: 'uniswap' }
const networks = oneChain.conf['chains/ethereum.yml']
/** The journal learns of a block seconds after the node has it. */
const local12 = { ...networks.local, confirmations: 12, pollingSeconds: 2 }
const windows = { receiptSeconds: 30, staleSeconds: 60, collectSeconds: 300 }

describe('answers to Hummingbot’s clients where the block of the receipt was taken back', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  let bot: Bot
  let pool = ''
  let opening: object = {}
  const { botOf, close } = botsOf(() => server)

  before(async () => {
    const conf = { 'chains/ethereum.yml': { ...networks, local: local12 }, 'interfaces/hummingbot.yml': { port: 0, ...windows } }
    server = await startServer({ ...oneChain, conf: { ...oneChain.conf, ...conf } })
    rpc = rpcTo(server.rpcUrl)
    bot = botOf()
    await submitted('/evm/wrap', { amount: '50' })
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap', 'uniswap/positions']) await submitted('/evm/approve', { spender, token })
    const { body } = await server.client.get('/amm/pools', { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', version: 'v3' })
    pool = body.pools[0].pool
    const price = Number((await bot.get('/trading/clmm/pool-info', { ...venue, poolAddress: pool })).price)
    const amounts = price < 1 ? { baseTokenAmount: 300, quoteTokenAmount: 0.1 } : { baseTokenAmount: 0.1, quoteTokenAmount: 300 }
    opening = { ...wanted, poolAddress: pool, lowerPrice: price * 0.9, upperPrice: price * 1.1, ...amounts }
  })
  after(async () => {
    close()
    await server?.stop()
  })

  async function submitted(path: string, fields: object): Promise<void> {
    const { status, text, body } = await server.client.post(path, { ...local, address: admins, ...fields })
    expect(status, text).to.equal(200)
    await mined(server.client, body.txHash)
  }
  const journaled = async (fields: object) => (await server.client.get('/transactions', { ...fields, limit: '200' })).body.transactions
  const signed = async (): Promise<string[]> =>
    (await journaled({ address: admins })).flatMap(({ txHash }: { txHash: string | null }) => txHash ?? [])
  /** Somebody else trades in the pool, in a block without ours. */
  async function movePrice(): Promise<void> {
    const fields = { connector: 'uniswap', address: traders, base: 'ETH', quote: 'USDC', side: 'SELL', amount: '2', pool }
    const { status, text, body } = await server.client.post('/amm/trade', { ...local, ...fields })
    expect(status, text).to.equal(200)
    await atNode(rpc, body.txHash)
    await rpc('evm_mine')
  }

  const wanted = { ...venue, walletAddress: admins, slippagePct: 5 }
  const opened = async () => ({ ...wanted, positionAddress: (await bot.post('/trading/clmm/open', opening)).data.positionAddress })
  const added = ({ amount0, amount1 }: Amounts) => ({ baseTokenAmountAdded: amount0, quoteTokenAmountAdded: amount1 })
  const removed = ({ amount0, amount1 }: Amounts) => ({ baseTokenAmountRemoved: amount0, quoteTokenAmountRemoved: amount1 })
  const collected = ({ fees0, fees1 }: Amounts) => ({ baseFeeAmountCollected: fees0, quoteFeeAmountCollected: fees1 })
  const principal = ({ amount0 = '', amount1 = '', fees0 = '', fees1 = '' }: Amounts) =>
    removed({ amount0: subtract(amount0, fees0), amount1: subtract(amount1, fees1) })
  const traded = ({ amountIn, amountOut }: Amounts) => ({ amountIn, amountOut })

  interface Way {
    readonly path: string
    body(): Promise<object>
    told(fill: Amounts): object
  }
  const ways: Readonly<Record<string, Way>> = {
    close: { path: '/trading/clmm/close', body: opened, told: (fill) => ({ ...principal(fill), ...collected(fill) }) },
    open: { path: '/trading/clmm/open', body: async () => opening, told: added },
    add: { path: '/trading/clmm/add', body: async () => ({ ...opening, ...(await opened()) }), told: added },
    removal: { path: '/trading/clmm/remove', body: async () => ({ ...(await opened()), percentageToRemove: 50 }), told: removed },
    'removal of all': { path: '/trading/clmm/remove', body: async () => ({ ...(await opened()), percentageToRemove: 100 }), told: removed },
    swap: {
      path: '/trading/clmm/execute-swap',
      body: async () => ({ ...wanted, baseToken: 'WETH', quoteToken: 'USDC', amount: 0.25, side: 'SELL', poolAddress: pool }),
      told: traded,
    },
  }
  for (const [what, { path, body, told }] of Object.entries(ways))
    it(`tell what the next block brought, for a ${what} that was asked for again`, async () => {
      const asked = await body()
      const before = new Set(await signed())
      let txHash: string | undefined
      let takenBack: Amounts = {}
      const answer = await withoutBlocks(rpc, async () => {
        const lost = cuttablePost(new URL(path, server.kernel.interfaceUrls['hummingbot']), server.certsDir, asked)
        await until('it is signed', async () => (txHash = (await signed()).find((each) => !before.has(each))) !== undefined)
        lost.cut()
        await lost.answer
        await atNode(rpc, txHash ?? '')
        await rpc('evm_mine')
        await noted(server.client, txHash ?? '')
        takenBack = (await mined(server.client, txHash ?? '')).body.fill
        await rpc('anvil_reorg', 1, [])
        await movePrice()
        const again = bot.post(path, asked)
        await Promise.race([again, pause(1_000)])
        return [again]
      })
      const { signature, data } = await answer[0]
      expect(signature).to.equal(txHash)
      await rpc('anvil_mine', 12)
      await until('it is final', async () => (await journaled({ txHash }))[0].final)
      const { fill } = (await mined(server.client, signature)).body
      expect(told(fill)).not.to.deep.equal(told(takenBack))
      expect(data).to.deep.include(told(fill))
    })
})
