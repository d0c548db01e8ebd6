import { expect } from 'chai'
import { newClient } from '../../../core/tls/certificates.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { admins, oneChain, traders } from '../../http/shared-server.ts'
import { Bot, chainNetwork } from './bot.ts'

const permissions = ['read', 'trade', 'admin'] as const
const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  read: { permissions: ['read'], wallets: [traders] },
  trade: { permissions: ['trade'], wallets: [traders] },
  admin: { permissions: ['admin'], wallets: [traders] },
  idle: { permissions: [], wallets: 'all' },
  bounded: {
    permissions: ['read', 'trade'],
    wallets: [traders],
    limits: { maxDailyGas: '1', maxFee: '0.1', tokens: { 'ethereum/local': { WETH: { perTransaction: '0.1' } } } },
  },
}

describe('permissions and limits by the interface of Hummingbot', function () {
  this.timeout(120_000)
  let server: TestServer
  const clients = new Map<string, Client>()
  let bot: Bot
  const as = (name: string): Client => clients.get(name) ?? expect.fail(name)

  before(async () => {
    server = await startServer({
      ...oneChain,
      conf: { ...oneChain.conf, 'clients.yml': { clients: listed }, 'interfaces/hummingbot.yml': { port: 0 } },
    })
    for (const name of Object.keys(listed)) {
      if (name !== 'client') await newClient(server.certsDir, name)
      const url = server.kernel.interfaceUrls['hummingbot'] ?? ''
      clients.set(name, createClient(url, server.certsDir, name === 'client' ? undefined : name))
    }
    bot = new Bot(as('client'))
  })
  after(async () => {
    for (const client of clients.values()) client.close()
    await server?.stop()
  })

  it('close each path to a certificate that lacks its permission, before anything of the request is read', async () => {
    const { paths } = await bot.get('/openapi.json')
    const open: string[] = []
    const wrong: string[] = []
    for (const [path, methods] of Object.entries<Record<string, { summary: string; description?: string }>>(paths))
      for (const [name, { summary, description }] of Object.entries(methods)) {
        const method = name.toUpperCase()
        const needs = permissions.find((each) => description?.includes(`\`${each}\``))
        if (needs === undefined && !summary.startsWith('Refused')) open.push(`${method} ${path}`)
        for (const client of [...permissions, 'idle']) {
          const target = path.replace(/\{\w+\}/g, 'x')
          const headers = { 'content-type': 'application/json' }
          const { status, body } = await as(client).request(method, target, method === 'GET' ? {} : { raw: '{}', headers })
          const isClosed = status === 403 && body.name === 'FORBIDDEN'
          if (needs !== undefined && client !== needs && !isClosed) wrong.push(`${method} ${path}: ${status} for ${client}`)
        }
      }
    expect(wrong).to.deep.equal([])
    expect(open).to.have.members(['GET /', 'POST /restart'])
  })

  it('keep a certificate to its wallets, in whatever field they are named', async () => {
    const swap = { chainNetwork, baseToken: 'WETH', quoteToken: 'USDC', amount: '0.01', side: 'SELL' }
    for (const [path, body] of [
      ['/trading/router/execute-swap', { ...swap, walletAddress: admins }],
      ['/trading/swap/execute', { ...swap, connector: 'uniswap/router', address: admins }],
      ['/chains/ethereum/approve', { network: 'local', address: admins, spender: 'uniswap', token: 'USDC' }],
      ['/chains/ethereum/wrap', { network: 'local', address: admins, amount: '0.01' }],
    ] as const) {
      const { status, body: shown } = await new Bot(as('bounded')).refusal('POST', path, body)
      expect([status, shown.name], path).to.deep.equal([403, 'FORBIDDEN'])
      expect(shown.message, path).to.contain(admins)
    }
  })

  it('hold a certificate to its limits: what is beyond them is refused, and is not signed', async () => {
    const bounded = new Bot(as('bounded'))
    const local = { network: 'local', address: traders }
    await bounded.post('/chains/ethereum/wrap', { ...local, amount: '1' })
    await bounded.post('/chains/ethereum/approve', { ...local, spender: 'uniswap', token: 'WETH', amount: '1' })
    const swap = { chainNetwork, connector: 'uniswap', walletAddress: traders, baseToken: 'WETH', quoteToken: 'USDC', side: 'SELL' }
    const { status, body } = await bounded.refusal('POST', '/trading/router/execute-swap', { ...swap, amount: '0.2' })
    expect([status, body.name, body.code]).to.deep.equal([403, 'LIMIT_EXCEEDED', undefined])
    const within = await bounded.post('/trading/router/execute-swap', { ...swap, amount: '0.05' })
    expect(within.status).to.equal(1)
    const { transactions } = (await server.client.get('/transactions', { kind: 'trade', limit: '10' })).body
    expect(transactions).to.have.length(1)
  })
})
