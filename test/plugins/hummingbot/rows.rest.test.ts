import { expect } from 'chai'
import { traders } from '../../http/shared-server.ts'
import { chainNetwork } from './bot.ts'
import { ranges, sharesOfPools } from './liquidity-rows.ts'
import { chains, polls, service, wallets, type Reads, type Row, type World } from './rows.ts'
import { sharedServer, type SharedServer } from './shared-server.ts'
import { quotes, swaps } from './swap-rows.ts'
import { pools, tokens } from './token-rows.ts'

const groups: Readonly<Record<string, (world: World) => readonly Row[] | Promise<readonly Row[]>>> = {
  'the service and its configuration': () => service,
  wallets: () => wallets,
  'a chain': () => chains,
  'a poll': polls,
  tokens,
  pools,
  quotes,
  swaps,
  'positions in ranges': ranges,
  'shares of pools': sharesOfPools,
}

const isDecimal = (value: unknown) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const fits: Readonly<Record<Reads, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string' && value !== '',
  decimal: isDecimal,
  number: isNumber,
  either: (value) => isNumber(value) || isDecimal(value),
  list: (value) => Array.isArray(value) && value.length > 0,
  object: (value) => typeof value === 'object' && value !== null,
  'number or null': (value) => value === null || isNumber(value),
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
}

const field = (value: unknown, name: string): unknown => {
  const one: unknown = Array.isArray(value) ? value[0] : value
  return typeof one === 'object' && one !== null ? Reflect.get(one, name) : undefined
}
const at = (body: unknown, path: string): unknown => path.split('.').reduce(field, body)

/** A client of 2.17 sends numbers, an older hummingbot-api text; and what one generation knows the other one does not. */
const variants = [
  { name: 'without a slash, and amounts as numbers', slash: '', sent: (value: unknown) => value, more: {} },
  {
    name: 'with a slash, amounts as text, and keys that nobody knows',
    slash: '/',
    sent: (value: unknown) => (typeof value === 'number' ? String(value) : value),
    more: { strategyType: 0, strategy: { is: ['nested', 1] }, extra: 'x', pages: 3 },
  },
] as const

describe('each request of the tables of Hummingbot', function () {
  this.timeout(240_000)
  let server: SharedServer
  let world: World
  const asked = new Set<string>()

  before(async () => {
    server = await sharedServer()
    const { client } = server.bots
    const poolOf = async (type: string) => (await client.get('/pools/WETH-USDC', { chainNetwork, connector: 'uniswap', type })).address
    const tokenAt = async (symbol: string) => (await client.get(`/tokens/${symbol}`, { chainNetwork })).token.address
    const quote = { chainNetwork, baseToken: 'WETH', quoteToken: 'USDC', amount: '0.01', side: 'SELL', connector: 'uniswap' }
    const wrapped = await client.post('/chains/ethereum/wrap', { network: 'local', address: traders, amount: 5 })
    await client.post('/chains/ethereum/approve', { network: 'local', address: traders, spender: 'uniswap', token: 'WETH' })
    world = {
      weth: await tokenAt('WETH'),
      usdc: await tokenAt('USDC'),
      clmm: await poolOf('clmm'),
      amm: await poolOf('amm'),
      signature: wrapped.signature,
      quoteId: async () => (await client.get('/trading/router/quote-swap', quote)).quoteId,
      bot: client,
    }
    await client.post('/trading/clmm/execute-swap', { ...quote, walletAddress: traders, amount: 1 })
    for (const token of ['WETH', 'USDC', world.amm])
      for (const spender of token === world.amm ? ['uniswap/amm'] : ['uniswap/amm', 'uniswap/clmm'])
        await client.post('/chains/ethereum/approve', { network: 'local', address: traders, spender, token })
  })

  async function ask({ method, path, fields = {}, query = {}, as = 'client' }: Row, { slash, sent, more }: (typeof variants)[number]) {
    const values = Object.entries({ ...fields, ...more }).map(([name, value]) => [name, sent(value)] as const)
    const inQuery = method === 'GET' ? values.map(([name, value]) => [name, String(value)] as const) : Object.entries(query)
    const search = new URLSearchParams(inQuery.map(([name, value]): [string, string] => [name, value])).toString()
    const target = `${path === '/' ? path : `${path}${slash}`}${search && `?${search}`}`
    const headers = { 'content-type': 'application/json' }
    return server.https[as].request(method, target, method === 'GET' ? {} : { raw: JSON.stringify(Object.fromEntries(values)), headers })
  }

  function judge({ method, path, reads, refused }: Row, { status, body, text, headers }: Awaited<ReturnType<typeof ask>>): void {
    const about = `${method} ${path}: ${status} ${text.slice(0, 600)}`
    expect(headers['content-type'], about).to.contain('application/json')
    expect(status, about).to.equal(refused?.[0] ?? 200)
    if (refused) {
      for (const name of ['message', 'error', 'name']) expect(body[name], about).to.be.a('string')
      expect(body.message).to.match(refused[1])
      return
    }
    for (const [name, kind] of Object.entries(reads)) expect(fits[kind](at(body, name)), `${name} is no ${kind}: ${about}`).to.equal(true)
    if (Object.values(reads).every((kind) => !kind.includes('null'))) expect(text, about).not.to.match(/:null[,}]/)
  }

  for (const [group, rowsOf] of Object.entries(groups))
    for (const variant of variants)
      it(`is answered as clients read it: ${group}, ${variant.name}`, async () => {
        for (const row of await rowsOf(world)) {
          judge(row, await ask(row, variant))
          asked.add(`${row.method} ${row.path}`)
        }
      })

  it('is of all paths that the interface has, but for those of other generations', async () => {
    const { paths } = (await server.https.client.get('/openapi.json')).body
    const missing = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([name, { summary }]: [string, { summary: string }]) => {
        const method = name.toUpperCase()
        const pattern = new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/]+')}$`)
        const isOther = summary.startsWith('Refused: it is of')
        return isOther || [...asked].some((each) => pattern.test(each)) ? [] : [`${method} ${path}`]
      }),
    )
    expect(missing).to.deep.equal([])
  })
})
