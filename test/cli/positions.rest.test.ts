import { expect } from 'chai'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, mined, noted, oneChain, withoutBlocks } from '../http/shared-server.ts'
import { rpcTo } from '../kits/evm/test-chain.ts'
import { type Bot, botsOf, chainNetwork, cuttablePost } from '../plugins/hummingbot/bot.ts'
import { until } from '../transactions/site.ts'
import { runCommand } from './run-command.ts'

describe('sluice positions', function () {
  this.timeout(120_000)
  let server: TestServer
  let bot: Bot
  let body: object
  const { botOf, close } = botsOf(() => server)
  const orphaned = async (): Promise<{ tokenId?: string; isFollowed: boolean }[]> =>
    JSON.parse(await runCommand(server, ['positions', '--orphaned', '--json']))

  before(async () => {
    server = await startServer({ ...oneChain, conf: { ...oneChain.conf, 'interfaces/hummingbot.yml': { port: 0 } } })
    bot = botOf()
    await submitted('/evm/wrap', { address: admins, amount: '50' })
    for (const token of ['WETH', 'USDC']) await submitted('/evm/approve', { address: admins, spender: 'uniswap/positions', token })
    const listed = await server.client.get('/amm/pools', { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', version: 'v3' })
    const of = { chainNetwork, connector: 'uniswap', poolAddress: listed.body.pools[0].pool }
    const price = Number((await bot.get('/trading/clmm/pool-info', of)).price)
    const amounts = price < 1 ? { baseTokenAmount: 300, quoteTokenAmount: 0.1 } : { baseTokenAmount: 0.1, quoteTokenAmount: 300 }
    body = { ...of, walletAddress: admins, lowerPrice: price * 0.9, upperPrice: price * 1.1, ...amounts }
  })
  after(async () => {
    close()
    await server?.stop()
  })

  async function submitted(path: string, fields: object): Promise<void> {
    const { status, text, body: answer } = await server.client.post(path, { ...local, ...fields })
    expect(status, text).to.equal(200)
    await mined(server.client, answer.txHash)
  }
  const opens = async (): Promise<{ txHash: string | null }[]> =>
    (await server.client.get('/transactions', { kind: 'liquidity', limit: '200' })).body.transactions

  /** An open whose client is gone before its answer. @returns the hash of its transaction */
  async function lostOpen(asked: object, during: (txHash: string) => Promise<void> = async () => {}): Promise<string> {
    const before = (await opens()).length
    const url = new URL('/trading/clmm/open', server.kernel.interfaceUrls['hummingbot'])
    const txHash = await withoutBlocks(rpcTo(server.rpcUrl), async () => {
      const lost = cuttablePost(url, server.certsDir, asked)
      await until('it is signed', async () => (await opens()).length > before && (await opens())[0]?.txHash !== null)
      const [{ txHash: signed } = { txHash: null }] = await opens()
      lost.cut()
      await lost.answer
      await until('its client is known to be gone', async () => (await orphaned()).length > 0)
      await during(signed ?? '')
      return signed ?? ''
    })
    await noted(server.client, txHash)
    return txHash
  }
  const idOf = async (txHash: string): Promise<string> => (await mined(server.client, txHash)).body.fill.tokenId

  it('lists what was opened for a client that was never told of it, until it asks again or somebody uses its id', async () => {
    expect(await runCommand(server, ['positions', '--orphaned'])).to.contain('There is no position that nobody follows')
    const told = (await bot.post('/trading/clmm/open', body)).data.positionAddress
    expect(await orphaned()).to.deep.equal([])

    const first = await lostOpen(body, async (txHash) => {
      expect(await orphaned()).to.have.nested.property('[0].txHash', txHash)
      expect(await runCommand(server, ['positions', '--orphaned'])).to.contain('not mined yet')
    })
    const id = await idOf(first)
    const shown = await runCommand(server, ['positions', '--orphaned'])
    expect(shown)
      .to.contain(`for Hummingbot ${id}`)
      .and.to.match(/holds \d+\.\d+ and \d+\.\d+, fees/)
    expect(shown).not.to.contain(` ${told} `)
    const all = JSON.parse(await runCommand(server, ['positions', '--json']))
    expect(all.map((each: { tokenId: string; isFollowed: boolean }) => [each.tokenId, each.isFollowed])).to.deep.equal([
      [id, false],
      [told, true],
    ])
    // The client asks again.
    expect((await bot.post('/trading/clmm/open', body)).data.positionAddress).to.equal(id)
    expect(await orphaned()).to.deep.equal([])

    const used = await idOf(await lostOpen(body))
    expect((await orphaned()).map(({ tokenId }) => tokenId)).to.deep.equal([used])
    await bot.post('/trading/clmm/collect-fees', { chainNetwork, connector: 'uniswap', walletAddress: admins, positionAddress: used })
    expect(await orphaned()).to.deep.equal([])
  })

  it('gives the request that closes one, after which it is not there any more', async () => {
    const id = await idOf(await lostOpen({ ...body, slippagePct: 0.5 }))
    const shown = await runCommand(server, ['positions', '--orphaned'])
    const [, request = ''] = /POST \/amm\/liquidity\/remove (\{.*\})/.exec(shown) ?? []
    expect(JSON.parse(request)).to.deep.include({ ...local, connector: 'uniswap', address: admins, tokenId: id, burn: true })
    await submitted('/amm/liquidity/remove', JSON.parse(request))
    expect(await orphaned()).to.deep.equal([])
    await rpcTo(server.rpcUrl)('anvil_mine', 4)
    const left = JSON.parse(await runCommand(server, ['positions', '--json']))
    expect(left.map(({ tokenId }: { tokenId: string }) => tokenId)).not.to.include(id)
  })
})
