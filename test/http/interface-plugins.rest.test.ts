import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { until } from '../transactions/site.ts'
import { admins, listedSpender, local, oneChain, swap } from './shared-server.ts'

const fixtures = path.join(import.meta.dirname, '..', 'fixtures', 'plugins', 'interfaces')
const onceInterfaces = path.join(fixtures, '..', 'once-interfaces')
const pairPrices = path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices')

const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  reader: { permissions: ['read'], wallets: [] },
  waiting: { permissions: ['read', 'trade'], wallets: 'all', limits: { approveTokensAbove: { 'ethereum/local': { ETH: '1' } } } },
  narrow: { permissions: ['read'], inFlight: 1 },
  slow: { permissions: ['read'], requestsPerSecond: 0.01 },
}

describe('interfaces of plugins', function () {
  this.timeout(300_000)
  let server: TestServer
  const clients = new Map<string, Client>()
  /** A client of an interface, the same one each time. */
  const to = async (name: string, certificate = 'client'): Promise<Client> => {
    const url = server.kernel.interfaceUrls[name]
    if (url === undefined) throw new Error(`${name} does not listen`)
    const key = `${name} ${certificate}`
    const client = clients.get(key) ?? createClient(url, server.certsDir, certificate)
    clients.set(key, client)
    return client
  }

  before(async () => {
    server = await startServer({
      ...oneChain,
      plugins: [fixtures, pairPrices, onceInterfaces],
      trusted: ['pair-prices', 'unruly', 'once-desk'],
      settings: {
        ...oneChain.settings,
        'server.requestTimeoutSeconds': 12,
        'limits.onLocalNetworks': true,
        'wallet.allowedSpenders': [listedSpender],
      },
      conf: {
        ...oneChain.conf,
        'clients.yml': { clients: listed },
        'interfaces/pair-prices.yml': { port: 0 },
        'interfaces/unruly.yml': { port: 0 },
      },
    })
    for (const name of ['reader', 'waiting', 'narrow', 'slow']) await newClient(server.certsDir, name)
  })
  after(async () => {
    for (const client of clients.values()) client.close()
    await server?.stop()
  })

  describe('an interface with a port', () => {
    it('answers on its own listener by the endpoints of the server, and nothing else there', async () => {
      const desk = await to('pair-prices')
      const { body } = await server.client.get('/amm/price', { ...swap, connector: 'any', amount: '0.1' })
      const answer = await desk.get('/price/WETH-USDC', { amount: '0.1' })
      expect([answer.status, answer.body]).to.deep.equal([200, { pair: 'WETH-USDC', px: body.price }])
      expect((await desk.get('/price/WETH-USDC/', { amount: '0.1' })).body).to.deep.equal(answer.body)
      expect((await desk.get('/amm/price', swap)).body).to.deep.equal({ oops: 'INCOMPLETE_PARAMS' })
      expect((await server.client.get('/price/WETH-USDC')).status).to.equal(404)
    })

    it('shows the errors of endpoints and of its own fields in its own shape', async () => {
      const desk = await to('pair-prices')
      const unknown = await desk.get('/price/WETH-NOTHING')
      expect([unknown.status, unknown.body]).to.deep.equal([404, { oops: 'TOKEN_NOT_SUPPORTED' }])
      const wrong = await desk.get('/price/WETH')
      expect([wrong.status, wrong.body]).to.deep.equal([400, { oops: 'INCOMPLETE_PARAMS' }])
      const method = await desk.post('/price/WETH-USDC', {})
      expect([method.status, method.body]).to.deep.equal([405, { oops: 'INCOMPLETE_PARAMS' }])
    })

    it('acts with the permissions and wallets of the caller, and nothing more', async () => {
      const reader = await to('pair-prices', 'reader')
      expect((await reader.get('/price/WETH-USDC')).status).to.equal(200)
      const refused = await reader.post('/wrap', { id: 'r', wallet: admins, amount: '0.01' })
      expect([refused.status, refused.body]).to.deep.equal([403, { oops: 'FORBIDDEN' }])
    })

    it('makes one transaction for one key, also where an amount was written as a number', async () => {
      const desk = await to('pair-prices')
      const nonce = async () => (await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce
      const before = await nonce()
      const first = await desk.post('/wrap', { id: 'one', wallet: admins, amount: '0.01' })
      const again = await desk.post('/wrap', { id: 'one', wallet: admins, amount: 0.01 })
      expect([first.status, again.body]).to.deep.equal([200, first.body])
      expect(await nonce()).to.equal(before + 1)
    })

    it('shares the rate of a certificate with the server itself', async () => {
      const own = createClient(server.url, server.certsDir, 'slow')
      clients.set('own', own)
      const desk = await to('pair-prices', 'slow')
      expect((await own.get('/')).status).to.equal(200)
      const late = await desk.get('/price/WETH-USDC')
      expect([late.status, late.body]).to.deep.equal([429, { oops: 'RATE_LIMIT' }])
    })

    it('describes its paths by an OpenAPI document', async () => {
      const { body } = await (await to('pair-prices')).get('/openapi.json')
      expect(Object.keys(body.paths)).to.deep.equal(['/price/{pair}', '/wrap'])
      const [pair, amount] = body.paths['/price/{pair}'].get.parameters
      expect([pair.in, pair.required, amount.in, amount.required]).to.deep.equal(['path', true, 'query', false])
      expect(body.paths['/wrap'].post.requestBody.content['application/json'].schema.required).to.deep.equal(['id', 'wallet', 'amount'])
    })

    it('is shown among the plugins, and counted by the metrics under its name', async () => {
      const { body } = await server.client.get('/plugins')
      const shown = body.find((each: { name: string }) => each.name === 'pair-prices')
      expect(shown).to.include({ kind: 'interface', state: 'loaded', version: '0.1.0', tier: 'trusted' })
      // Those of a scrape are kept for a moment.
      await until('it is counted', async () => (await server.client.get('/metrics')).text.includes('pair-prices:/price/:pair'))
    })
  })

  it('do not listen without a port', async () => {
    expect(server.kernel.interfaceUrls).to.have.all.keys('pair-prices', 'unruly')
    const { body } = await server.client.get('/plugins')
    expect(body.find((each: { name: string }) => each.name === 'once-desk')).to.include({
      state: 'loaded',
      kind: 'interface',
      tier: 'trusted',
    })
  })

  describe('an interface that misbehaves', () => {
    for (const [name, status] of [
      ['/throws', 500],
      ['/rejects', 500],
      ['/floods', 500],
      ['/misshapes', 500],
      ['/not-a-number', 500],
      ['/without-end', 500],
      ['/cycles', 500],
      ['/hangs', 504],
    ] as const)
      it(`answers ${status} by itself to ${name}, and goes on`, async () => {
        const unruly = await to('unruly')
        const answer = await unruly.get(name)
        expect(answer.status).to.equal(status)
        expect(answer.body.oops).to.equal(status === 500 ? 'UNKNOWN_ERROR' : 'TIMEOUT')
        expect(answer.text).not.to.contain('on purpose')
        expect((await unruly.get('/ok')).body).to.deep.equal({ ok: true })
        expect((await server.client.get('/')).status).to.equal(200)
      })

    it('shows an error as the server does where the plugin’s way is no JSON', async () => {
      const { status, body } = await (await to('unruly')).get('/bigint-in-error')
      expect([status, body.name, body.message, body.details]).to.deep.equal([422, 'PRICE_FAILED', 'too much', undefined])
      expect((await server.client.get('/')).status).to.equal(200)
    })

    it('takes fields of path, query and body together, numbers as they were written', async () => {
      const unruly = await to('unruly')
      const { body } = await unruly.post('/echo/one?b=two&n=3', { a: 'other', b: 0.30000000000000004, c: 1e-7, n: 12 })
      expect(body).to.deep.equal({ a: 'one', b: '0.30000000000000004', c: '1e-7', n: 12 })
      expect((await unruly.post('/echo/one', { n: 1.5 })).status).to.equal(400)
    })

    it('gets no private key, neither of a body nor of a query, and hands none on unless the operator accepts keys', async () => {
      const unruly = await to('unruly')
      const key = `0x${'c0de'.repeat(16)}`
      expect((await unruly.post('/key', { key, other: 'text' })).body).to.deep.equal({ key: 'hidden', other: 'text' })
      expect((await unruly.post(`/key?key=${key}`, { other: 'text' })).body).to.deep.equal({ key: 'hidden', other: 'text' })
      expect((await unruly.post('/key', {})).body).to.deep.equal({})
      const refused = await unruly.post('/key', { key, adds: true })
      expect([refused.status, refused.body.oops]).to.deep.equal([403, 'FORBIDDEN'])
      expect(refused.body.says).to.contain('keys: accept in conf/interfaces/unruly.yml').and.not.contain(key)
    })

    it('answers a ping of a caller all of whose places are taken, which calls nothing', async () => {
      const [narrow, order] = [await to('unruly', 'narrow'), [] as string[]]
      const note = (name: string) => narrow.get(name).then(() => void order.push(name))
      const hangs = note('/hangs')
      // Once that is in flight, the next one waits behind it; before, it is answered at once.
      let next: Promise<void>
      do {
        order.length = 0
        next = note('/ok')
        await Promise.race([next, sleep(500)])
      } while (order.length > 0)
      await note('/ping')
      expect((await narrow.get('/calling-ping')).status).to.equal(500)
      await Promise.all([hangs, next])
      expect(order).to.deep.equal(['/ping', '/hangs', '/ok'])
    })

    it('answers a ping of a caller that has used up its rate, and refuses its other requests', async () => {
      const slow = await to('unruly', 'slow')
      expect((await Promise.all(Array.from({ length: 3 }, () => slow.get('/ok')))).at(-1)?.status).to.equal(429)
      for (let ping = 0; ping < 10; ping += 1) expect((await slow.get('/ping')).status).to.equal(200)
      expect((await slow.get('/ok')).status).to.equal(429)
    })

    it('takes an empty body for none', async () => {
      const headers = { 'content-type': 'application/json', 'content-length': '0' }
      const answer = await (await to('unruly')).request('POST', '/echo/one', { raw: '', headers })
      expect([answer.status, answer.body]).to.deep.equal([200, { a: 'one' }])
    })

    it('shows what waits for an approval in its own shape, and its status may stay 202', async () => {
      const waiting = await to('unruly', 'waiting')
      const answer = await waiting.post('/approve', { wallet: admins, token: 'WETH', spender: listedSpender })
      expect([answer.status, answer.body.oops], answer.text).to.deep.equal([202, 'PENDING_APPROVAL'])
    })
  })

  describe('the delivery of an answer', () => {
    const told = async (client: Client, id: string): Promise<boolean | undefined> => {
      let delivered: boolean | undefined
      await until('it is told', async () => {
        delivered = (await client.get(`/delivered/${id}`)).body.delivered
        return delivered !== undefined
      })
      return delivered
    }
    /** Sends requests over one connection, and cuts it once they have come, before their answers. */
    const cut = async (client: Client, ids: readonly string[]): Promise<void> => {
      const file = (name: string) => readFileSync(path.join(server.certsDir, `${name}.pem`))
      const port = Number(new URL(server.kernel.interfaceUrls['unruly'] ?? '').port)
      const socket = connect({ host: 'localhost', port, ca: file('ca_cert'), cert: file('client_cert'), key: file('client_key') })
      socket.on('error', () => {})
      const requests = ids.map((id) => {
        const text = JSON.stringify({ id, ms: 4_000 })
        return `POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
      })
      socket.write(requests.join(''))
      for (const id of ids) await until(`${id} has come`, async () => (await client.get(`/delivered/${id}`)).body.begun)
      socket.destroy()
    }

    it('is true once the answer was written', async () => {
      const unruly = await to('unruly')
      await unruly.post('/slow', { id: 'whole', ms: 1 })
      expect(await told(unruly, 'whole')).to.equal(true)
    })

    it('is false once the connection is gone, also of an answer that waits behind another', async () => {
      const unruly = await to('unruly')
      await cut(unruly, ['cut', 'behind'])
      expect([await told(unruly, 'cut'), await told(unruly, 'behind')]).to.deep.equal([false, false])
    })
  })
})
