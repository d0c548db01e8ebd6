import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { newClient } from '../../../core/tls/certificates.ts'
import { admins, local, mined, oneChain, traders, uniswap } from '../../http/shared-server.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { type Bot, botsOf, chainNetwork, decimals, numbers, texts } from './bot.ts'

const venue = { chainNetwork, connector: 'uniswap' }
const older = { network: 'local' }
const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  trader: { permissions: ['read', 'trade'], wallets: [traders] },
}

/** What clients need of a position: without one of these they stop. */
const amountsOfPosition = ['baseTokenAmount', 'quoteTokenAmount', 'baseFeeAmount', 'quoteFeeAmount', 'lowerPrice', 'upperPrice', 'price']

describe('liquidity of Hummingbot’s clients', function () {
  this.timeout(120_000)
  let server: TestServer
  let bot: Bot
  let trader: Bot
  let rpc: ReturnType<typeof rpcTo>
  const { botOf, close } = botsOf(() => server)

  before(async () => {
    server = await startServer({
      ...oneChain,
      conf: { ...oneChain.conf, 'clients.yml': { clients: listed }, 'interfaces/hummingbot.yml': { port: 0 } },
    })
    rpc = rpcTo(server.rpcUrl)
    await newClient(server.certsDir, 'trader')
    bot = botOf()
    trader = botOf('trader')
    await submitted('/evm/wrap', { address: admins, amount: '50' })
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap/positions', 'uniswap/v4Positions', 'pancakeswap/positions'])
        await submitted('/evm/approve', { address: admins, spender, token })
  })
  after(async () => {
    close()
    await server?.stop()
  })

  async function submitted(path: string, fields: object) {
    const { status, text, body } = await server.client.post(path, { ...local, ...fields })
    expect(status, text).to.equal(200)
    return (await mined(server.client, body.txHash)).body.fill
  }
  async function poolsOf(version: string, connector = 'uniswap'): Promise<{ pool: string; fee: string }[]> {
    const { body } = await server.client.get('/amm/pools', { ...local, connector, base: 'WETH', quote: 'USDC', version })
    return body.pools
  }

  /** A tenth of its price to both sides. */
  const around = ({ price }: { price: string }) => ({ lowerPrice: Number(price) * 0.9, upperPrice: Number(price) * 1.1 })

  /** Made by the server's own interface. */
  async function position(version: string): Promise<{ address: string; pool: string }> {
    const [{ pool } = { pool: '' }] = await poolsOf(version)
    const { token0, token1, price } = (await server.client.post('/amm/liquidity/price', { ...uniswap, pool })).body
    const [lowerPrice, upperPrice] = Object.values(around({ price })).map(String)
    const amounts = Number(price) < 1 ? { amount0: '300', amount1: '0.1' } : { amount0: '0.1', amount1: '300' }
    const range = { token0, token1, pool, lowerPrice, upperPrice, ...amounts }
    const { tokenId } = await submitted('/amm/liquidity/add', { ...uniswap, address: admins, ...range })
    return { address: version === 'v3' ? tokenId : `${version}:${tokenId}`, pool }
  }

  describe('pools with ranges', () => {
    it('have their ticks as bins and their own order of tokens, in both generations', async () => {
      for (const [connector, version] of [
        ['uniswap', 'v3'],
        ['uniswap', 'v4'],
        ['pancakeswap', 'v3'],
      ] as const)
        for (const { pool, fee } of await poolsOf(version, connector)) {
          const info = await bot.get('/trading/clmm/pool-info', { chainNetwork, connector, poolAddress: pool })
          const own = (await server.client.post('/amm/liquidity/price', { ...local, connector, pool })).body
          texts(info, 'address', 'baseTokenAddress', 'quoteTokenAddress')
          decimals(info, 'price', 'feePct', 'baseTokenAmount', 'quoteTokenAmount')
          numbers(info, 'activeBinId', 'binStep')
          expect(info).to.include({ address: pool, baseTokenAddress: own.token0, quoteTokenAddress: own.token1, activeBinId: own.tick })
          expect(Number(info.feePct)).to.be.closeTo(Number(fee) * 100, 1e-9)
          expect(Number(info.quoteTokenAmount) / Number(info.baseTokenAmount)).to.be.closeTo(Number(info.price), Number(info.price) / 1e4)
          expect(await bot.get(`/connectors/${connector}/clmm/pool-info/`, { ...older, poolAddress: pool })).to.deep.equal(info)
        }
    })

    it('are refused with another status than 404, which clients read as gone', async () => {
      for (const fields of [
        { poolAddress: admins },
        { connector: 'nothing', poolAddress: admins },
        { connector: 'sluice', poolAddress: admins },
      ]) {
        const { status, body } = await bot.refusal('GET', '/trading/clmm/pool-info', { ...venue, ...fields })
        expect([status, body.code], body.message).to.deep.equal([400, 'INVALID_PARAMS'])
      }
    })
  })

  describe('positions', () => {
    for (const version of ['v3', 'v4'])
      it(`of ${version} have every field that clients need, alone and in the list`, async () => {
        const { address, pool } = await position(version)
        const info = await bot.get('/trading/clmm/position-info', { ...venue, positionAddress: address })
        expect(info).to.include({ address, poolAddress: pool })
        texts(info, 'address', 'poolAddress', 'baseTokenAddress', 'quoteTokenAddress')
        decimals(info, ...amountsOfPosition)
        expect(Number.isInteger(info.lowerBinId) && Number.isInteger(info.upperBinId) && info.lowerBinId < info.upperBinId).to.equal(true)
        expect(Number(info.lowerPrice) < Number(info.price) && Number(info.price) < Number(info.upperPrice)).to.equal(true)
        expect(await bot.get('/connectors/uniswap/clmm/position-info', { ...older, positionAddress: address })).to.deep.equal(info)
        const owned = await bot.get('/trading/clmm/positions-owned', { ...venue, walletAddress: admins })
        expect(owned).to.deep.include(info)
        const ofPool = await bot.get('/connectors/uniswap/clmm/positions-owned', { ...older, walletAddress: admins, poolAddress: admins })
        expect(ofPool).to.deep.equal([])
      })

    it('are gone only once that is final, and in the words that clients look for', async () => {
      const { address } = await position('v3')
      await submitted('/amm/liquidity/remove', { ...uniswap, address: admins, tokenId: address, burn: true })
      const asked = { ...venue, positionAddress: address }
      await rpc('evm_setIntervalMining', 0)
      try {
        for (let round = 0; round < 2; round++) {
          const { status, body } = await bot.refusal('GET', '/trading/clmm/position-info', asked)
          expect(status).to.equal(503)
          expect(body.message).not.to.match(/position not found|position closed|does not exist|not found/)
        }
        await rpc('anvil_mine', 3)
        const { status, body } = await bot.refusal('GET', '/trading/clmm/position-info', asked)
        expect(status).to.equal(404)
        expect(body.message).to.contain('position closed')
      } finally {
        await rpc('evm_setIntervalMining', 1)
      }
    })

    it('are refused to who may not use their wallet, and by addresses that are none', async () => {
      const { address } = await position('v3')
      expect((await trader.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress: address })).status).to.equal(403)
      for (const positionAddress of ['a b', `0x${'12'.repeat(32)}`, 'v9:1'])
        expect((await bot.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress })).status, positionAddress).to.equal(
          400,
        )
    })
  })
})
