import { expect } from 'chai'
import { admins, traders } from '../../http/shared-server.ts'
import { chainNetwork } from './bot.ts'
import { sharedServer, type SharedServer } from './shared-server.ts'

const permissions = ['read', 'trade', 'admin'] as const
/** Certificates, and the one permission of each. */
const certificates = [
  ['reader', 'read'],
  ['swapper', 'trade'],
  ['administrator', 'admin'],
  ['idle', undefined],
] as const

describe('permissions and limits by the interface of Hummingbot', function () {
  this.timeout(300_000)
  let server: SharedServer
  before(async () => {
    server = await sharedServer()
  })

  it('close each path to a certificate that lacks its permission, before anything of the request is read', async () => {
    const { paths } = await server.bots.client.get('/openapi.json')
    const open: string[] = []
    const wrong: string[] = []
    for (const [path, methods] of Object.entries<Record<string, { summary: string; description?: string }>>(paths))
      for (const [name, { summary, description }] of Object.entries(methods)) {
        const method = name.toUpperCase()
        const needs = permissions.find((each) => description?.includes(`\`${each}\``))
        if (needs === undefined && !summary.startsWith('Refused')) open.push(`${method} ${path}`)
        for (const [client, has] of certificates) {
          const target = path.replace(/\{\w+\}/g, 'x')
          const headers = { 'content-type': 'application/json' }
          const { status, body } = await server.https[client].request(method, target, method === 'GET' ? {} : { raw: '{}', headers })
          const isClosed = status === 403 && body.name === 'FORBIDDEN'
          if (needs !== undefined && has !== needs && !isClosed) wrong.push(`${method} ${path}: ${status} for ${client}`)
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
      const { status, body: shown } = await server.bots.bounded.refusal('POST', path, body)
      expect([status, shown.name], path).to.deep.equal([403, 'FORBIDDEN'])
      expect(shown.message, path).to.contain(admins)
    }
  })

  it('hold a certificate to its limits: what is beyond them is refused, and is not signed', async () => {
    const { bounded } = server.bots
    const local = { network: 'local', address: traders }
    await bounded.post('/chains/ethereum/wrap', { ...local, amount: '1' })
    await bounded.post('/chains/ethereum/approve', { ...local, spender: 'uniswap', token: 'WETH', amount: '1' })
    const swap = { chainNetwork, connector: 'uniswap', walletAddress: traders, baseToken: 'WETH', quoteToken: 'USDC', side: 'SELL' }
    const { status, body } = await bounded.refusal('POST', '/trading/router/execute-swap', { ...swap, amount: '0.2' })
    expect([status, body.name, body.code]).to.deep.equal([403, 'LIMIT_EXCEEDED', undefined])
    const within = await bounded.post('/trading/router/execute-swap', { ...swap, amount: '0.05' })
    expect(within.status).to.equal(1)
    const { transactions } = (await server.client.get('/transactions', { kind: 'trade', client: 'bounded', limit: '10' })).body
    expect(transactions).to.have.length(1)
  })
})
