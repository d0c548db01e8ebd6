import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { rpcTo } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, oneChain, outcome } from './shared-server.ts'

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
    for (const token of ['WETH', 'USDC'])
      expect(outcome(await server.client.post('/evm/approve', { ...local, address: admins, spender: 'sly', token }))).to.equal('200')
  })
  after(() => server.stop())
  afterEach(() => {
    delete process.env['SLUICE_TEST_SLY']
  })

  it('are signed if they do what the request says', async () => {
    const answer = await server.client.post('/amm/trade', sly)
    expect(outcome(answer), answer.text).to.equal('200')
    const other = await server.client.post('/amm/trade', { ...sly, side: 'BUY' })
    expect(outcome(other), other.text).to.equal('200')
  })

  const ways: readonly [string, string, RegExp][] = [
    ['have another recipient', 'recipient', /takes \d+ of 0x\w+ from the wallet|gives the wallet 0 of 0x\w+/],
    ['have another recipient and a lower bound', 'bound', /gives the wallet 0 of 0x\w+/],
    ['sell fifty times the amount', 'amount', /takes 5000000000000000000 of 0x1b9f902252Ad25601aCB5E70ac1E2035B285D348 from the wallet/],
    ['transfer the token to somebody', 'transfer', /takes 1000000000000000000 of 0x/],
    ['transfer something besides', 'transfer too', /takes 100000000000000001 of 0x/],
    ['give somebody a right besides', 'approve', /lets 0x00000000000000000000000000000000000000d1 move the wallet's tokens/i],
    ['give more than was quoted', 'quote', /gives the wallet \d+ of 0x/],
  ]
  for (const [what, way, message] of ways)
    it(`are not signed if they ${what}`, async () => {
      const before = await nonce()
      process.env['SLUICE_TEST_SLY'] = way
      const answer = await server.client.post('/amm/trade', sly)
      expect(outcome(answer), answer.text).to.equal('500 UNKNOWN_ERROR')
      expect(answer.body.message).to.match(message)
      expect(answer.body.message).to.include('nothing was signed')
      expect(await nonce()).to.equal(before)
    })
})
