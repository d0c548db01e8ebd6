import { expect } from 'chai'
import { openServerStore } from '../../../core/parts/storage.ts'
import type { Store } from '../../../core/store/store.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { healthy, startFaultyProxy, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { admins, local, mined, oneChain, withoutBlocks } from '../../http/shared-server.ts'
import { until } from '../../transactions/site.ts'
import { type Bot, botsOf, chainNetwork, cuttablePost, decimals } from './bot.ts'

const venue = { chainNetwork, connector: 'uniswap' }

describe('removals of all of a position of Hummingbot’s clients', function () {
  this.timeout(300_000)
  let server: TestServer
  let store: Store
  let line: FaultyProxy
  let bot: Bot
  const { botOf, close } = botsOf(() => server)

  before(async () => {
    server = await startServer(
      {
        ...oneChain,
        conf: { ...oneChain.conf, 'interfaces/hummingbot.yml': { port: 0 } },
        between: async (rpcUrl) => {
          line = await startFaultyProxy()
          line.target = rpcUrl
          return `http://127.0.0.1:${line.port}`
        },
      },
      undefined,
      { store: { open: async (parts) => (store = await openServerStore(parts)), stop: (opened) => opened.close() } },
    )
    bot = botOf()
    await submitted('/evm/wrap', { address: admins, amount: '50' })
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap/positions', 'uniswap/v4Positions'])
        await submitted('/evm/approve', { address: admins, spender, token })
  })

  after(async () => {
    close()
    await server?.stop()
    await line?.stop()
  })

  async function submitted(path: string, fields: object): Promise<void> {
    const { status, text, body } = await server.client.post(path, { ...local, ...fields })
    expect(status, text).to.equal(200)
    await mined(server.client, body.txHash)
  }
  /** Changes of liquidity that were signed. */
  const count = async (): Promise<number> =>
    (await server.client.get('/transactions', { kind: 'liquidity', limit: '200' })).body.transactions.filter(
      ({ txHash }: { txHash: string | null }) => txHash !== null,
    ).length

  /** Requests that are one with an earlier one whose answer was not delivered. */
  const joined = async (): Promise<number> =>
    (await store.read((db) => db.selectFrom('deliveries').select('id').where('state', '=', 'open').where('joins', '>', 0).execute())).length

  async function opened(version: string) {
    const listed = await server.client.get('/amm/pools', { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', version })
    const of = { ...venue, poolAddress: listed.body.pools[0].pool }
    const price = Number((await bot.get('/trading/clmm/pool-info', of)).price)
    const amounts = price < 1 ? { baseTokenAmount: 300, quoteTokenAmount: 0.1 } : { baseTokenAmount: 0.1, quoteTokenAmount: 300 }
    const range = { lowerPrice: price * 0.9, upperPrice: price * 1.1 }
    const { data } = await bot.post('/trading/clmm/open', { ...of, walletAddress: admins, ...range, ...amounts })
    return { amounts, position: { ...venue, walletAddress: admins, positionAddress: data.positionAddress } }
  }

  for (const version of ['v3', 'v4'])
    it(`are one, in ${version}, while the first is under way, none after its answer, and another once liquidity was added`, async () => {
      const { amounts, position } = await opened(version)
      const all = { ...position, percentageToRemove: 100 }
      const before = await count()
      const pair = await withoutBlocks(rpcTo(server.rpcUrl), async () => {
        const first = bot.post('/trading/clmm/remove', all)
        await until('the first is signed', async () => (await count()) === before + 1)
        const second = bot.post('/trading/clmm/remove', { ...all, percentageToRemove: '100.0', slippagePct: 0.25 })
        await until('the second is one with it', async () => (await joined()) === 1)
        return [first, second]
      })
      const [first, second] = await Promise.all(pair)
      expect(first.status).to.equal(1)
      decimals(first.data, 'baseTokenAmountRemoved', 'quoteTokenAmountRemoved', 'fee')
      expect(second).to.deep.equal(first)
      // Who asks again would book the amounts twice.
      const older = await bot.refusal('POST', '/connectors/uniswap/clmm/remove-liquidity', { ...all, network: 'local' })
      expect([older.status, older.body.message].join(' ')).to.match(/^422 .*holds no liquidity and no fees/)
      expect(await count()).to.equal(before + 1)

      const added = await bot.post('/trading/clmm/add', { ...position, ...amounts })
      expect(added.status).to.equal(1)
      const again = await bot.post('/trading/clmm/remove', all)
      expect([again.status, again.signature === first.signature]).to.deep.equal([1, false])
      for (const token of ['base', 'quote'])
        expect(Number(again.data[`${token}TokenAmountRemoved`])).to.be.closeTo(Number(added.data[`${token}TokenAmountAdded`]), 1e-5)
      expect((await bot.refusal('POST', '/trading/clmm/remove', { ...all, slippagePct: 0.05 })).status).to.equal(older.status)
      expect(await count()).to.equal(before + 3)
    })

  for (const slippagePct of [undefined, 0.25])
    it(`are others once liquidity was added${slippagePct === undefined ? '' : ', with another slippage'}, where a node failed in between, and where nothing is known of the first but what was signed`, async () => {
      const { amounts, position } = await opened('v3')
      const all = { ...position, percentageToRemove: 100 }
      const again = { ...all, ...(slippagePct !== undefined && { slippagePct }) }
      const used = new Set([(await bot.post('/trading/clmm/remove', all)).signature])
      const troubles = [
        // The receipt is there, and the position is not read.
        () =>
          line.become((exchange) => (exchange.methods.includes('eth_call') ? exchange.response.writeHead(502).end() : healthy(exchange))),
        () => line.become(({ response }) => response.writeHead(502).end()),
        async () => {
          await store.write((tx) => tx.deleteFrom('deliveries').execute())
        },
      ]
      for (const trouble of troubles) {
        expect((await bot.post('/trading/clmm/add', { ...position, ...amounts })).status).to.equal(1)
        const isOfNode = trouble !== troubles[2]
        await trouble()
        if (isOfNode) expect((await bot.refusal('POST', '/trading/clmm/remove', again)).status).to.equal(503)
        await line.become(healthy)
        // A node that failed is left alone for a moment.
        const { chainNetwork: on, connector, positionAddress } = position
        const asked = { chainNetwork: on, connector, positionAddress }
        await until('the node is asked', async () => (await bot.answer('/trading/clmm/position-info', asked)).status === 200)
        const { signature, status, data } = await bot.post('/trading/clmm/remove', again)
        expect([status, used.has(signature)]).to.deep.equal([1, false])
        expect(Number(data.baseTokenAmountRemoved)).to.be.above(0)
        used.add(signature)
      }
    })

  it('have the answer that was lost, and a close after them removes the position itself', async () => {
    const { position } = await opened('v3')
    const all = { ...position, percentageToRemove: 100 }
    const before = await count()
    const url = new URL('/trading/clmm/remove', server.kernel.interfaceUrls['hummingbot'])
    await withoutBlocks(rpcTo(server.rpcUrl), async () => {
      const lost = cuttablePost(url, server.certsDir, all)
      await until('it is signed', async () => (await count()) === before + 1)
      lost.cut()
      await lost.answer
    })
    const { status, data } = await bot.post('/trading/clmm/remove', { ...all, slippagePct: 0.25 })
    expect(status).to.equal(1)
    expect(Number(data.baseTokenAmountRemoved) > 0 && Number(data.quoteTokenAmountRemoved) > 0).to.equal(true)
    expect(await count()).to.equal(before + 1)
    expect((await bot.post('/trading/clmm/close', position)).status).to.equal(1)
    expect(await count()).to.equal(before + 2)
  })
})
