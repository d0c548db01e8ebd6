import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, mined, oneChain, outcome } from './shared-server.ts'

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const sly = { ...local, connector: 'sly', base: 'WETH', quote: 'USDC', side: 'SELL', amount: '0.1', address: admins }

describe('plans of a plugin that is not built in', function () {
  this.timeout(60_000)
  let server: TestServer
  const nonce = () => rpcTo(server.rpcUrl)('eth_getTransactionCount', admins, 'pending')

  before(async () => {
    server = await startServer({
      ...oneChain,
      settings: {
        ...oneChain.settings,
        'plugins.folders': [folder('../../plugins'), folder('../fixtures/plugins/hostile')],
      },
    })
    const [router, positions] = ['0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01', '0xD905B9bc268AFD8eD615CCed5644d6088d1DC7EF']
    for (const token of ['WETH', 'USDC'])
      for (const spender of [router, positions]) {
        const answer = await server.client.post('/evm/approve', { ...local, address: admins, spender, token })
        expect(outcome(answer), answer.text).to.equal('200')
      }
  })
  after(() => server.stop())
  afterEach(() => {
    delete process.env['SLUICE_TEST_SLY']
  })

  it('get signed if they do what the request says', async () => {
    const answer = await server.client.post('/amm/trade', sly)
    expect(outcome(answer), answer.text).to.equal('200')
    const other = await server.client.post('/amm/trade', { ...sly, side: 'BUY' })
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
    const pair = { ...local, connector: 'sly', address: admins, token0: 'WETH', token1: 'USDC' }
    const add = { ...pair, fee: '3000', lowerPrice: '1000', upperPrice: '9000', amount0: '0.1', amount1: '300' }
    const added = await server.client.post('/amm/liquidity/add', add)
    expect(outcome(added), added.text).to.equal('200')
    const { tokenId } = (await mined(server.client, added.body.txHash)).body.fill
    process.env['SLUICE_TEST_SLY'] = 'transfer too'
    const before = await nonce()
    const [more, less] = [
      await server.client.post('/amm/liquidity/add', add),
      await server.client.post('/amm/liquidity/remove', { ...local, connector: 'sly', address: admins, tokenId, burn: true }),
    ]
    for (const answer of [more, less]) {
      expect(outcome(answer), answer.text).to.equal('500 UNKNOWN_ERROR')
      expect(answer.body.message).to.match(/calls transfer\(address,uint256\) of 0x1b9f902252Ad25601aCB5E70ac1E2035B285D348/)
    }
    expect(await nonce()).to.equal(before)
    delete process.env['SLUICE_TEST_SLY']
    const removed = await server.client.post('/amm/liquidity/remove', { ...local, connector: 'sly', address: admins, tokenId, burn: true })
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
      const answer = await server.client.post('/amm/trade', sly)
      expect(outcome(answer), answer.text).to.equal('500 UNKNOWN_ERROR')
      expect(answer.body.message).to.match(message)
      expect(answer.body.message).to.include('nothing was signed')
      expect(await nonce()).to.equal(before)
    })

  it('get no signature if they give much more than was quoted, which counts against nobody: the price may have moved', async () => {
    const before = await nonce()
    process.env['SLUICE_TEST_SLY'] = 'quote'
    const answer = await server.client.post('/amm/trade', sly)
    expect(outcome(answer), answer.text).to.equal('422 TRADE_FAILED')
    expect(answer.body.message).to.match(/gives the wallet \d+ of 0x.*The price has moved.*send the request again for a new quote/)
    expect(answer.body.details).to.deep.equal({ reason: 'better than quoted' })
    expect(await nonce()).to.equal(before)
    const { body: plugins } = await server.client.get('/plugins')
    const entry = plugins.find(({ name }: { name: string }) => name === 'sly')
    expect(entry).to.include({ state: 'loaded' })
    expect(entry.host?.deaths ?? 0).to.equal(0)
    delete process.env['SLUICE_TEST_SLY']
    expect(outcome(await server.client.post('/amm/trade', sly))).to.equal('200')
  })
})
