// Plans of plugins that are not built in: what the simulation says counts, not the plugin, also for clients that are held against a market or have limits.
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, mined, oneChain, outcome } from '../http/shared-server.ts'

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** All built-in plugins but a chain and an exchange of it. */
const others = readdirSync(folder('../../plugins')).filter((name) => !['ethereum', 'uniswap'].includes(name))
const sly = { ...local, connector: 'sly', address: admins } as const
const swap = { ...sly, base: 'WETH', quote: 'USDC', side: 'SELL', amount: '0.1' }
const range = { ...sly, token0: 'WETH', token1: 'USDC', fee: '500', lowerPrice: '2500', upperPrice: '3500', version: 'v3' }
const router = '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01'
const positions = '0xD905B9bc268AFD8eD615CCed5644d6088d1DC7EF'
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  bot: { permissions: ['read', 'trade'], wallets: 'all' },
  limited: {
    permissions: ['read', 'trade', 'thin'],
    wallets: 'all',
    limits: { maxDailyLoss: '200', allowed: { connectors: ['sly'] } },
  },
}

describe('plans of a plugin that is not built in', function () {
  this.timeout(300_000)
  let server: TestServer
  let bot: Client
  let limited: Client
  let nowMs = 0
  /** The node answers as one that cannot simulate. */
  let isOld = false

  before(async () => {
    server = await startServer(
      {
        settings: {
          'plugins.disabled': others,
          'plugins.folders': [folder('../../plugins'), folder('../fixtures/plugins/hostile')],
          'limits.onLocalNetworks': true,
          'limits.marketDepth': 100_000,
        },
        conf: { ...oneChain.conf, 'clients.yml': { clients } },
        between: (url) => between(url, () => isOld),
      },
      undefined,
      { market: { open: (parts) => openMarket(parts, () => nowMs), stop: (market) => market.stop() } },
    )
    await newClients(server.certsDir, ['bot', 'limited'])
    bot = createClient(server.url, server.certsDir, 'bot')
    limited = createClient(server.url, server.certsDir, 'limited')
    for (const token of ['WETH', 'USDC'])
      for (const spender of [router, positions]) {
        const answer = await server.client.post('/evm/approve', { ...local, address: admins, spender, token })
        expect(outcome(answer), answer.text).to.equal('200')
        await mined(server.client, answer.body.txHash)
      }
    await bot.post('/amm/trade', { ...swap, connector: 'uniswap' })
    for (let left = 360; left > 0; left -= 60) {
      nowMs += 60_000
      await server.kernel.services.market.read()
    }
  })
  after(async () => {
    bot?.close()
    limited?.close()
    await server.stop()
  })

  afterEach(() => {
    delete process.env['SLUICE_TEST_SLY']
  })
  const nonce = () => rpcTo(server.rpcUrl)('eth_getTransactionCount', admins, 'pending')

  it('get signed if they do what the request says', async () => {
    const answer = await server.client.post('/amm/trade', swap)
    expect(outcome(answer), answer.text).to.equal('200')
    const other = await server.client.post('/amm/trade', { ...swap, side: 'BUY' })
    expect(outcome(other), other.text).to.equal('200')
    // What the simulation said stays with the transaction.
    const { transactions } = (await server.client.get('/transactions', { txHash: answer.body.txHash })).body
    const { simulated, planned } = transactions[0]
    expect(simulated).to.have.length(2)
    expect(simulated).to.deep.include({ token: planned.base, symbol: 'WETH', amount: '-0.1', rawAmount: '-100000000000000000' })
    const came = simulated.find(({ symbol }: { symbol?: string }) => symbol === 'USDC')
    expect(came?.amount).to.equal(planned.expectedAmount)
  })

  it('get no signature if adding or removing liquidity takes more than was offered', async () => {
    const given = {
      ...sly,
      token0: 'WETH',
      token1: 'USDC',
      fee: '3000',
      lowerPrice: '1000',
      upperPrice: '9000',
      amount0: '0.1',
      amount1: '300',
    }
    const added = await server.client.post('/amm/liquidity/add', given)
    expect(outcome(added), added.text).to.equal('200')
    const { tokenId } = (await mined(server.client, added.body.txHash)).body.fill
    process.env['SLUICE_TEST_SLY'] = 'transfer too'
    const before = await nonce()
    const [more, less] = [
      await server.client.post('/amm/liquidity/add', given),
      await server.client.post('/amm/liquidity/remove', { ...sly, tokenId, burn: true }),
    ]
    for (const answer of [more, less]) {
      expect(outcome(answer), answer.text).to.equal('500 UNKNOWN_ERROR')
      expect(answer.body.message).to.match(/calls transfer\(address,uint256\) of 0x1b9f902252Ad25601aCB5E70ac1E2035B285D348/)
    }
    expect(await nonce()).to.equal(before)
    delete process.env['SLUICE_TEST_SLY']
    const removed = await server.client.post('/amm/liquidity/remove', { ...sly, tokenId, burn: true })
    expect(outcome(removed), removed.text).to.equal('200')
  })

  const ways: readonly [string, string, RegExp][] = [
    ['have another recipient', 'recipient', /takes \d+ of 0x\w+ from the wallet|gives the wallet 0 of 0x\w+/],
    ['have another recipient and a lower bound', 'bound', /gives the wallet 0 of 0x\w+/],
    ['sell fifty times the amount', 'amount', /takes 5000000000000000000 of 0x1b9f902252Ad25601aCB5E70ac1E2035B285D348 from the wallet/],
    ['transfer the token to somebody', 'transfer', /calls transfer\(address,uint256\) of 0x/],
    ['transfer something besides', 'transfer too', /calls transfer\(address,uint256\) of 0x/],
    ['give somebody a right besides', 'approve', /calls approve\(address,uint256\) of 0x/],
  ]
  for (const [what, way, message] of ways)
    it(`get no signature if they ${what}`, async () => {
      const before = await nonce()
      process.env['SLUICE_TEST_SLY'] = way
      const answer = await server.client.post('/amm/trade', swap)
      expect(outcome(answer), answer.text).to.equal('500 UNKNOWN_ERROR')
      expect(answer.body.message).to.match(message)
      expect(answer.body.message).to.include('nothing was signed')
      expect(await nonce()).to.equal(before)
    })

  it('get no signature if they give much more than was quoted, which counts against nobody: the price may have moved', async () => {
    const before = await nonce()
    process.env['SLUICE_TEST_SLY'] = 'quote'
    const answer = await server.client.post('/amm/trade', swap)
    expect(outcome(answer), answer.text).to.equal('422 TRADE_FAILED')
    expect(answer.body.message).to.match(/gives the wallet \d+ of 0x.*The price has moved.*send the request again for a new quote/)
    expect(answer.body.details).to.deep.equal({ reason: 'better than quoted' })
    expect(await nonce()).to.equal(before)
    const { body: plugins } = await server.client.get('/plugins')
    const entry = plugins.find(({ name }: { name: string }) => name === 'sly')
    expect(entry).to.include({ state: 'loaded' })
    expect(entry.host?.deaths ?? 0).to.equal(0)
    delete process.env['SLUICE_TEST_SLY']
    expect(outcome(await server.client.post('/amm/trade', swap))).to.equal('200')
  })

  describe('for clients that are held', () => {
    const add = (client: Client, amount0: string, amount1: string) => client.post('/amm/liquidity/add', { ...range, amount0, amount1 })
    const used = async () => {
      const { body } = await limited.get('/limits')
      return Number(body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss').used)
    }

    it('let swaps through that bring what they are worth', async () => {
      const answer = await bot.post('/amm/trade', swap)
      expect(outcome(answer), answer.text).to.equal('200')
      await mined(server.client, answer.body.txHash)
    })

    it('count deposits as given away, whichever pool the plugin names', async () => {
      const refused = await add(bot, '0.1', '300')
      expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
      expect(refused.body.details.limit).to.equal('maxPriceImpact')
      expect(Number(refused.body.details.worstPercent)).to.equal(100)
      const allowed = await add(server.client, '0.1', '300')
      expect(outcome(allowed), allowed.text).to.equal('200')
      const { tokenId } = (await mined(server.client, allowed.body.txHash)).body.fill
      // What comes back is the wallet's own.
      const removed = await bot.post('/amm/liquidity/remove', { ...sly, tokenId, burn: true })
      expect(outcome(removed), removed.text).to.equal('200')
      await mined(server.client, removed.body.txHash)
    })

    it('count what the simulation says in the limits of the client', async () => {
      const before = await used()
      const allowed = await add(limited, '0.02', '60')
      expect(outcome(allowed), allowed.text).to.equal('200')
      expect((await used()) - before).to.be.within(60, 130)
      const refused = await add(limited, '0.1', '300')
      expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
      expect(refused.body.details.limit).to.equal('maxDailyLoss')
    })

    it('are refused where the node cannot simulate, and not for clients that are not held', async () => {
      isOld = true
      try {
        for (const client of [bot, limited]) {
          const answer = await client.post('/amm/trade', swap)
          expect(outcome(answer), answer.text).to.equal('501 UNSUPPORTED')
          expect(answer.body.message).to.match(/events of a simulation \(eth_simulateV1\).*nothing was signed/)
        }
        const answer = await server.client.post('/amm/trade', swap)
        expect(outcome(answer), answer.text).to.equal('200')
      } finally {
        isOld = false
      }
    })
  })
})

/** A node behind a line that may know no `eth_simulateV1`. */
async function between(url: string, isOld: () => boolean): Promise<string> {
  const proxy = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const sent = isOld() ? body.replaceAll('eth_simulateV1', 'eth_unknownMethod') : body
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: sent })
        .then(async (answer) => response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()))
        .catch(() => response.destroy())
    })
  })
  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  proxy.keepAliveTimeout = 0
  proxy.unref()
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}
