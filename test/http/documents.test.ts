import { once } from 'node:events'
import { request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Script } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import Router from '@koa/router'
import Koa from 'koa'
import { endpoints } from '../../core/api/index.ts'
import { addDocuments } from '../../core/http/documents.ts'
import { createRegistry, type GrowingRegistry, type PluginEntry } from '../../core/plugins/registry.ts'

const refused: PluginEntry = {
  name: 'late-exchange',
  folder: '/plugins/late-exchange',
  kind: 'connector',
  version: '1.0.0',
  trading_type: ['AMM'],
  available_networks: [],
  state: 'refused',
}

/** What the page gives to Swagger UI. */
interface UiOptions {
  readonly spec: object
  readonly filter: boolean
  readonly plugins: readonly (() => { readonly fn: { opsFilter(tags: List<Tag>, phrase: string): List<Tag> } })[]
}
// Tags and operations as Swagger UI keeps them, as far as the page looks at them.
interface List<T> {
  readonly size: number
  readonly all: readonly T[]
  filter(isKept: (each: T) => boolean): List<T>
  map<U>(change: (each: T) => U): List<U>
}
interface ShownOperation {
  get(key: string): string | undefined
  getIn(keys: readonly string[]): string | undefined
}
interface Tag {
  get(): List<ShownOperation>
  set(key: string, operations: List<ShownOperation>): Tag
}
const listOf = <T>(all: readonly T[]): List<T> => ({
  size: all.length,
  all,
  filter: (isKept) => listOf(all.filter(isKept)),
  map: (change) => listOf(all.map(change)),
})
const operationOf = (path: string, summary: string): ShownOperation => ({
  get: (key) =>
    new Map([
      ['path', path],
      ['method', 'get'],
    ]).get(key),
  getIn: (keys) => (keys.join('.') === 'operation.summary' ? summary : undefined),
})
const tagOf = (operations: List<ShownOperation>): Tag => ({ get: () => operations, set: (_key, others) => tagOf(others) })

describe('the documents', () => {
  let registry: GrowingRegistry
  let server: Server
  let url: string

  beforeEach(async () => {
    registry = createRegistry({ plugins: [refused], networks: [], venues: [] })
    const app = new Koa()
    app.silent = true
    const router = new Router()
    addDocuments((path, answer) => router.get(path, answer), registry)
    server = app.use(router.routes()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    server.close()
    server.closeAllConnections()
  })

  // Not by fetch, which asks caches for nothing else than the whole.
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const [answer] = (await once(request(url + path, { headers, agent: false }).end(), 'response')) as [IncomingMessage]
    return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) }
  }

  it('the page shows a reading once and nothing to authorize, and finds operations by path and summary', async () => {
    const operation = (operationId: string, summary: string) => ({ operationId, summary })
    // The names of an order and of the list are those of the interface.
    const { name, summary, method } = endpoints.find((each) => each.path === '/clob/orders' && each.method === 'POST') ?? {}
    expect([name, method]).to.deep.equal(['CLOBOrdersPost', 'POST'])
    const orders = { get: operation('CLOBOrders', 'The orders of a wallet.'), post: operation(`${name}`, `${summary}`) }
    const spec = {
      paths: {
        '/amm/price': { get: operation('AMMPrice', 'The price of a swap.'), post: operation('AMMPricePost', 'The price of a swap.') },
        '/clob/orders': { ...orders },
      },
      components: { securitySchemes: {} },
      security: [],
    }
    let shown: UiOptions | undefined
    const bundle = (options: UiOptions) => void (shown = options)
    const fetched = Promise.resolve({ json: () => spec })
    new Script((await get('/docs/start.js')).bytes.toString()).runInNewContext({ fetch: () => fetched, SwaggerUIBundle: bundle, Object })
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    if (!shown) throw new Error('The page shows nothing.')
    expect(shown.filter).to.equal(true)
    expect(shown.spec).to.deep.equal({
      paths: {
        '/amm/price': { get: operation('AMMPrice', 'The price of a swap.') },
        '/clob/orders': orders,
      },
      components: {},
    })

    const tags = listOf([
      tagOf(listOf([operationOf('/amm/price', 'The price of a swap.')])),
      tagOf(listOf([operationOf('/evm/nonce', 'The next nonce.')])),
    ])
    const [ui] = shown.plugins.map((plugin) => plugin())
    const found = (phrase: string) => ui?.fn.opsFilter(tags, phrase).all.flatMap((tag) => tag.get().all.map((each) => each.get('path')))
    expect(found('/AMM/price')).to.deep.equal(['/amm/price'])
    expect(found('next get')).to.deep.equal(['/evm/nonce'])
    expect(found('no such thing')).to.deep.equal([])
  })

  for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js']) {
    it(`${path} is sent once to a client that shows its tag again`, async () => {
      const first = await get(path)
      expect([first.status, first.bytes.length > 20]).to.deep.equal([200, true])
      const tag = first.headers.etag ?? ''
      expect(tag).to.match(/^"[\w-]{27}"$/)
      const again = await get(path, { 'if-none-match': tag })
      expect([again.status, again.bytes.length, again.headers.etag]).to.deep.equal([304, 0, tag])
      expect((await get(path, { 'if-none-match': '"another"' })).status).to.equal(200)
    })

    it(`${path} is compressed for a client that takes that, under a tag of its own`, async () => {
      const [plain, compressed] = [await get(path), await get(path, { 'accept-encoding': 'gzip' })]
      expect(compressed.headers['content-encoding']).to.equal('gzip')
      expect(gunzipSync(compressed.bytes).equals(plain.bytes)).to.equal(true)
      expect(compressed.headers.etag).not.to.equal(plain.headers.etag)
      for (const { headers } of [plain, compressed]) expect(headers.vary).to.equal('Accept-Encoding')
      expect(plain.headers).not.to.have.property('content-encoding')
      expect((await get(path, { 'accept-encoding': 'gzip', 'if-none-match': compressed.headers.etag ?? '' })).status).to.equal(304)
    })

    it(`${path} may be framed by no other page`, async () => {
      expect((await get(path)).headers['content-security-policy']).to.contain("frame-ancestors 'none'")
    })
  }

  it('/openapi.json is made once for the plugins that are loaded, however often it is asked for', async () => {
    let reads = 0
    const { networks } = registry
    Object.defineProperty(registry, 'networks', {
      get: () => {
        reads += 1
        return networks
      },
    })
    const first = await get('/openapi.json')
    const [madeBy, many] = [reads, 20]
    const answers = await Promise.all(Array.from({ length: many }, () => get('/openapi.json')))
    for (const { bytes } of answers) expect(bytes.equals(first.bytes)).to.equal(true)
    // To see whether it is still the same takes one look each.
    expect(madeBy).to.be.above(2)
    expect(reads - madeBy).to.equal(many)
  })

  it('/openapi.json has the endpoints of a plugin that is loaded later', async () => {
    const before = await get('/openapi.json')
    expect(JSON.parse(before.bytes.toString()).paths).not.to.have.property('/amm/price')
    registry.add({ plugins: [{ ...refused, state: 'loaded' }], networks: [], venues: [] })
    const after = await get('/openapi.json', { 'if-none-match': before.headers.etag ?? '' })
    expect(after.status).to.equal(200)
    const { paths } = JSON.parse(after.bytes.toString())
    expect(paths['/amm/price'].get.parameters.find(({ name }: { name: string }) => name === 'connector').schema.examples).to.deep.equal([
      'late-exchange',
    ])
  })
})
