import { expect } from 'chai'
import { admins, local, mined } from '../../http/shared-server.ts'
import { type Bot, chainNetwork, decimals, numbers } from './bot.ts'
import { sharedServer, type SharedServer } from './shared-server.ts'

const amounts = ['baseTokenAmount', 'quoteTokenAmount', 'baseTokenAmountMax', 'quoteTokenAmountMax'] as const
const exchanges = [
  { connector: 'uniswap', version: 'v3' },
  { connector: 'uniswap', version: 'v4' },
  { connector: 'pancakeswap', version: 'v3' },
] as const

describe('quotes of positions of Hummingbot’s clients', function () {
  this.timeout(300_000)
  let server: SharedServer
  let bot: Bot

  before(async () => {
    server = await sharedServer()
    bot = server.bots.client
    await submitted('/evm/wrap', { address: admins, amount: '50' })
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap/positions', 'uniswap/v4Positions', 'pancakeswap/positions'])
        await submitted('/evm/approve', { address: admins, spender, token })
  })

  async function submitted(path: string, fields: object): Promise<void> {
    const { status, text, body } = await server.client.post(path, { ...local, ...fields })
    expect(status, text).to.equal(200)
    await mined(server.client, body.txHash)
  }

  /** A pool, its price, and an amount of each token that is worth about 300 dollars. */
  async function poolOf({ connector, version }: (typeof exchanges)[number]) {
    const listed = await server.client.get('/amm/pools', { ...local, connector, base: 'WETH', quote: 'USDC', version })
    const of = { chainNetwork, connector, poolAddress: listed.body.pools[0].pool }
    const price = Number((await bot.get('/trading/clmm/pool-info', of)).price)
    const [base, quote] = price < 1 ? ['300', '0.1'] : ['0.1', '300']
    return { of, base, quote, between: (low: number, high: number) => ({ lowerPrice: price * low, upperPrice: price * high }) }
  }
  const quoteOf = async (fields: object) => {
    const texts = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
    return bot.get('/trading/clmm/quote-liquidity', texts)
  }
  const opened = async (fields: object) => bot.post('/trading/clmm/open', { walletAddress: admins, ...fields })
  const refused = async (fields: object) => bot.refusal('GET', '/trading/clmm/quote-liquidity', fields)

  for (const exchange of exchanges)
    it(`tell to the unit what an open takes that offers the maxima, on ${exchange.connector} ${exchange.version}`, async () => {
      const { of, base, quote, between } = await poolOf(exchange)
      for (const { range, given, limited } of [
        { range: between(0.9, 1.1), given: { baseTokenAmount: base }, limited: true },
        { range: between(0.8, 1.05), given: { quoteTokenAmount: quote }, limited: false },
        { range: between(0.9, 1.1), given: { baseTokenAmount: base, quoteTokenAmount: Number(quote) * 10 }, limited: true },
        { range: between(0.9, 1.1), given: { baseTokenAmount: Number(base) * 10, quoteTokenAmount: quote }, limited: false },
        { range: between(1.2, 1.4), given: { baseTokenAmount: base }, limited: true },
        { range: between(0.6, 0.8), given: { quoteTokenAmount: quote }, limited: false },
        { range: between(0.6, 0.8), given: { baseTokenAmount: 0, quoteTokenAmount: quote }, limited: false },
      ]) {
        const asked = { ...of, ...range, slippagePct: 0.5 }
        const told = await quoteOf({ ...asked, ...given })
        decimals(told, ...amounts)
        numbers(told, 'positionCount', 'transactionCount')
        expect([told.poolAddress, told.baseLimited], JSON.stringify(given)).to.deep.equal([of.poolAddress, limited])
        const { status, data } = await opened({
          ...asked,
          baseTokenAmount: told.baseTokenAmountMax,
          quoteTokenAmount: told.quoteTokenAmountMax,
        })
        expect(status).to.equal(1)
        expect([data.baseTokenAmountAdded, data.quoteTokenAmountAdded]).to.deep.equal([told.baseTokenAmount, told.quoteTokenAmount])
      }
    })

  it('are numbers for 2.16, by the name that it has for them', async () => {
    const { of, base, between } = await poolOf(exchanges[0])
    const { chainNetwork: _, connector: _of, ...rest } = { ...of, ...between(0.9, 1.1), baseTokenAmount: base }
    const texts = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]))
    const told = await bot.get('/connectors/uniswap/clmm/quote-position', { network: 'local', ...texts })
    numbers(told, ...amounts)
    const newer = await quoteOf({ ...of, ...rest })
    for (const name of amounts) expect(told[name]).to.be.within(Number(newer[name]) * (1 - 1e-14), Number(newer[name]))
    expect(told.baseLimited).to.equal(true)
  })

  it('and opens are refused with words where an amount is missing that the range takes, and nothing is signed', async () => {
    const { of, base, quote, between } = await poolOf(exchanges[0])
    const before = (await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce
    const [inside, above, below] = [between(0.9, 1.1), between(1.2, 1.4), between(0.6, 0.8)]
    const missing = [
      [inside, {}, /baseTokenAmount: .*quoteTokenAmount/],
      [inside, { baseTokenAmount: 0, quoteTokenAmount: 0 }, /baseTokenAmount: must be more than 0/],
      [inside, { baseTokenAmount: base, quoteTokenAmount: 0 }, /quoteTokenAmount: must be more than 0: .* inside the range/],
      [above, { quoteTokenAmount: quote }, /baseTokenAmount: .* outside the range/],
      [below, { baseTokenAmount: base }, /quoteTokenAmount: .* outside the range/],
    ] as const
    for (const [range, given, words] of missing) {
      const { status, body } = await refused({ ...of, ...range, ...given })
      expect([status, body.code], body.message).to.deep.equal([400, 'INVALID_PARAMS'])
      expect(body.message)
        .to.match(words)
        .and.not.match(/amount[01]/)
    }
    // As their own gateway, an open takes what is absent for 0.
    for (const [range, given, words] of [
      ...missing,
      [inside, { baseTokenAmount: base }, /quoteTokenAmount: .* inside the range/],
    ] as const) {
      const { status, body } = await bot.refusal('POST', '/trading/clmm/open', { ...of, walletAddress: admins, ...range, ...given })
      expect([status, body.code], body.message).to.deep.equal([400, 'INVALID_PARAMS'])
      expect(body.message)
        .to.match(words)
        .and.not.match(/amount[01]/)
    }
    for (const [range, given] of [
      [above, { baseTokenAmount: base }],
      [below, { quoteTokenAmount: quote }],
    ] as const) {
      const { status, data } = await opened({ ...of, ...range, ...given })
      expect(status).to.equal(1)
      const [name, amount] = Object.entries(given)[0] ?? expect.fail()
      expect(Number(data[`${name}Added`])).to.be.within(Number(amount) * 0.999999, Number(amount))
      expect(Number(data[`${name === 'baseTokenAmount' ? 'quote' : 'base'}TokenAmountAdded`])).to.equal(0)
    }
    const after = (await server.client.get('/evm/nonce', { ...local, address: admins })).body.nonce
    expect(after - before).to.equal(2)
  })

  it('tell to the unit what an addition of shares takes that offers the maxima', async () => {
    await submitted('/evm/wrap', { address: admins, amount: '20' })
    for (const token of ['WETH', 'USDC']) await submitted('/evm/approve', { address: admins, spender: 'uniswap/v2', token })
    const listed = await server.client.get('/amm/pools', { ...local, connector: 'uniswap', base: 'WETH', quote: 'USDC', version: 'v2' })
    const of = { chainNetwork, connector: 'uniswap', poolAddress: listed.body.pools[0].pool }
    const price = Number((await bot.get('/trading/amm/pool-info', of)).price)
    const [coin, dollars] = ['0.123456789012345678', '345.678901']
    const [base, quote] = price < 1 ? [dollars, coin] : [coin, dollars]
    for (const { given, limited } of [
      { given: { baseTokenAmount: base }, limited: true },
      { given: { quoteTokenAmount: quote }, limited: false },
      { given: { quoteTokenAmount: '0.0000345' }, limited: false },
      { given: { baseTokenAmount: base, quoteTokenAmount: price < 1 ? '5' : '5000' }, limited: true },
      { given: { baseTokenAmount: price < 1 ? '5000' : '5', quoteTokenAmount: quote }, limited: false },
    ]) {
      const told = await bot.get('/trading/amm/quote-liquidity', { ...of, ...given })
      decimals(told, ...amounts)
      expect(told.baseLimited, JSON.stringify(given)).to.equal(limited)
      for (const [name, amount] of Object.entries(given)) expect(Number(told[`${name}Max`])).to.equal(Number(amount))
      const offered = { baseTokenAmount: told.baseTokenAmountMax, quoteTokenAmount: told.quoteTokenAmountMax }
      const { status, data } = await bot.post('/trading/amm/add', { ...of, walletAddress: admins, ...offered })
      expect(status).to.equal(1)
      expect([data.baseTokenAmountAdded, data.quoteTokenAmountAdded].map(Number)).to.deep.equal(
        [told.baseTokenAmount, told.quoteTokenAmount].map(Number),
      )
    }
  })
})
