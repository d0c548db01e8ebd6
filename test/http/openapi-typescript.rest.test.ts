import { expect } from 'chai'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root } from '../docs/page.ts'
import { run } from '../docs/run.ts'
import { mined, sharedServer, traders, type SharedServer } from './shared-server.ts'

const inRoot = (file: string) => path.join(root, 'node_modules', file)

/** openapi-typescript writes types by the compiler that is a library, which TypeScript 7 is not. */
const withTypeScript5 = `import { register } from 'node:module'
const resolve = "export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context)"
register('data:text/javascript,' + encodeURIComponent(resolve))
`

const client = `import createClient from 'openapi-fetch'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import type { paths } from './sluice.ts'

const [url = '', certs = '', address = ''] = process.argv.slice(2)
const read = (file: string) => readFileSync(\`\${certs}/\${file}\`)
const agent = new https.Agent({ ca: read('ca_cert.pem'), cert: read('client_cert.pem'), key: read('client_key.pem') })

const overTLS = async (request: Request): Promise<Response> => {
  const body = Buffer.from(await request.arrayBuffer())
  const headers = { ...Object.fromEntries(request.headers), 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const sent = https.request(request.url, { method: request.method, agent, headers }, async (answer) => {
      const text = (await answer.toArray()).join('')
      resolve(new Response(text, { status: answer.statusCode ?? 0, headers: { 'content-type': 'application/json' } }))
    })
    sent.on('error', reject).end(body)
  })
}

const sluice = createClient<paths>({ baseUrl: url, fetch: overTLS })
const swap = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL', amount: '0.1' } as const

const quote = await sluice.GET('/amm/price', { params: { query: swap } })
if (!quote.data) throw new Error(quote.error.message)
const limitPrice: string = quote.data.slippagePrice
const trade = await sluice.POST('/amm/trade', {
  params: { header: { 'Idempotency-Key': 'openapi-typescript' } },
  body: { ...swap, address, limitPrice, nonce: null },
})
if (!trade.data) throw new Error(trade.error.message)
// 202: it waits for a second person.
if (!('txHash' in trade.data)) throw new Error(trade.data.message)
const refused = await sluice.GET('/amm/price', { params: { query: { ...swap, base: 'NOPE' } } })
console.log(JSON.stringify([quote.data.expectedAmount, trade.data.expectedAmount, trade.data.txHash, refused.error?.name]))

/** Never called: what the types refuse. */
export const wrong = () => [
  // @ts-expect-error a field is missing
  sluice.GET('/amm/price', { params: { query: { chain: 'ethereum', network: 'local' } } }),
  // @ts-expect-error no number in a query
  sluice.GET('/amm/price', { params: { query: { ...swap, amount: 0.1 } } }),
  // @ts-expect-error no such side
  sluice.POST('/amm/trade', { body: { ...swap, address, side: 'HOLD' } }),
  // @ts-expect-error no such path
  sluice.GET('/amm/prize', {}),
  // @ts-expect-error a range has two bounds
  sluice.POST('/amm/liquidity/add', { body: { chain: 'ethereum', network: 'local', connector: 'uniswap', address, token0: 'ETH', token1: 'USDC', amount0: '1', amount1: '1', lowerPrice: '1' } }),
]
`

describe('a client on the types that openapi-typescript makes of /openapi.json', function () {
  this.timeout(300_000)
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-openapi-'))
  let server: SharedServer

  before(async () => {
    server = await sharedServer()
    const { text } = await server.client.get('/openapi.json')
    for (const [file, content] of Object.entries({
      'openapi.json': text,
      'typescript-5.mjs': withTypeScript5,
      'package.json': '{ "type": "module" }',
      'client.ts': client,
    }))
      writeFileSync(path.join(folder, file), content)
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    const makes = ['--import', './typescript-5.mjs', inRoot('openapi-typescript/bin/cli.js'), 'openapi.json', '--output', 'sluice.ts']
    await run(process.execPath, makes, { cwd: folder })
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('compiles strictly, refuses what is wrong by its types, quotes and trades', async () => {
    const options = '--strict --target es2023 --lib es2023,dom,dom.iterable --types node --module nodenext --skipLibCheck --singleThreaded'
    const files = '--rewriteRelativeImportExtensions --outDir built client.ts'
    await run(process.execPath, [inRoot('typescript/bin/tsc'), ...`${options} ${files}`.split(' ')], { cwd: folder })
    const { certsDir } = server.settings.ssl
    const printed = await run(process.execPath, ['built/client.js', server.kernel.url, certsDir, traders], { cwd: folder })
    const [quoted, expected, txHash, refused] = JSON.parse(printed)
    expect(expected).to.equal(quoted)
    expect(refused).to.equal('TOKEN_NOT_SUPPORTED')
    const { body } = await mined(server.client, txHash)
    expect(body.fill).to.include({ amountIn: '0.100000000000000000', amountOut: expected })
  })
})
