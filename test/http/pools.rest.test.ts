import { expect } from 'chai'
import type { Answer, Client } from '../../testkit/client.ts'
import { admins, local, mined, outcome, sharedServer, uniswap } from './shared-server.ts'

const pair = { base: 'WETH', quote: 'USDC' } as const
const any = { ...local, connector: 'any' } as const

interface Depth {
  percent: number
  sell: string
  buy: string
  atLeast?: boolean
}
interface ShownPool {
  connector: string
  pool: string
  version: string
  tokens: string[]
  base: string
  quote: string
  fee: string
  price: string
  baseReserve?: string
  quoteReserve?: string
  liquidity?: string
  depth: Depth[]
  source: string
}

describe('the pools of a pair', () => {
  let client: Client
  const pools = (fields: object = {}): Promise<Answer> => client.get('/amm/pools', { ...any, ...pair, ...fields })
  const price = (fields: object): Promise<Answer> => client.post('/amm/price', { ...uniswap, ...pair, side: 'SELL', ...fields })
  before(async () => {
    client = (await sharedServer()).client
  })

  it('come from all connectors, the deepest first, from memory', async () => {
    // A node is asked for the first.
    let { body, text } = await pools()
    const isInMemory = () => body.pools.every(({ source }: ShownPool) => source === 'memory')
    for (let tries = 0; !isInMemory() && tries < 20; tries += 1) ({ body, text } = await pools())
    const all: ShownPool[] = body.pools
    expect(new Set(all.map(({ connector }) => connector)), text).to.include.keys('uniswap', 'sushiswap', 'balancer')
    expect(new Set(all.filter(({ connector }) => connector === 'uniswap').map(({ version }) => version))).to.include.keys('v2', 'v3', 'v4')
    const deepest = all.map(({ depth }) => Number(depth[1]?.sell))
    expect(deepest).to.deep.equal(deepest.toSorted((one, other) => other - one))
    for (const each of all) expect(each.source).to.equal('memory')
    const known = await client.get('/network/tokens', { ...local, tokenSymbols: ['WETH', 'USDC'] })
    for (const each of all) expect([each.base, each.quote]).to.deep.equal(known.body.map(({ address }: { address: string }) => address))
  })

  it('have the price of their reserves where they are of constant product', async () => {
    const { body } = await pools({ connector: 'uniswap', version: 'v2' })
    expect(body.pools).to.have.length(1)
    const [{ price: shown, baseReserve, quoteReserve, fee }] = body.pools
    expect(Number(shown)).to.be.closeTo(Number(quoteReserve) / Number(baseReserve), 1e-6)
    expect(fee).to.equal('0.003')
  })

  it('take and give their depth, and not much more, at a price that is worse by no more than its percentage', async () => {
    const { body } = await pools()
    // Others change pools beside it: the price of the smallest amounts is asked for with them.
    for (const { connector, pool, depth, version } of body.pools as ShownPool[])
      for (const { percent, sell, buy, atLeast } of depth) {
        const about = `${connector} ${version} ${percent} %`
        for (const [side, amount] of [
          ['SELL', sell],
          ['BUY', buy],
        ] as const) {
          const larger = String(Number(amount) * 1.01)
          const smaller = String(Number(amount) * 0.998)
          const { body: asked, text } = await price({ connector, pool, side, amounts: ['0.01', smaller, larger] })
          const [least, within, beyond] = asked.quotes ?? []
          const worse = (each: { price: string }) =>
            side === 'SELL' ? 1 - Number(each.price) / Number(least.price) : 1 - Number(least.price) / Number(each.price)
          expect(worse(within) * 100, `${about} ${text}`).to.be.at.most(percent + 0.01)
          if (!atLeast && !('error' in beyond)) expect(worse(beyond) * 100, about).to.be.at.least(percent - 0.02)
        }
      }
  })

  it('have their depth as a series, at any percentages', async () => {
    const { body, text } = await pools({ percents: '5,0.25,1,0.250,50' })
    for (const { depth, connector } of body.pools as ShownPool[]) {
      expect(
        depth.map(({ percent }) => percent),
        text,
      ).to.deep.equal([0.25, 1, 5, 50])
      for (const side of ['sell', 'buy'] as const) {
        const amounts = depth.map((each) => Number(each[side]))
        expect(amounts, `${connector} ${side}`).to.deep.equal(amounts.toSorted((one, other) => one - other))
      }
    }
    const [{ connector, pool, depth }] = body.pools
    const one = await client.get('/amm/pool', { ...local, connector, pool, ...pair, percents: ['0.25', '1', '5', '50'] })
    expect(
      one.body.depth.map(({ percent }: Depth) => percent),
      one.text,
    ).to.deep.equal(depth.map(({ percent }: Depth) => percent))
  })

  for (const percents of ['0', '100', '0.001', '-1', 'many', '1,2,3,4,5,6,7,8,9,10,11'])
    it(`cannot have their depth at ${percents} %`, async () => {
      const answer = await pools({ percents })
      expect(outcome(answer), answer.text).to.equal('400 INCOMPLETE_PARAMS')
      expect(answer.body.details[0].field).to.match(/^percents/)
    })

  it('cover each token of the list where a request names one token', async () => {
    const { body, text } = await client.get('/amm/pools', { ...uniswap, base: 'ETH', limit: '200' })
    expect(new Set(body.pools.map(({ quote }: ShownPool) => quote)).size, text).to.be.at.least(3)
    for (const { pool, quote } of (body.pools as ShownPool[]).slice(0, 4)) {
      const one = await client.get('/amm/pool', { ...uniswap, pool, base: 'ETH', quote })
      expect(one.body.pool, one.text).to.equal(pool)
    }
  })

  it('come in pages', async () => {
    const whole: ShownPool[] = (await pools()).body.pools
    const first = (await pools({ limit: 3 })).body
    expect(first.pools).to.have.length(3)
    const second = (await pools({ limit: 3, cursor: first.nextCursor })).body
    const names = [...first.pools, ...second.pools].map(({ connector, pool }: ShownPool) => `${connector} ${pool}`)
    expect(new Set(names).size).to.equal(6)
    expect(whole.length).to.be.at.least(7)
    expect(outcome(await pools({ cursor: 'x' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('each turn up by address, with and without their tokens', async () => {
    const { body } = await pools({ connector: 'uniswap' })
    for (const each of body.pools as ShownPool[]) {
      const asked = { ...uniswap, pool: each.pool.toLowerCase() }
      const found = await client.get('/amm/pool', { ...asked, ...pair })
      expect(found.body, found.text).to.deep.include({ pool: each.pool, version: each.version, tokens: each.tokens, fee: each.fee })
      const alone = await client.get('/amm/pool', asked)
      if (each.version === 'v4') expect(outcome(alone)).to.equal('400 INCOMPLETE_PARAMS')
      else expect(alone.body, alone.text).to.deep.include({ pool: each.pool, version: each.version })
    }
    const stranger = { ...uniswap, pool: admins, ...pair }
    expect(outcome(await client.get('/amm/pool', stranger))).to.equal('404 PAIR_NOT_FOUND')
    // A pool of another exchange is none of this one.
    const [other] = (await pools({ connector: 'sushiswap' })).body.pools
    expect(outcome(await client.get('/amm/pool', { ...uniswap, pool: other.pool }))).to.equal('404 PAIR_NOT_FOUND')
  })

  it('appear by their address with one of the tokens named, as base or as quote, also the native coin', async () => {
    const { body } = await pools({ connector: 'uniswap', version: 'v2' })
    const [{ pool, tokens }] = body.pools
    const [weth, usdc] = await Promise.all(
      ['WETH', 'USDC'].map(async (each) => (await client.get('/network/tokens', { ...local, tokenSymbols: each })).body[0].address),
    )
    expect(tokens).to.have.members([weth, usdc])
    for (const [fields, base] of [
      [{ base: 'WETH' }, weth],
      [{ base: 'ETH' }, weth],
      [{ base: 'USDC' }, usdc],
      [{ quote: 'WETH' }, usdc],
      [{ quote: 'ETH' }, usdc],
      [{ quote: 'USDC' }, weth],
      [{}, tokens[0]],
    ] as const) {
      const answer = await client.get('/amm/pool', { ...uniswap, pool, ...fields })
      expect(outcome(answer), `${JSON.stringify(fields)} ${answer.text}`).to.equal('200')
      expect(answer.body.base).to.equal(base)
    }
  })

  it('may be chosen for a price and a trade', async () => {
    const { body } = await pools({ connector: 'uniswap' })
    for (const { pool, version } of body.pools as ShownPool[]) {
      const quoted = await price({ pool, amount: '0.01', base: 'ETH' })
      expect(quoted.status, quoted.text).to.equal(200)
      expect(quoted.body.route.map((hop: { pool: string }) => hop.pool)).to.deep.equal([pool])
      const traded = await client.post('/amm/trade', {
        ...uniswap,
        ...pair,
        base: 'ETH',
        amount: '0.01',
        side: 'SELL',
        pool,
        address: admins,
      })
      expect(traded.status, `${version} ${traded.text}`).to.equal(200)
      expect(traded.body.expectedAmount).to.equal((await mined(client, traded.body.txHash)).body.fill.amountOut)
    }
    const [first] = body.pools as ShownPool[]
    const best = await client.post('/amm/price', { ...any, ...pair, side: 'SELL', amount: '0.01', pool: first?.pool })
    expect(best.body.connector, best.text).to.equal('uniswap')
    expect(outcome(await price({ pool: admins, amount: '1' }))).to.equal('404 PAIR_NOT_FOUND')
    expect(outcome(await price({ pool: '', amount: '1' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  for (const [fields, says] of [
    [{ base: 'WETH', quote: 'WETH' }, '400 INCOMPLETE_PARAMS'],
    [{ base: 'ETH', quote: 'WETH' }, '400 INCOMPLETE_PARAMS'],
    [{ base: 'NOPE' }, '404 TOKEN_NOT_SUPPORTED'],
    [{ connector: 'nobody' }, '404 UNKNOWN_CONNECTOR'],
    [{ connector: 'oasis' }, '501 UNSUPPORTED'],
    [{ connector: 'uniswap', connectors: 'uniswap' }, '400 INCOMPLETE_PARAMS'],
    [{ connector: 'uniswap', version: 'v9' }, '400 INCOMPLETE_PARAMS'],
  ] as const)
    it(`answers ${says} to ${JSON.stringify(fields)}`, async () => {
      expect(outcome(await pools(fields))).to.equal(says)
    })
})
