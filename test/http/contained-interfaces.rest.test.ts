import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import { containedServer, type ContainedServer } from './contained-server.ts'
import { admins, local, swap } from './shared-server.ts'

describe('interfaces of third parties in processes of their own', function () {
  this.timeout(180_000)
  let server: ContainedServer
  const to = (name: string, certificate?: string): Client => server.to(name, certificate)
  const entryOf = async (name: string) => (await server.client.get('/plugins')).body.find((each: { name: string }) => each.name === name)

  before(async () => {
    server = await containedServer()
  })

  it('listen where the operator says alone, whatever their defaults have', async () => {
    expect(await entryOf('unruly')).to.deep.include({ kind: 'interface', state: 'loaded', tier: 'contained' })
    expect(server.kernel.interfaceUrls).to.have.all.keys('pair-prices', 'hostile', 'once-desk')
  })

  it('answer by the endpoints of the server, as those in the server do', async () => {
    expect(await entryOf('pair-prices')).to.deep.include({ kind: 'interface', state: 'loaded', tier: 'contained', host: { deaths: 0 } })
    const desk = to('pair-prices')
    const { body } = await server.client.get('/amm/price', { ...swap, connector: 'any', amount: '0.1' })
    const answer = await desk.get('/price/WETH-USDC', { amount: '0.1' })
    expect([answer.status, answer.body], answer.text).to.deep.equal([200, { pair: 'WETH-USDC', px: body.price }])
    const wrong = await desk.get('/price/WETH')
    expect([wrong.status, wrong.body]).to.deep.equal([400, { oops: 'INCOMPLETE_PARAMS' }])
    const unknown = await desk.get('/price/WETH-NOTHING')
    expect([unknown.status, unknown.body]).to.deep.equal([404, { oops: 'TOKEN_NOT_SUPPORTED' }])
    const nowhere = await desk.get('/nowhere')
    expect([nowhere.status, nowhere.body]).to.deep.equal([404, { oops: 'INCOMPLETE_PARAMS' }])
    const { body: described } = await desk.get('/openapi.json')
    expect(Object.keys(described.paths)).to.deep.equal(['/price/{pair}', '/wrap'])
  })

  it('make one transaction for one key, and none for a caller that may not', async () => {
    const nonce = async () => (await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce
    const before = await nonce()
    const wrap = { id: 'one', wallet: admins, amount: '0.01' }
    const first = await to('pair-prices').post('/wrap', wrap)
    const again = await to('pair-prices').post('/wrap', wrap)
    expect([first.status, again.body], first.text).to.deep.equal([200, first.body])
    expect((await to('pair-prices', 'reader').post('/wrap', { ...wrap, id: 'r' })).status).to.equal(403)
    expect(await nonce()).to.equal(before + 1)
  })

  describe('one that is hostile', () => {
    for (const [name, status, oops] of [
      ['/throws', 500, 'UNKNOWN_ERROR'],
      ['/status', 503, 'NETWORK'],
      ['/huge', 500, 'UNKNOWN_ERROR'],
      ['/quotes', 500, 'UNKNOWN_ERROR'],
      ['/shape', 500, 'UNKNOWN_ERROR'],
      ['/no-endpoint', 500, 'UNKNOWN_ERROR'],
      ['/fetches', 500, 'UNKNOWN_ERROR'],
      ['/hangs', 504, 'TIMEOUT'],
      ['/calls-without-end', 429, 'RATE_LIMIT'],
    ] as const)
      it(`answers ${status} by itself to ${name}, and goes on`, async () => {
        const hostile = to('hostile')
        const answer = await hostile.get(name)
        expect([answer.status, answer.body.oops], answer.text).to.deep.equal([status, oops])
        expect((await hostile.get('/ok')).body).to.deep.equal({ ok: true })
        expect(await entryOf('hostile')).to.deep.include({ host: { deaths: 0 } })
      })

    it('makes no metrics of its own by the details of its errors', async () => {
      for (const name of ['/long-limit', '/other-limit', '/other-limit']) expect((await to('hostile').get(name)).status).to.equal(403)
      const lines = (await server.client.get('/metrics')).text.split('\n').filter((line) => line.startsWith('sluice_limit_refusals_total{'))
      expect(lines.map((line) => /limit="(.*?)"/.exec(line)?.[1])).to.deep.equal(['unknown', 'other'])
    })

    it('changes no prototype of the server by the keys of its answer', async () => {
      expect((await to('hostile').get('/prototype')).status).to.equal(200)
      expect(Reflect.get({}, 'polluted')).to.equal(undefined)
    })

    it('does nothing that its caller may not, and shows that as an error whatever it says', async () => {
      const answer = await to('hostile', 'reader').get('/not-allowed')
      expect([answer.status, answer.body.name], answer.text).to.deep.equal([403, 'FORBIDDEN'])
    })

    it('cannot act for a caller once the request is answered', async () => {
      const hostile = to('hostile')
      expect((await hostile.get('/keeps')).status).to.equal(200)
      expect((await to('hostile', 'reader').get('/acts-later')).status).to.equal(403)
    })

    it('may call many endpoints at once: some wait', async () => {
      expect((await to('hostile').get('/calls-at-once')).body).to.deep.equal({ calls: 200 })
    })

    it('goes on where many clients ask for much at once, as an honest one would', async () => {
      const hostile = to('hostile')
      const all = async (count: number, name: string) => {
        const answers = await Promise.all(Array.from({ length: count }, async () => hostile.get(name)))
        return new Set(answers.map(({ status }) => status))
      }
      expect(await all(8, '/long')).to.deep.equal(new Set([200]))
      expect(await all(40, '/hundred-calls')).to.deep.equal(new Set([200]))
      expect(await entryOf('hostile')).to.deep.include({ host: { deaths: 0 } })
    })

    for (const name of ['/dies', '/loops'])
      it(`is started again after ${name}, and hurts nobody else meanwhile`, async () => {
        const { deaths } = (await entryOf('hostile')).host
        const ended = to('hostile').get(name)
        expect((await to('pair-prices').get('/price/WETH-USDC')).status).to.equal(200)
        expect((await server.client.get('/')).status).to.equal(200)
        expect((await ended).status).to.be.oneOf([503, 504])
        const hostile = to('hostile')
        let last = await hostile.get('/ok')
        for (let tries = 0; tries < 200 && last.status !== 200; tries++) {
          expect(last.status, last.text).to.equal(503)
          await new Promise((resolve) => setTimeout(resolve, 20))
          last = await hostile.get('/ok')
        }
        expect(last.status).to.equal(200)
        expect((await entryOf('hostile')).host.deaths).to.equal(deaths + 1)
      })
  })
})
