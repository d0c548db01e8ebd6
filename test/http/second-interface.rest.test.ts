import { expect } from 'chai'
import type { Middleware } from 'koa'
import { createApp } from '../../core/http/app.ts'
import { createRouter } from '../../core/http/interface.ts'
import type { RequestState } from '../../core/http/request.ts'
import { ownInterface } from '../../core/parts/interface.ts'
import type { ServerParts } from '../../core/parts/server-parts.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { freePort } from '../free-port.ts'
import { admins, local, oneChain, swap } from './shared-server.ts'

const trade = { ...swap, base: 'ETH', amount: '0.01', address: admins }

/** Another dialect with one endpoint: it takes a pair as one word and shows errors in a shape of its own. */
function dialect({ dispatch, settings, limits, metrics, log }: ServerParts, port: number) {
  const router = createRouter()
  const quote: Middleware<RequestState> = async (ctx) => {
    const { caller, client, requestId, body } = ctx.state
    const [base = '', other = ''] = String(body['pair']).split('-')
    const by = { caller, client, requestId }
    ctx.body =
      typeof body['id'] === 'string'
        ? { hash: (await dispatch.call('AMMTrade', trade, { ...by, key: body['id'] })).txHash }
        : { px: (await dispatch.call('AMMPrice', { ...swap, base, quote: other }, by)).price }
  }
  router.post('/quote', quote)
  const app = createApp(
    { settings, limits, metrics, log },
    { router, showError: ({ http, name }) => ({ status: http === 404 ? 400 : http, body: { oops: name } }) },
  )
  return { app, address: { host: '127.0.0.1', port } }
}

describe('a second interface of the same server', function () {
  this.timeout(300_000)
  let server: TestServer
  let port: number
  const clients: Client[] = []
  /** The same certificate on both ports. */
  const on = async (name?: string): Promise<{ own: Client; other: Client }> => {
    const { certsDir, url } = server
    if (name !== undefined) await newClient(certsDir, name)
    const [own, other] = [createClient(url, certsDir, name), createClient(`https://localhost:${port}`, certsDir, name)]
    clients.push(own, other)
    return { own, other }
  }

  before(async () => {
    port = await freePort()
    const listed = {
      client: { permissions: ['read', 'trade'], wallets: 'all' },
      slow: { permissions: ['read'], requestsPerSecond: 0.01 },
      idle: { permissions: [] },
    }
    const conf = { ...oneChain.conf, 'clients.yml': { clients: listed } }
    server = await startServer({ ...oneChain, conf }, undefined, {
      interfaces: { open: (parts) => [ownInterface(parts), dialect(parts, port)] },
    })
  })
  after(async () => {
    for (const client of clients) client.close()
    await server?.stop()
  })

  it('answers on a port of its own, by the endpoints of the server, and has no other path', async () => {
    const { own, other } = await on()
    const { body } = await own.get('/amm/price', swap)
    expect((await other.post('/quote', { pair: 'WETH-USDC' })).body).to.deep.equal({ px: body.price })
    const nowhere = await other.get('/amm/price', swap)
    expect([nowhere.status, nowhere.body]).to.deep.equal([400, { oops: 'INCOMPLETE_PARAMS' }])
    expect((await own.post('/quote', {})).status).to.equal(404)
  })

  it('shows errors in its own way', async () => {
    const { other } = await on()
    const { status, body } = await other.post('/quote', { pair: 'NOTHING-USDC' })
    expect([status, body]).to.deep.equal([400, { oops: 'TOKEN_NOT_SUPPORTED' }])
  })

  it('gives a certificate the permissions and the rate that it has on both together', async () => {
    const [idle, slow] = [await on('idle'), await on('slow')]
    const refused = await idle.other.post('/quote', { pair: 'WETH-USDC' })
    expect([refused.status, refused.body]).to.deep.equal([403, { oops: 'FORBIDDEN' }])
    expect((await slow.own.get('/')).status).to.equal(200)
    const late = await slow.other.post('/quote', { pair: 'WETH-USDC' })
    expect([late.status, late.body]).to.deep.equal([429, { oops: 'RATE_LIMIT' }])
  })

  it('makes one transaction with a key that came to both', async () => {
    const { own, other } = await on()
    const nonce = async () => (await own.get('/evm/nonce', { ...local, address: admins })).body.nonce
    const before = await nonce()
    const { body } = await other.post('/quote', { id: 'one' })
    const again = await own.post('/amm/trade', trade, { headers: { 'idempotency-key': 'one' } })
    expect(again.body.txHash).to.equal(body.hash)
    expect(await nonce()).to.equal(before + 1)
  })

  it('stops with the server', async () => {
    const { other } = await on()
    await server.kernel.stop()
    expect(await other.post('/quote', {}).catch(() => 'closed')).to.equal('closed')
  })
})
