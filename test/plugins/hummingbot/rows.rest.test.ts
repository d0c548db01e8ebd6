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

  describe('whose amounts have more decimals than their token', () => {
    const ofSwap = { chainNetwork, connector: 'uniswap', baseToken: 'USDC', quoteToken: 'WETH', side: 'SELL' }
    const wallet = { walletAddress: traders }
    /** USDC is the first token of some pools, and the second one of others. */
    const sides = async (poolAddress: string, type: string, usdc: unknown, weth: unknown) => {
      const on = { chainNetwork, connector: 'uniswap', poolAddress }
      const info = await server.bots.client.get(`/trading/${type}/pool-info`, on)
      const [baseTokenAmount, quoteTokenAmount] = info.baseTokenAddress === world.usdc ? [usdc, weth] : [weth, usdc]
      const price = Number(info.price)
      return {
        fields: { ...on, baseTokenAmount, quoteTokenAmount, lowerPrice: price * 0.9, upperPrice: price * 1.1 },
        isUsdcBase: usdc === baseTokenAmount,
      }
    }
    const read = async (path: string, fields: Readonly<Record<string, unknown>>) =>
      server.bots.client.get(path, Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])))

    it('are cut toward zero in quotes and swaps', async () => {
      const { client } = server.bots
      for (const amount of ['15.12345678901234567', '1512345678901234567E-17', 15.12345678901234]) {
        for (const [path, connector] of [
          ['/trading/router/quote-swap', 'uniswap'],
          ['/trading/router/quote-swap', 'sluice'],
          ['/trading/amm/quote-swap', 'uniswap'],
          ['/trading/swap/quote', 'uniswap/clmm'],
        ] as const)
          for (let again = 0; again < 3; again += 1)
            expect(Number((await read(path, { ...ofSwap, connector, amount })).amountIn), path).to.equal(15.123456)
      }
      expect(Number((await read('/trading/router/quote-swap', { ...ofSwap, side: 'BUY', amount: '15.1234569' })).amountOut)).to.equal(
        15.123456,
      )
      expect(
        (await client.post('/trading/router/execute-swap', { ...ofSwap, ...wallet, amount: 15.12345678901234 })).data.amountIn,
      ).to.equal('15.123456')
      expect(
        (await client.post('/trading/swap/execute', { ...ofSwap, ...wallet, connector: 'uniswap/amm', amount: '15.12345699' })).data
          .amountIn,
      ).to.equal('15.123456')
      const { quoteId } = await read('/trading/router/quote-swap', { ...ofSwap, amount: '15.1234569999' })
      expect((await client.post('/trading/router/execute-quote', { ...wallet, quoteId })).data.amountIn).to.equal('15.123456')
      const weth = { ...ofSwap, baseToken: world.weth, quoteToken: world.usdc, ...wallet, amount: '0.0332739012345678901234' }
      expect((await client.post('/trading/clmm/execute-swap', weth)).data.amountIn).to.equal('0.033273901234567890')
      expect(
        Number((await read('/trading/router/quote-swap', { ...ofSwap, amount: 1, slippagePct: '0.30000000000000004' })).amountIn),
      ).to.equal(1)
    })

    it('are cut toward zero in what is wrapped and approved, and no approval becomes one of 0', async () => {
      const { client } = server.bots
      const local = { network: 'local', address: traders }
      for (const how of ['wrap', 'unwrap'])
        expect((await client.post(`/chains/ethereum/${how}`, { ...local, amount: '0.1234567890123456789' })).data.amount).to.equal(
          '0.123456789012345678',
        )
      const approve = { ...local, spender: 'pancakeswap', token: 'USDC' }
      expect((await client.post('/chains/ethereum/approve', { ...approve, amount: 7.12345678 })).data.amount).to.equal('7.123456')
      expect((await client.refusal('POST', '/chains/ethereum/approve', { ...approve, amount: 1e-7 })).status).to.equal(400)
      const { approvals } = await client.post('/chains/ethereum/allowances', { ...local, spender: 'pancakeswap', tokens: ['USDC'] })
      expect(approvals.USDC).to.equal('7.123456')
    })

    it('are cut toward zero in what is added to pools, and in its quotes', async () => {
      const { client } = server.bots
      const { fields, isUsdcBase } = await sides(world.clmm, 'clmm', 150.04993085682477, '0.3327012345678901234567')
      const [usdc, weth] = isUsdcBase ? ['baseTokenAmount', 'quoteTokenAmount'] : ['quoteTokenAmount', 'baseTokenAmount']
      const quoted = await read('/trading/clmm/quote-liquidity', fields)
      expect([quoted[`${usdc}Max`], quoted[`${weth}Max`]]).to.deep.equal(['150.04993', '0.332701234567890123'])
      const opened = await client.post('/trading/clmm/open', { ...fields, ...wallet })
      expect(Number(opened.data[`${usdc}Added`])).to.be.within(1, 150.04993)
      const { positionAddress } = opened.data
      expect((await client.post('/trading/clmm/add', { ...fields, ...wallet, positionAddress })).status).to.equal(1)
      const shares = (await sides(world.amm, 'amm', 150.04993085682477, '0.3327012345678901234567')).fields
      expect((await client.post('/trading/amm/add', { ...shares, ...wallet })).status).to.equal(1)
      // A third of a position, as a client divides.
      expect(
        (await client.post('/trading/clmm/remove', { ...fields, ...wallet, positionAddress, percentageToRemove: 100 / 3 })).status,
      ).to.equal(1)
      // What one side has too little of is 0, as their own gateway has it.
      const above = { lowerPrice: fields.lowerPrice * 2, upperPrice: fields.upperPrice * 2 }
      const below = { lowerPrice: fields.lowerPrice / 2, upperPrice: fields.upperPrice / 2 }
      const dust = { ...fields, ...wallet, [usdc]: '1e-7', ...(isUsdcBase ? below : above) }
      expect((await client.post('/trading/clmm/open', dust)).status).to.equal(1)
    })

    it('are refused where nothing is left of them, by their field', async () => {
      const { client } = server.bots
      const tiny = { ...ofSwap, amount: '1e-07' }
      const local = { network: 'local', address: traders }
      const range = (await sides(world.clmm, 'clmm', 1e-7, '1e-19')).fields
      const shares = (await sides(world.amm, 'amm', 1e-7, '1e-19')).fields
      for (const [method, path, fields, field] of [
        ['GET', '/trading/router/quote-swap', tiny, 'amount'],
        ['GET', '/trading/swap/quote', tiny, 'amount'],
        ['POST', '/trading/router/execute-swap', { ...tiny, ...wallet }, 'amount'],
        ['POST', '/trading/swap/execute', { ...tiny, ...wallet }, 'amount'],
        ['POST', '/chains/ethereum/wrap', { ...local, amount: '1e-19' }, 'amount'],
        ['POST', '/chains/ethereum/unwrap', { ...local, amount: '0.0000000000000000009' }, 'amount'],
        ['GET', '/trading/clmm/quote-liquidity', range, 'baseTokenAmount'],
        ['POST', '/trading/clmm/open', { ...range, ...wallet }, 'baseTokenAmount'],
        ['GET', '/trading/amm/quote-liquidity', shares, 'baseTokenAmount'],
        ['POST', '/trading/amm/add', { ...shares, ...wallet }, 'baseTokenAmount'],
      ] as const) {
        const { status, body } = await client.refusal(method, path, fields)
        expect([status, body.code], `${path}: ${body.message}`).to.deep.equal([400, 'INVALID_PARAMS'])
        expect(body.message).to.contain(field).and.contain('smallest unit')
      }
    })
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
