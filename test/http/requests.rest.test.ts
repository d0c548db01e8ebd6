import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import { admins, local, outcome, sharedServer, swap, twins } from './shared-server.ts'

describe('the form of requests', () => {
  let client: Client
  before(async () => {
    client = (await sharedServer()).client
  })

  it('answers a reading request by GET and POST alike', async () => {
    const asked = { ...local, address: admins, tokenSymbols: ['USDC', 'WBTC'] }
    const [get, post] = await Promise.all([client.get('/network/balances', asked), client.post('/network/balances', asked)])
    expect(get.body.balances).to.have.keys('USDC', 'WBTC')
    expect(post.body.balances).to.deep.equal(get.body.balances)
  })

  for (const query of [
    'tokenSymbols=USDC,dai',
    'tokenSymbols=USDC&tokenSymbols=dai',
    'tokenSymbols[]=USDC&tokenSymbols[]=dai',
    'tokenSymbols=["USDC","dai"]',
    'tokenSymbols%5B%5D=USDC%2Cdai',
    'tokenSymbols=USDC&tokenSymbols[]=dai',
  ]) {
    it(`reads the list ${query}`, async () => {
      const { body } = await client.get(`/network/tokens?chain=ethereum&network=local&${query}`)
      expect(body.map(({ symbol }: { symbol: string }) => symbol)).to.deep.equal(['USDC', 'DAI'])
    })
  }

  it('accepts a list of hundreds of addresses as repeated fields', async () => {
    const query = Array.from({ length: 1000 }, () => `tokenSymbols=${twins[0]}`).join('&')
    const { body } = await client.get(`/network/tokens?${query}&chain=ethereum&network=local`)
    expect(body).to.have.length(1000)
  })

  it('treats null, and an empty value in a query, as an absent optional field', async () => {
    const asPost = await client.post('/amm/price', { ...swap, version: null, address: null })
    const asGet = await client.get('/amm/price', { ...swap, version: '', address: '' })
    expect([outcome(asPost), outcome(asGet)]).to.deep.equal(['200', '200'])
    expect(asPost.body).not.to.have.property('allowance')
  })

  it('names a missing required field, also if it is null', async () => {
    const { body, status } = await client.post('/amm/price', { ...swap, base: undefined, quote: null })
    expect(status).to.equal(400)
    expect(body.details.map(({ field }: { field: string }) => field)).to.have.members(['base', 'quote'])
    expect(body.details[0].problem).to.contain('is required')
  })

  it('refuses an unknown field, with the nearest known name', async () => {
    const { body, status } = await client.get('/amm/price', { ...swap, ammount: '1' })
    expect(status).to.equal(400)
    expect(body.details).to.deep.equal([{ field: 'ammount', problem: 'is not a field of this request (did you mean "amount"?)' }])
  })

  for (const field of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    it(`refuses the field ${field}`, async () => {
      for (const path of ['/', '/network/status']) {
        const { body, status } = await client.get(`${path}?${field}=1`)
        expect(status, path).to.equal(400)
        expect(body.details[0].field).to.equal(field)
        expect(outcome(await client.get(`${path}?${field}`)), `${path}?${field}`).to.equal('400 INCOMPLETE_PARAMS')
      }
      expect(outcome(await client.post('/network/status', undefined, { raw: `{"${field}":{"chain":"ethereum"}}` }))).to.equal(
        '400 INCOMPLETE_PARAMS',
      )
    })
  }

  it('refuses a single value that is given twice', async () => {
    expect(outcome(await client.get('/amm/price', { ...swap, side: ['BUY', 'SELL'] }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('names at most twenty of thousands of wrong fields', async () => {
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`f${i}`, 1]))
    const { body, status } = await client.post('/network/status', many)
    expect(status).to.equal(400)
    expect(body.details).to.have.length(20)
  })
})

const padded = (bytes: number) => `{"chain":"ethereum"}${' '.repeat(bytes - 20)}`

describe('the form of HTTP', () => {
  let client: Client
  before(async () => {
    client = (await sharedServer()).client
  })

  it('answers 413 to a body over the limit and accepts one just below it', async () => {
    expect((await client.post('/network/chain_config', undefined, { raw: padded(100_001) })).status).to.equal(413)
    expect((await client.post('/network/chain_config', undefined, { raw: padded(100_000) })).status).to.equal(200)
  })

  for (const [what, raw] of [
    ['no JSON', '{"chain":'],
    ['a list', '[]'],
    ['a text', '"chain"'],
    ['null', 'null'],
    ['NaN', '{"chain":NaN}'],
    ['a NUL', '\0'],
    ['half of a character', '{"chain":"\\ud800"}'],
  ] as const) {
    it(`answers 400 or 404 to a body of ${what}`, async () => {
      expect(outcome(await client.post('/network/chain_config', undefined, { raw }))).to.match(
        /^400 INCOMPLETE_PARAMS$|^404 UNKNOWN_CHAIN_ERROR$/,
      )
    })
  }

  it('answers 415 to another content type, and to none', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', undefined]) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
      expect((await client.request('POST', '/network/status', { headers, raw: '{}' })).status).to.equal(415)
    }
  })

  it('accepts JSON with a charset, and a POST without a body if no field is required', async () => {
    expect(
      (
        await client.request('POST', '/network/chain_config', {
          headers: { 'content-type': 'application/json; charset=utf-8' },
          raw: '{"chain":"ethereum"}',
        })
      ).status,
    ).to.equal(200)
    expect((await client.request('POST', '/network/status')).status).to.equal(200)
    expect((await client.post('/network/status', undefined, { raw: '' })).status).to.equal(200)
  })

  for (const [method, path, allow] of [
    ['DELETE', '/amm/price', 'GET, POST'],
    ['GET', '/amm/trade', 'POST'],
    ['PUT', '/network/balances', 'GET, POST'],
    ['POST', '/', 'GET'],
    ['POST', '/wallet', 'GET'],
    ['POST', '/metrics', 'GET'],
    ['DELETE', '/docs', 'GET'],
  ] as const) {
    it(`answers 405 to ${method} ${path} with Allow: ${allow}`, async () => {
      const { status, headers, body } = await client.request(method, path)
      expect([status, headers.allow, body.name]).to.deep.equal([405, allow, 'INCOMPLETE_PARAMS'])
    })
  }

  it('answers 404 to an unknown path and names the nearest', async () => {
    const { status, body } = await client.get('/amm/prices')
    expect(status).to.equal(404)
    expect(body.message).to.contain('/amm/price"')
  })

  it('answers a URL that is too long with the usual error body', async () => {
    const { status, body } = await client.get(`/network/tokens?chain=${'x'.repeat(70_000)}`)
    expect([status, body.name, body.httpErrorCode]).to.deep.equal([431, 'INCOMPLETE_PARAMS', 431])
    expect(body.message).to.contain('POST')
  })

  it('answers with the version of the interface and the id of the request', async () => {
    const given = await client.get('/', {}, { headers: { 'x-request-id': 'bot-7' } })
    const made = await client.get('/nowhere', {}, { headers: { 'x-request-id': 'two words' } })
    expect(given.headers['sluice-api-version']).to.match(/^\d+\.\d+\.\d+$/)
    expect(given.headers['x-request-id']).to.equal('bot-7')
    expect(made.headers['x-request-id'])
      .to.match(/^[\da-f-]{36}$/)
      .and.to.equal(made.body.requestId)
  })

  it('gives every error one shape', async () => {
    const { body, status } = await client.get('/network/tokens', { chain: 'etherium', network: 'local' })
    expect(Object.keys(body)).to.have.members(['errorCode', 'name', 'message', 'httpErrorCode', 'requestId'])
    expect([body.errorCode, body.name, body.httpErrorCode, status]).to.deep.equal([1011, 'UNKNOWN_CHAIN_ERROR', 404, 404])
    expect(body.message).to.contain('did you mean "ethereum"')
  })
})
