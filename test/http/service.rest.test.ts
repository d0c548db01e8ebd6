import { readFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { endpoints, errorsOf, errorTable, eventsEndpoint, interfaceVersion, type Endpoint } from '../../core/api/index.ts'
import { tradingMethods } from '../../core/contracts/index.ts'
import { alsoPosts } from '../../core/http/routes.ts'
import { openapi } from '../../core/http/openapi.ts'
import type { Client } from '../../testkit/client.ts'
import { outcome, sharedServer, traders } from './shared-server.ts'
import { until } from '../transactions/site.ts'
import { scrape } from './scrape.ts'

/** Every `$ref` in a document. */
function* refs(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, each] of Object.entries(value)) {
    if (key === '$ref' && typeof each === 'string') yield each
    else yield* refs(each)
  }
}

const at = (document: object, ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => Reflect.get(Object(value), key), document)

const operationsOf = (of: object) =>
  Object.entries(of).flatMap(([path, item]) => Object.keys(Object(item)).map((method) => `${method.toUpperCase()} ${path}`))

describe('the service', function () {
  this.timeout(300_000)
  let client: Client
  before(async () => {
    client = (await sharedServer()).client
  })

  it('answers its status', async () => {
    const { body, headers } = await client.get('/')
    expect(body).to.deep.equal({ status: 'ok' })
    expect(headers['content-type']).to.contain('application/json')
  })

  it('gives no page, and no browser anything, under a name that is not its own; programs go on and are counted', async () => {
    const { url, certsDir } = await sharedServer()
    const file = (name: string) => readFileSync(path.join(certsDir, name))
    const files = { ca: file('ca_cert.pem'), cert: file('client_cert.pem'), key: file('client_key.pem') }
    // A browser knows the server by the name, and was told to take its certificate.
    const of = (at: string, headers: OutgoingHttpHeaders) =>
      new Promise((resolve, reject) => {
        https
          .get(new URL(at, url), { ...files, servername: 'localhost', headers }, (answer) =>
            answer.resume().on('end', () => resolve(answer.statusCode)),
          )
          .on('error', reject)
      })
    const counted = async () => Number(/^sluice_other_hosts_total (\d+)/m.exec((await client.get('/metrics')).text)?.[1])
    const foreign = { host: 'evil.example:15888' }
    const before = await counted()
    for (const page of ['/dashboard', '/docs', '/docs/start.js']) expect(await of(page, foreign), page).to.equal(403)
    for (const more of [{ origin: 'https://evil.example:15888' }, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-mode': 'cors' }])
      expect(await of('/caller', { ...foreign, ...more }), JSON.stringify(more)).to.equal(403)
    expect(await of('/caller', foreign)).to.equal(200)
    // A scrape may be of a second ago.
    await until('they are counted', async () => (await counted()) === before + 7)
    expect(await of('/docs', { host: 'localhost:15888', 'sec-fetch-site': 'none' })).to.equal(200)
    expect(await of('/caller', { host: 'localhost:1', origin: 'https://localhost:1' })).to.equal(200)
  })

  it('says who the caller is, what it may do and whose limits it may ask for', async () => {
    const { as } = await sharedServer()
    const { body } = await client.get('/caller')
    expect(body.permissions).to.have.members(['read', 'trade', 'send', 'admin'])
    expect(body.clients).to.include.members(['client', 'trader']).and.to.have.property('0', 'client')
    expect((await as.trader.get('/caller')).body)
      .to.include({ client: 'trader' })
      .and.to.deep.include({ clients: ['trader'] })
    const names = async (who: typeof client) => (await who.get('/caller')).body.certificates.map(({ name }: { name: string }) => name)
    expect(await names(client)).to.include.members(['server', 'ca', 'client', 'trader', 'reader'])
    // Those of others are not its business.
    expect(await names(as.trader)).to.have.members(['server', 'ca', 'trader'])
    for (const { expiresAt } of body.certificates) expect(expiresAt).to.be.above(Date.now())
    expect((await as.visitor.get('/caller')).body).to.deep.include({ client: 'visitor', unlisted: true, permissions: ['read'] })
    expect(outcome(await as.idle.get('/caller'))).to.equal('403 FORBIDDEN')
  })

  it('lists the connectors with the networks that each serves', async () => {
    const { body } = await client.get('/connectors')
    expect(body.uniswap).to.deep.equal([{ chain: 'ethereum', networks: ['mainnet', 'sepolia', 'local'] }])
    expect(body.quickswap).to.deep.equal([{ chain: 'ethereum', networks: ['local'] }])
    expect(body).to.have.keys(
      'uniswap',
      'sushiswap',
      'pancakeswap',
      'quickswap',
      'quickswap-v3',
      'quickswap-v4',
      'camelot-v4',
      'traderjoe',
      'pangolin',
      'balancer',
      'curve',
      'perp',
      'oasis',
    )
  })

  it('lists the plugins with kind, version and state', async () => {
    const { body } = await client.get('/plugins')
    expect(body.map(({ name, kind, state }: Record<string, string>) => `${kind} ${name} ${state}`)).to.include.members([
      'chain ethereum loaded',
      'connector uniswap loaded',
      'connector pancakeswap loaded',
    ])
    expect(body.filter(({ state }: { state: string }) => state !== 'loaded')).to.deep.equal([])
    for (const plugin of body) expect(plugin).to.include.keys('version', 'trading_type', 'available_networks')
    // What nobody has asked for is not even starting.
    expect(body.find(({ name }: { name: string }) => name === 'ethereum')).not.to.have.property('starting')
  })

  it("answers a connector's configuration with its attributes", async () => {
    const { body } = await client.get('/connector/config', { connector: 'uniswap' })
    expect(body).to.include({ name: 'uniswap', allowedSlippage: '1/100', ttl: 300 })
    expect(body.trading_type).to.deep.equal(['AMM', 'AMM_RANGE', 'AMM_SHARES'])
    expect(body).to.include.keys('available_networks', 'contractAddresses', 'versions')
    expect(body).not.to.have.any.keys('timestamp', 'latency')
    for (const connector of ['uniswpa', '__proto__', 'ethereum'])
      expect(outcome(await client.get('/connector/config', { connector }))).to.equal('404 UNKNOWN_CONNECTOR')
  })

  it('answers as live and ready once the required network is ready', async () => {
    expect((await client.get('/health/live')).status).to.equal(200)
    expect((await client.get('/health/ready')).body).to.deep.equal({ status: 'ok' })
  })

  it('counts requests by route and connector, RPC calls, errors by code, plugin states, the event loop and the process', async () => {
    // Other files may have taken all series of refusals of the shared server: then it is counted with the others.
    const refused = (text: string) =>
      ['route="/amm/price",method="GET",status="400",connector=""', 'route="other",method="other",status="400",connector="other"']
        .map((labels) => Number(text.split(`sluice_request_seconds_count{${labels}} `)[1]?.split('\n', 1)[0] ?? 0))
        .reduce((sum, count) => sum + count)
    const before = refused((await scrape(client)).text)
    await client.get('/amm/price', { connector: 'uniswap' })
    await client.get('/nowhere')
    const { text, headers } = await scrape(client)
    expect(headers['content-type']).to.contain('text/plain')
    expect(refused(text)).to.equal(before + 1)
    for (const pattern of [
      /^sluice_rpc_calls_total\{chain="ethereum",network="local",method="eth_\w+",outcome="ok"\} \d+$/m,
      /^sluice_errors_total\{code="1014",name="INCOMPLETE_PARAMS"\} \d+$/m,
      /^sluice_plugin_state\{plugin="ethereum",kind="chain",state="loaded"\} 1$/m,
      /^nodejs_eventloop_lag_seconds /m,
      /^process_resident_memory_bytes /m,
    ])
      expect(text).to.match(pattern)
  })

  it('does not let callers create labels of metrics', async () => {
    await client.get('/amm/price', { connector: 'made-up', chain: 'made-up' })
    await client.request('PATCH', '/made-up')
    expect((await scrape(client)).text).not.to.contain('made-up')
  })

  it('shows a number of lines that clients cannot raise, whatever they ask for', async () => {
    const { as } = await sharedServer()
    const odd = ['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND', 'M-SEARCH']
    const connectors = ['uniswap', 'curve', 'balancer', 'oasis', 'nobody']
    const asked = endpoints.flatMap(({ path }) => [
      ...odd.map((method) => () => as.idle.request(method, path)),
      ...connectors.map((connector) => () => as.reader.get(path, { connector })),
    ])
    for (let from = 0; from < asked.length; from += 20) await Promise.all(asked.slice(from, from + 20).map((ask) => ask()))
    const { text } = await scrape(client)
    expect(asked.length).to.be.above(600)
    expect(text.split('\n').length).to.be.below(9_000)
    expect(text).not.to.match(/method="(PUT|PATCH|OPTIONS|PROPFIND|M-SEARCH)"/)
  })

  it('answers scrapes at once with the same bytes', async () => {
    // Their connections are there, so that they come together.
    await Promise.all(Array.from({ length: 10 }, () => client.get('/')))
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.get('/metrics')))
    // The first may be the last of those that were kept.
    expect(new Set(answers.map(({ text }) => text)).size).to.be.at.most(2)
  })

  it('serves /docs without any other host', async () => {
    const { text, headers } = await client.get('/docs')
    expect(headers['content-security-policy']).to.contain("default-src 'none'")
    // An empty icon in the page itself: without one, browsers ask for /favicon.ico, which is not there.
    expect(text).to.contain('<link rel="icon" href="data:,">').and.contain('<meta name="viewport" content="width=device-width')
    const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '').filter((link) => link !== 'data:,')
    expect(links).to.have.length(3)
    for (const link of links) {
      expect(link).to.match(/^\/docs\/[\w.-]+$/)
      const asset = await client.get(link)
      expect(asset.status).to.equal(200)
      expect(asset.headers['content-type']).to.contain(link.endsWith('.css') ? 'text/css' : 'text/javascript')
      expect(asset.text.length).to.be.above(20)
    }
    for (const page of ['/docs', '/openapi.json', '/metrics', '/docs/nowhere', ...links])
      expect((await client.get(page)).headers, page).to.include({
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      })
    const start = await client.get('/docs/start.js')
    expect(start.text).to.contain("fetch('/openapi.json')").and.not.to.contain('http')
  })
})

interface Content {
  'application/json': { schema: { $ref: string }; example?: unknown }
}

interface Operation {
  parameters: { name: string; in: string; required: boolean; schema: object; example?: unknown }[]
  requestBody?: { content: Content }
  responses: Record<string, { content: Content }>
}

/** Each operation with its method and path. */
const operationsIn = (document: object): [string, string, Operation][] =>
  Object.entries<Record<string, Operation>>(Object(document).paths).flatMap(([where, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, Operation] => [method, where, operation]),
  )

const queryExamples = ({ parameters }: Operation): [string, unknown][] =>
  parameters.flatMap(({ name, example }): [string, unknown][] => (example === undefined ? [] : [[name, example]]))

describe('/openapi.json', function () {
  this.timeout(300_000)
  // eslint-disable-next-line typescript/no-explicit-any -- a document, looked into
  let document: any
  before(async () => {
    document = (await (await sharedServer()).client.get('/openapi.json')).body
  })

  it('gives OpenAPI 3.1 with the version of the interface and mutual TLS as its only security', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(valid, JSON.stringify(errors)).to.equal(true)
    expect(document.openapi).to.match(/^3\.1\.\d$/)
    expect(document.info.version).to.equal(interfaceVersion)
    expect(document.security).to.deep.equal([{ mutualTLS: [] }])
    expect(document.components.securitySchemes.mutualTLS.type).to.equal('mutualTLS')
  })

  it('has no dangling reference', () => {
    const all = [...refs(document)]
    expect(all.length).to.be.above(50)
    for (const ref of all) expect(at(document, ref), ref).to.be.an('object')
  })

  it('has no schema that nothing refers to, and is of the server that gave it', () => {
    const used = new Set([...refs(document)].map((ref) => ref.split('/').at(-1)))
    expect(Object.keys(document.components.schemas).filter((name) => !used.has(name))).to.deep.equal([])
    expect(document.servers).to.deep.equal([{ url: '/' }])
  })

  it('says what is taken in a body: numbers for decimals, and null for what may be absent', async () => {
    const { client } = await sharedServer()
    const takes = new Ajv({ strict: false }).compile(document.components.schemas.AMMPriceRequest)
    const price = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL' }
    for (const [fields, isTaken] of [
      [{ amount: '1' }, true],
      [{ amount: 1.5, allowedSlippage: null }, true],
      [{ amount: '1,5' }, false],
      [{ amount: true }, false],
      [{ amount: null }, false],
      [{}, false],
    ] as const) {
      expect(takes({ ...price, ...fields }), JSON.stringify(fields)).to.equal(isTaken)
      const { status } = await client.post('/amm/price', { ...price, ...fields })
      expect(status, JSON.stringify(fields)).to.equal(isTaken ? 200 : 400)
    }
    const [amount] = document.paths['/amm/price'].get.parameters.filter(({ name }: { name: string }) => name === 'amount')
    expect(amount.schema.type).to.equal('string')
  })

  it('says what is taken of fields that belong together, as the server takes them', async () => {
    const { client } = await sharedServer()
    const local = { chain: 'ethereum', network: 'local', address: traders }
    const oasis = { ...local, connector: 'oasis', market: 'WETH-USDC' }
    const order = { ...oasis, side: 'BUY', amount: '0.1' }
    const pair = { ...local, connector: 'uniswap', token0: 'WETH', token1: 'USDC' }
    const add = { ...pair, amount0: '1', amount1: '3000' }
    const range = { lowerPrice: '2800', upperPrice: '3200' }
    const tokenId = '999999999'
    const { market: _, ...batch } = oasis
    for (const [method, path, name, body, isTaken] of [
      ['POST', '/amm/liquidity/price', 'AMMLiquidityPrice', pair, true],
      ['POST', '/amm/liquidity/price', 'AMMLiquidityPrice', { ...pair, period: null }, true],
      ['POST', '/amm/liquidity/price', 'AMMLiquidityPrice', { ...pair, period: 60 }, false],
      ['POST', '/amm/liquidity/price', 'AMMLiquidityPrice', { ...pair, interval: 60, period: null }, false],
      ['POST', '/amm/liquidity/add', 'AMMLiquidityAdd', add, false],
      ['POST', '/amm/liquidity/add', 'AMMLiquidityAdd', { ...add, tokenId: null }, false],
      ['POST', '/amm/liquidity/add', 'AMMLiquidityAdd', { ...add, tokenId, lowerPrice: '2800' }, false],
      ['POST', '/amm/liquidity/add', 'AMMLiquidityAdd', { ...add, tokenId, upperPrice: '3200' }, false],
      ['POST', '/amm/liquidity/add', 'AMMLiquidityAdd', { ...add, tokenId }, true],
      ['POST', '/amm/liquidity/add', 'AMMLiquidityAdd', { ...add, tokenId, ...range }, true],
      ['POST', '/clob/orders', 'CLOBOrdersPost', { ...order, orderType: 'LIMIT' }, false],
      ['POST', '/clob/orders', 'CLOBOrdersPost', { ...order, orderType: 'LIMIT', price: null }, false],
      ['POST', '/clob/orders', 'CLOBOrdersPost', { ...order, orderType: 'LIMIT', price: '100', limitPrice: '100' }, false],
      ['POST', '/clob/orders', 'CLOBOrdersPost', { ...order, orderType: 'LIMIT', price: '100', allowedSlippage: '1/100' }, false],
      ['POST', '/clob/orders', 'CLOBOrdersPost', { ...order, orderType: 'LIMIT', price: '100', limitPrice: null }, true],
      ['POST', '/clob/orders', 'CLOBOrdersPost', { ...order, orderType: 'MARKET', limitPrice: '100', price: '100' }, false],
      ['POST', '/clob/orders', 'CLOBOrdersPost', { ...order, orderType: 'MARKET', limitPrice: '100' }, true],
      ['DELETE', '/clob/orders', 'CLOBOrdersDelete', oasis, false],
      ['DELETE', '/clob/orders', 'CLOBOrdersDelete', { ...oasis, orderId: null }, false],
      ['DELETE', '/clob/orders', 'CLOBOrdersDelete', { ...oasis, clientOrderId: 'nobody' }, true],
      ['POST', '/clob/batchOrders', 'CLOBBatchOrders', batch, false],
      ['POST', '/clob/batchOrders', 'CLOBBatchOrders', { ...batch, create: [], cancel: null }, false],
      ['POST', '/clob/batchOrders', 'CLOBBatchOrders', { ...batch, cancel: [{ market: 'WETH-USDC', orderId: '999999999' }] }, true],
      ['POST', '/clob/batchOrders', 'CLOBBatchOrders', { ...batch, cancel: [{ market: 'WETH-USDC' }] }, false],
    ] as const) {
      const given = `${method} ${path} ${JSON.stringify(body)}`
      const takes = new Ajv({ strict: false }).compile(document.components.schemas[`${name}Request`])
      expect(takes(body), given).to.equal(isTaken)
      const answer = await client.request(method, path, { headers: { 'content-type': 'application/json' }, raw: JSON.stringify(body) })
      const refused = answer.body.name ?? answer.body.cancelled?.[0]?.error?.name
      expect(refused !== 'INCOMPLETE_PARAMS', `${given}: ${answer.text}`).to.equal(isTaken)
    }
    expect(document.paths['/clob/orders'].delete.description).to.contain('Give `orderId`, or `clientOrderId`.')
  })

  it('has an example of each query, body and answer, which its schema takes', async () => {
    const { registry: directory } = (await sharedServer()).kernel.services
    const every = Object.keys(tradingMethods) as (keyof typeof tradingMethods)[]
    const plugins = directory.plugins.map((each) => ({ ...each, trading_type: every }))
    const whole: object = JSON.parse(JSON.stringify(openapi({ ...directory, plugins })))
    const ajv = new Ajv({ strict: false })
    const expectValid = (schema: unknown, example: unknown, of: string) => {
      expect(example, of).to.not.equal(undefined)
      expect(ajv.validate(Object(schema), example), `${of}: ${ajv.errorsText()}`).to.equal(true)
    }
    for (const [method, where, operation] of operationsIn(whole)) {
      const of = `${method} ${where}`
      const inQuery = operation.parameters.filter((each) => each.in === 'query')
      for (const { schema, example, required, name } of inQuery)
        if (required || example !== undefined) expectValid(schema, example, `${of} ${name}`)
      const body = operation.requestBody?.content['application/json']
      if (method === 'post') expectValid(at(whole, body?.schema.$ref ?? ''), body?.example, of)
      else if (body) expectValid(at(whole, body.schema.$ref), Object.fromEntries(queryExamples(operation)), of)
      else if (inQuery.length > 0) expect(queryExamples(operation), of).to.not.deep.equal([])
      const answer = operation.responses[200]?.content['application/json']
      // No exchange of the devnet takes deposits into an order book.
      if (answer && !/^\/clob\/(perp\/)?deposit$/.test(where)) expectValid(at(whole, answer.schema.$ref), answer.example, of)
    }
  })

  it('has examples of queries that the devnet answers', async () => {
    const { client } = await sharedServer()
    for (const [method, where, operation] of operationsIn(document)) {
      // That shows a request that waits, to a certificate that may approve it.
      if (method !== 'get' || where === '/events' || where === '/approvals/preview') continue
      const query = Object.fromEntries(queryExamples(operation).map(([name, example]) => [name, String(example)]))
      const { status, text } = await client.get(where, query)
      expect(status, `${where}: ${text}`).to.equal(200)
    }
  })

  it('gives every operation a unique id, a summary and responses', () => {
    const operations = Object.values(document.paths).flatMap((item) => Object.values(Object(item))) as Record<string, unknown>[]
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).to.equal(ids.length)
    for (const { summary, responses, parameters } of operations) {
      expect(summary).to.be.a('string')
      for (const [status, response] of Object.entries(Object(responses))) {
        expect(status).to.match(/^[2-5]\d\d$/)
        expect(response).to.have.property('description')
      }
      for (const parameter of parameters as object[]) expect(parameter).to.include.keys('name', 'in', 'schema')
    }
  })

  it('names the schemas after the URLs, one definition for each', () => {
    for (const name of [
      'NetworkStatus',
      'NetworkChainConfig',
      'EVMAllowances',
      'EVMApprove',
      'ConnectorConfig',
      'AMMPrice',
      'AMMTrade',
      'AMMEstimateGas',
    ]) {
      expect(document.components.schemas).to.include.keys(`${name}Request`, `${name}Response`)
    }
    expect(JSON.stringify(document)).not.to.contain('"expects"')
  })

  it('lists every endpoint of the loaded plugins, reads by POST too, with their errors', async () => {
    const { plugins } = (await sharedServer()).kernel.services.registry
    const loaded = plugins.flatMap(({ state, trading_type }) => (state === 'loaded' ? trading_type : []))
    // No chain of another family is, and of the kinds of exchanges those that plugins are of.
    const isServed = ({ set }: Endpoint) => set !== 'altchain' && (!Object.hasOwn(tradingMethods, set) || loaded.includes(set))
    const all = ([...endpoints, eventsEndpoint] as readonly Endpoint[]).filter(isServed)
    const expected = all.flatMap((each) => (alsoPosts(each) ? [`GET ${each.path}`, `POST ${each.path}`] : [`${each.method} ${each.path}`]))
    expect(operationsOf(document.paths)).to.have.members(expected)
    for (const endpoint of all) {
      const { responses } = document.paths[endpoint.path][endpoint.method.toLowerCase()]
      for (const name of errorsOf(endpoint)) expect(responses[errorTable[name].http].description).to.contain(name)
      expect(responses).not.to.have.property('500')
    }
  })

  it('has the loaded connectors, chains and networks as examples', () => {
    const examples = (field: string) =>
      document.paths['/amm/price'].get.parameters.find(({ name }: { name: string }) => name === field).schema.examples
    expect(examples('connector')).to.include.members(['sushiswap', 'uniswap'])
    expect(examples('chain')).to.deep.equal(['ethereum'])
    expect(examples('network')).to.include('local')
    expect(document.components.schemas.AMMTradeRequest.properties.connector.examples).to.include('uniswap')
    expect(document.components.schemas.AMMTradeResponse.properties.connector).not.to.have.property('examples')
  })

  it('lists nothing that no loaded plugin answers', async () => {
    // Examples of approvals show what other requests were.
    const listed = (of: unknown) => JSON.stringify(of, (key: string, value: unknown) => (key === 'example' ? undefined : value))
    const { registry: directory } = (await sharedServer()).kernel.services
    const bare = listed(openapi({ ...directory, plugins: directory.plugins.filter(({ kind }) => kind === 'chain') }))
    expect(bare)
      .to.contain('/evm/approve')
      .and.not.to.match(/\/amm\/|AMMPrice/)
    const refused = listed(
      openapi({ ...directory, networks: [], plugins: directory.plugins.map((each) => ({ ...each, state: 'refused' as const })) }),
    )
    expect(refused)
      .to.contain('/network/status')
      .and.not.to.match(/\/amm\/|\/evm\//)
  })
})
