import { expect } from 'chai'
import { endpoints, type Endpoint } from '../../core/api/index.ts'
import { alsoPosts } from '../../core/http/routes.ts'
import type { Client } from '../../testkit/client.ts'
import { admins, local, outcome, sharedServer, swap, traders, uniswap, type SharedServer } from './shared-server.ts'

const oasis = { ...local, connector: 'oasis' } as const
const order = { market: 'WETH-USDC', side: 'BUY', orderType: 'LIMIT', price: '1000', amount: '0.01' } as const

/** What each way of being listed is answered: [unlisted, reader of the traders' wallet, trader with it]. */
const table: readonly [what: string, ask: (client: Client) => ReturnType<Client['get']>, ...expected: [string, string, string]][] = [
  ['the service', (client) => client.get('/'), '200', '200', '200'],
  ['the connectors', (client) => client.get('/connectors'), '200', '200', '200'],
  ['the status of networks', (client) => client.get('/network/status'), '200', '200', '200'],
  ['tokens', (client) => client.get('/network/tokens', local), '200', '200', '200'],
  ['a price', (client) => client.get('/amm/price', swap), '200', '200', '200'],
  ['a price by POST', (client) => client.post('/amm/price', swap), '200', '200', '200'],
  ['gas', (client) => client.post('/amm/estimateGas', { ...local, connector: 'uniswap' }), '200', '200', '200'],
  ['any transaction', (client) => client.get('/network/poll', { ...local, txHash: `0x${'0'.repeat(64)}` }), '200', '200', '200'],
  [
    'balances',
    (client) => client.get('/network/balances', { ...local, address: traders, tokenSymbols: 'ETH' }),
    '403 FORBIDDEN',
    '200',
    '200',
  ],
  [
    'balances by POST',
    (client) => client.post('/network/balances', { ...local, address: traders, tokenSymbols: ['ETH'] }),
    '403 FORBIDDEN',
    '200',
    '200',
  ],
  [
    "balances of another's wallet",
    (client) => client.get('/network/balances', { ...local, address: admins, tokenSymbols: 'ETH' }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  [
    'the wallet in another spelling',
    (client) => client.get('/network/balances', { ...local, address: `0x${traders.slice(2).toUpperCase()}`, tokenSymbols: 'ETH' }),
    '403 FORBIDDEN',
    '200',
    '200',
  ],
  [
    'allowances',
    (client) => client.get('/evm/allowances', { ...local, address: traders, spender: 'uniswap', tokenSymbols: 'USDC' }),
    '403 FORBIDDEN',
    '200',
    '200',
  ],
  ['a nonce', (client) => client.get('/evm/nonce', { ...local, address: traders }), '403 FORBIDDEN', '200', '200'],
  ['a price with an allowance', (client) => client.get('/amm/price', { ...swap, address: traders }), '403 FORBIDDEN', '200', '200'],
  [
    'a price with the allowance of another',
    (client) => client.post('/amm/price', { ...swap, address: admins }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  ["a pool's price", (client) => client.post('/amm/liquidity/price', { ...uniswap, token0: 'WETH', token1: 'USDC' }), '200', '200', '200'],
  [
    "a wallet's positions",
    (client) => client.get('/amm/liquidity/positions', { ...uniswap, address: traders }),
    '403 FORBIDDEN',
    '200',
    '200',
  ],
  [
    "a position of another's wallet",
    // The first that there is: whoever filled the pools has it.
    (client) => client.post('/amm/liquidity/position', { ...uniswap, tokenId: 1 }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  [
    "a change of another's position",
    (client) => client.post('/amm/liquidity/remove', { ...uniswap, address: traders, tokenId: 1 }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '404 UNKNOWN_POSITION',
  ],
  [
    "a wallet's shares of a pool",
    (client) => client.get('/amm/shares/position', { ...uniswap, address: traders, tokens: ['WETH', 'USDC'] }),
    '403 FORBIDDEN',
    '200',
    '200',
  ],
  [
    "shares for another's wallet",
    (client) => client.post('/amm/shares/add', { ...uniswap, address: admins, tokens: ['ETH', 'USDC'], amounts: ['1'] }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  [
    'a trade',
    (client) => client.post('/amm/trade', { ...swap, base: 'ETH', amount: '0.001', address: traders }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '200',
  ],
  [
    "a trade of another's wallet",
    (client) => client.post('/amm/trade', { ...swap, base: 'ETH', address: admins }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  [
    "an approval of another's wallet",
    (client) => client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap', token: 'USDC' }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  ['a book', (client) => client.get('/clob/orderBook', { ...oasis, market: 'WETH-USDC' }), '200', '200', '200'],
  ["everybody's trades", (client) => client.get('/clob/trades', { ...oasis, market: 'WETH-USDC' }), '200', '200', '200'],
  [
    "a wallet's trades",
    (client) => client.get('/clob/trades', { ...oasis, market: 'WETH-USDC', address: traders }),
    '403 FORBIDDEN',
    '200',
    '200',
  ],
  ["a wallet's orders", (client) => client.get('/clob/orders', { ...oasis, address: traders }), '403 FORBIDDEN', '200', '200'],
  [
    "another's orders",
    (client) => client.get('/clob/orders', { ...oasis, address: admins }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  [
    'an order that would be refused',
    (client) => client.post('/clob/orders', { ...oasis, ...order, address: traders, price: '0' }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '400 INCOMPLETE_PARAMS',
  ],
  [
    "an order of another's wallet",
    (client) => client.post('/clob/orders', { ...oasis, ...order, address: admins }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  [
    "a batch of another's wallet",
    (client) => client.post('/clob/batchOrders', { ...oasis, address: admins, create: [order] }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
  [
    'a cancel of an order that is not there',
    (client) =>
      client.request(
        'DELETE',
        `/clob/orders?${new URLSearchParams({ ...oasis, address: traders, market: 'WETH-USDC', orderId: '99999999' }).toString()}`,
      ),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '404 UNKNOWN_ORDER',
  ],
  [
    "a cancel of another's",
    (client) => client.post('/evm/cancel', { ...local, address: admins }),
    '403 FORBIDDEN',
    '403 FORBIDDEN',
    '403 FORBIDDEN',
  ],
]

const all: readonly Endpoint[] = endpoints
const addresses = async (client: Client) => (await client.get('/wallet')).body.map(({ address }: { address: string }) => address)

describe('permissions', function () {
  this.timeout(300_000)
  let server: SharedServer
  before(async () => {
    server = await sharedServer()
  })

  for (const [what, ask, unlisted, reader, trader] of table) {
    it(`answers ${what} by what the certificate may`, async () => {
      const { as } = server
      const answers = [await ask(as.visitor), await ask(as.reader), await ask(as.trader)]
      expect(answers.map(outcome)).to.deep.equal([unlisted, reader, trader])
    })
  }

  it('shows a certificate without permissions only that the server is running', async () => {
    for (const endpoint of all) {
      const { method, path, permission } = endpoint
      for (const each of alsoPosts(endpoint) ? [method, 'POST'] : [method]) {
        const fields = endpoint.name === 'StopsPost' ? { mode: 'stop' } : {}
        const answer = each === 'POST' ? await server.as.idle.post(path, fields) : await server.as.idle.request(each, path)
        expect(outcome(answer), `${each} ${path}`).to.equal(permission || endpoint.name === 'StopsPost' ? '403 FORBIDDEN' : '200')
      }
    }
    const open = all.filter(({ permission }) => permission === undefined).map(({ path }) => path)
    expect(open).to.have.members(['/', '/health/live', '/health/ready', '/stops'])
  })

  it('shows a certificate whose entry is wrong no more, and says so to it and to the operator', async () => {
    const { as, kernel, settings } = server
    expect(settings.clients.find(({ name }) => name === 'closed')?.permissions).to.deep.equal([])
    for (const path of ['/network/tokens', '/connectors', '/network/status'])
      expect(outcome(await as.closed.get(path, local)), path).to.equal('403 FORBIDDEN')
    const refused = await as.closed.get('/connectors')
    expect(refused.body.message).to.contain('conf/clients.yml is wrong: clients.closed.permissions[1] is not one of the possible values')
    expect(kernel.warnings.join('\n'))
      .to.match(/clients\.closed\.permissions\[1\] is not one of the possible values, so the client "closed" has no permission\. Write/)
      .and.to.contain(`clients.treasurer.sendTo.${traders}[0] is not an address`)
      .and.to.contain('wallet.allowedSpenders[0] is not an address')
  })

  it('require trade or send and a wallet of the caller at every endpoint that signs', () => {
    // Whoever may stop a wallet need not be one who may use it.
    const signing = all.filter(({ path }) => path !== '/stops')
    for (const { path, permission, wallet, acts, request } of signing) {
      expect(permission === 'trade' || permission === 'send', path).to.equal(acts === true)
      expect(wallet === true, path).to.equal('address' in request.properties || 'wallet_address' in request.properties)
    }
  })

  it('lists the wallets that the certificate may use', async () => {
    expect(await addresses(server.client)).to.have.length(3)
    expect(await addresses(server.as.trader)).to.deep.equal([traders])
    expect(await addresses(server.as.visitor)).to.deep.equal([])
  })

  it('shows a transaction of another wallet from the chain only, without the journal', async () => {
    const { body } = await server.client.post('/amm/trade', { ...swap, base: 'ETH', amount: '0.001', address: admins })
    const asked = { ...local, txHash: body.txHash }
    expect((await server.client.get('/network/poll', asked)).body).to.have.property('txState')
    for (const client of [server.as.trader, server.as.visitor]) {
      const seen = await client.get('/network/poll', asked)
      expect(seen.status).to.equal(200)
      expect(seen.body).not.to.have.any.keys('txState', 'fill', 'replacedBy')
    }
  })

  it('names the certificate, the missing permission and the file that gives it', async () => {
    const { body } = await server.as.reader.post('/amm/trade', { ...swap, address: traders })
    expect(body.message).to.contain('"reader"').and.to.contain('trade').and.to.contain('conf/clients.yml')
  })

  it('refuses trades by a maxPriceImpact where nothing is compared with the market, also with the permission thin', async () => {
    const answer = await server.as.bounded.post('/amm/trade', { ...swap, base: 'ETH', amount: '0.001', address: traders })
    expect(outcome(answer), answer.text).to.equal('403 LIMIT_EXCEEDED')
    expect(answer.body.details).to.deep.equal({ limit: 'maxPriceImpact', reason: 'no market' })
  })

  it('limits a certificate to its rate, with Retry-After', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.as.slow.get('/')))
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited.length).to.be.within(4, 7)
    for (const { headers, body } of limited) {
      expect(Number(headers['retry-after'])).to.be.at.least(1)
      expect(body.name).to.equal('RATE_LIMIT')
    }
    expect((await server.client.get('/')).status).to.equal(200)
  })
})
