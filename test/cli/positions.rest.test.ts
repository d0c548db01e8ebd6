import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Interface } from 'ethers'
import { startKernel } from '../../core/kernel.ts'
import { openStore } from '../../core/store/open-store.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { dayMs } from '../../core/transactions/archiver.ts'
import { createClient } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { follow } from '../events/client.ts'
import { admins, atNode, local, mined, noted, oneChain, uniswap, withoutBlocks } from '../http/shared-server.ts'
import { rpcTo } from '../kits/evm/test-chain.ts'
import { type Bot, botsOf, chainNetwork, cuttablePost } from '../plugins/hummingbot/bot.ts'
import { silent, until } from '../transactions/site.ts'
import { runCommand } from './run-command.ts'

describe('sluice positions', function () {
  this.timeout(300_000)
  let started: TestServer
  let server: TestServer
  let bot: Bot
  let body: object
  const { botOf, close } = botsOf(() => server)
  const listed = async (...args: string[]): Promise<{ tokenId?: string; isFollowed: boolean; unavailable?: string; txHash: string }[]> =>
    JSON.parse(await runCommand(server, ['positions', ...args, '--json']))
  const orphaned = (...args: string[]) => listed('--orphaned', ...args)

  before(async () => {
    const rights = { permissions: ['read', 'trade', 'admin'], wallets: 'all' }
    const conf = {
      ...oneChain.conf,
      'clients.yml': { clients: { client: rights, adopter: rights } },
      'interfaces/hummingbot.yml': { port: 0 },
    }
    server = await startServer({ ...oneChain, conf, between: async (url) => url })
    started = server
    await newClient(server.certsDir, 'adopter')
    bot = botOf()
    await submitted('/evm/wrap', { address: admins, amount: '50' })
    for (const spender of ['uniswap/positions', 'uniswap/v4Positions'])
      for (const token of ['WETH', 'USDC']) await submitted('/evm/approve', { address: admins, spender, token })
    const found = await server.client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version: 'v3' })
    const of = { chainNetwork, connector: 'uniswap', poolAddress: found.body.pools[0].pool }
    const price = Number((await bot.get('/trading/clmm/pool-info', of)).price)
    const amounts = price < 1 ? { baseTokenAmount: 300, quoteTokenAmount: 0.1 } : { baseTokenAmount: 0.1, quoteTokenAmount: 300 }
    body = { ...of, walletAddress: admins, lowerPrice: price * 0.9, upperPrice: price * 1.1, ...amounts }
  })
  after(async () => {
    close()
    server?.client.close()
    await server?.kernel.stop()
    await started?.stop()
  })

  async function submitted(path: string, fields: object, client = server.client): Promise<string> {
    const { status, text, body: answer } = await client.post(path, { ...local, ...fields })
    expect(status, text).to.equal(200)
    await mined(server.client, answer.txHash)
    return answer.txHash
  }
  const confirmed = (txHash: string) =>
    until('it is confirmed', async () => (await server.client.get('/network/poll', { ...local, txHash })).body.txState === 'CONFIRMED')
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

    const follower = await follow(server, { topics: 'deliveries' })
    const first = await lostOpen(body, async (txHash) => {
      await follower.hears('lost', ({ data }) => data.deliveries[0]?.state === 'lost')
      expect(await orphaned()).to.have.nested.property('[0].txHash', txHash)
      expect(await runCommand(server, ['positions', '--orphaned'])).to.contain('not mined yet')
    })
    await follower.close()
    const id = await idOf(first)
    await until('it stands in the book', async () => {
      const { liquidity = [] } = (await server.client.get('/books', { address: admins })).body
      return liquidity.some(({ position, closed }: { position: string; closed: boolean }) => position === id && !closed)
    })
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

  it('gives the command that adopts one, and the one that closes it, after which it is not there any more', async () => {
    const asked = { ...body, slippagePct: 0.5 }
    const ids: string[] = []
    let txHash = ''
    for (const how of ['adopt, by collecting its fees', 'close']) {
      const id = await idOf(await lostOpen(asked))
      ids.push(id)
      const shown = await runCommand(server, ['positions', '--orphaned'])
      const [, command = ''] = new RegExp(`${how}: (curl .*)`).exec(shown) ?? []
      expect(command).to.contain(`"tokenId":"${id}"`)
      const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent`])
      txHash = JSON.parse(stdout).txHash
      await mined(server.client, txHash)
      expect(await orphaned(), how).to.deep.equal([])
    }
    const [adopted, id] = ids
    expect((await listed()).find(({ tokenId }) => tokenId === adopted)).to.include({ isFollowed: true })
    await confirmed(txHash)
    expect((await listed()).map(({ tokenId }) => tokenId)).not.to.include(id)
  })

  it('is followed by who closed it or used its id, so that the same open is another one from then on', async () => {
    const asked = { ...body, slippagePct: 0.6 }
    for (const end of ['remove', 'collect_fees'] as const) {
      const first = await idOf(await lostOpen(asked))
      await submitted(`/amm/liquidity/${end}`, {
        connector: 'uniswap',
        address: admins,
        tokenId: first,
        ...(end === 'remove' && { burn: true }),
      })
      const next = (await bot.post('/trading/clmm/open', asked)).data.positionAddress
      expect(next, end).not.to.equal(first)
      expect(await bot.get('/trading/clmm/position-info', { chainNetwork, connector: 'uniswap', positionAddress: next })).to.include({
        address: next,
      })
    }
    // Who was not asked again by anybody else has what was lost.
    const lost = await idOf(await lostOpen(asked))
    expect((await bot.post('/trading/clmm/open', asked)).data.positionAddress).to.equal(lost)
  })

  it('counts a use without a version, and by another client, also where one client alone is asked for', async () => {
    const id = await idOf(await lostOpen({ ...body, slippagePct: 0.4 }))
    const ofClient = ['--client', 'client']
    expect((await orphaned(...ofClient)).map(({ tokenId }) => tokenId)).to.deep.equal([id])
    const adopter = createClient(server.url, server.certsDir, 'adopter')
    await submitted('/amm/liquidity/collect_fees', { connector: 'uniswap', address: admins, tokenId: id }, adopter)
    adopter.close()
    expect(await orphaned()).to.deep.equal([])
    expect(await orphaned(...ofClient)).to.deep.equal([])
  })

  it('knows the version of one whose open named a pool alone', async () => {
    const pair = { connector: 'uniswap', token0: 'WETH', token1: 'USDC' }
    const { pool, price } = (await server.client.post('/amm/liquidity/price', { ...local, ...pair, version: 'v4', fee: 'MEDIUM' })).body
    const bounds = { lowerPrice: String(Number(price) * 0.9), upperPrice: String(Number(price) * 1.1) }
    const txHash = await submitted('/amm/liquidity/add', { ...pair, ...bounds, address: admins, pool, amount0: '0.1', amount1: '300' })
    const tokenId = await idOf(txHash)
    await noted(server.client, txHash)
    const found = (await listed()).find((each) => each.txHash === txHash)
    expect(found).to.deep.include({ version: 'v4', tokenId, isFollowed: true })
    expect(found).to.include.keys('amount0').and.not.to.include.keys('unavailable')
  })

  it('is listed for the way back as the request that closes it at Hummingbot’s own Gateway, where that has such positions', async () => {
    const lines = (await runCommand(server, ['hummingbot', 'positions'])).split('\n')
    const bodies = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    const requests = bodies.filter(({ positionAddress }) => positionAddress !== undefined)
    const known: { tokenId: string; version: string }[] = JSON.parse(await runCommand(server, ['positions', '--json']))
    expect(requests.map(({ positionAddress }) => positionAddress)).to.deep.equal(
      known.filter(({ version }) => version === 'v3').map(({ tokenId }) => tokenId),
    )
    expect(lines.filter((line) => line.includes('no positions of v4'))).to.have.length(
      known.filter(({ version }) => version === 'v4').length,
    )
    expect(lines).to.include(`For Hummingbot’s Gateway to close: ${requests.length} of positions, 0 of shares.`)
    const [request] = requests
    expect(request).to.include({ chainNetwork, connector: 'uniswap', walletAddress: admins })
    const closed = await bot.post('/trading/clmm/close', request)
    expect(closed.status).to.equal(1)
    await confirmed(closed.signature)
    expect(await runCommand(server, ['hummingbot', 'positions'])).not.to.contain(JSON.stringify(request))
  })

  it('has shares of pools for the way back, too, as the request that removes them there, and those of no other exchange', async () => {
    const pools: Record<string, string> = {}
    for (const connector of ['uniswap', 'sushiswap']) {
      const spender = connector === 'uniswap' ? 'uniswap/v2' : connector
      for (const token of ['WETH', 'USDC']) await submitted('/evm/approve', { address: admins, spender, token })
      const shares = { connector, tokens: ['WETH', 'USDC'], amounts: ['0.01'], address: admins }
      const { status, text, body: added } = await server.client.post('/amm/shares/add', { ...local, ...shares })
      expect(status, text).to.equal(200)
      pools[connector] = added.pool
      await mined(server.client, added.txHash)
      await noted(server.client, added.txHash)
    }
    const shown = await runCommand(server, ['hummingbot', 'positions'])
    const bodies = shown.split('\n').flatMap((line) => (line.includes('percentageToRemove') ? [JSON.parse(line)] : []))
    const request = { connector: 'uniswap', chainNetwork, walletAddress: admins, poolAddress: pools['uniswap'], percentageToRemove: 100 }
    expect(bodies).to.deep.equal([request])
    expect(shown).to.contain(`shares of sushiswap v2 ${pools['sushiswap']}`)
    expect(await runCommand(server, ['hummingbot', 'positions', '--orphaned'])).not.to.contain('percentageToRemove')
  })

  it('lists one whose last close came to nothing, until it is closed', async () => {
    const id = (await bot.post('/trading/clmm/open', { ...body, slippagePct: 0.7 })).data.positionAddress
    expect(await orphaned()).to.deep.equal([])
    const { body: config } = await server.client.get('/connector/config', { connector: 'uniswap' })
    const manager = config.contractAddresses.local.positionManagerAddress
    const rpc = rpcTo(server.rpcUrl)
    const closing = { ...uniswap, address: admins, tokenId: id, burn: true }
    const failed = await withoutBlocks(rpc, async () => {
      const { text, body: sent } = await server.client.post('/amm/liquidity/remove', closing)
      expect(sent, text).to.have.property('txHash')
      await atNode(rpc, sent.txHash)
      const code = await rpc('eth_getCode', manager, 'latest')
      await rpc('anvil_setCode', manager, '0xfd')
      await rpc('evm_mine')
      await rpc('anvil_setCode', manager, code)
      return sent.txHash
    })
    await until('its close is final', async () => (await server.client.get('/network/poll', { ...local, txHash: failed })).body.final)
    expect(await orphaned()).to.have.nested.property('[0].failedClose', failed)
    expect((await orphaned()).map(({ tokenId }) => tokenId)).to.deep.equal([id])
    expect(await runCommand(server, ['positions', '--orphaned'])).to.contain(`its close ${failed} came to nothing`)
    await submitted('/amm/liquidity/remove', closing)
    expect(await orphaned()).to.deep.equal([])
  })

  it('leaves out one that was closed elsewhere once that is final, and not before', async () => {
    const id = await idOf(await lostOpen({ ...body, slippagePct: 0.3 }))
    const { body: config } = await server.client.get('/connector/config', { connector: 'uniswap' })
    const { liquidity } = (await server.client.post('/amm/liquidity/position', { ...uniswap, tokenId: id })).body
    const manager = new Interface([
      'function multicall(bytes[])',
      'function decreaseLiquidity((uint256, uint128, uint256, uint256, uint256))',
      'function collect((uint256, address, uint128, uint128))',
      'function burn(uint256)',
    ])
    const most = 2n ** 128n - 1n
    const calls = [
      manager.encodeFunctionData('decreaseLiquidity', [[id, liquidity, 0, 0, 2n ** 40n]]),
      manager.encodeFunctionData('collect', [[id, admins, most, most]]),
      manager.encodeFunctionData('burn', [id]),
    ]
    const rpc = rpcTo(server.rpcUrl)
    await withoutBlocks(rpc, async () => {
      const to = config.contractAddresses.local.positionManagerAddress
      const data = manager.encodeFunctionData('multicall', [calls])
      const txHash = await rpc('eth_sendTransaction', { from: admins, to, data, gas: '0x1e8480' })
      await rpc('evm_mine')
      expect(await rpc('eth_getTransactionReceipt', txHash)).to.have.property('status', '0x1')
      await until('the server has the block', async () => (await orphaned())[0]?.unavailable !== undefined)
      expect((await orphaned())[0]).to.have.property('tokenId', id)
      expect(await runCommand(server, ['positions', '--orphaned'])).to.contain('not there at this block')
    })
    await until('that is final', async () => (await orphaned()).length === 0)
  })

  it('lists one whose transaction is in the archive', async () => {
    const txHash = await lostOpen({ ...body, slippagePct: 0.2 })
    const id = await idOf(txHash)
    await confirmed(txHash)
    // The newest of a wallet stays in the journal.
    await confirmed(await submitted('/evm/wrap', { address: admins, amount: '1' }))
    await passDays(2)
    expect((await server.client.post('/transactions/prune', { olderThanDays: 1 })).body.archived).to.be.above(0)
    const { transactions } = (await server.client.get('/transactions', { txHash })).body
    expect(transactions[0]).to.have.property('archived', true)
    const there = (await orphaned()).filter(({ unavailable }) => unavailable === undefined)
    expect(there.map(({ tokenId }) => tokenId)).to.deep.equal([id])
  })

  /** Servers ran for so many days before the next one starts. */
  async function passDays(days: number): Promise<void> {
    close()
    server.client.close()
    await server.kernel.stop()
    const { devnet } = server.kernel
    const store = await openStore({ dataDir: server.settings.data.dir, serverName: 'test', log: silent })
    await store.write((tx) =>
      tx
        .updateTable('store_time')
        .set((eb) => ({ elapsed: eb('elapsed', '+', days * dayMs) }))
        .execute(),
    )
    await store.close()
    const kernel = await startKernel(server.settings, { print: () => {}, ...(devnet && { devnet }) })
    server = { ...server, kernel, url: kernel.url, client: createClient(kernel.url, server.certsDir) }
  }
})
