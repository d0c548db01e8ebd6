import { expect } from 'chai'
import { throughKoa, twoWays, type TwoWays } from '../../http/two-ways.ts'
import { chainNetwork } from './bot.ts'
import { sharedServer } from './shared-server.ts'

const pair = { baseToken: 'WETH', quoteToken: 'USDC', amount: '0.0123', side: 'SELL' }
const asked: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/': {},
  '/config/chains': {},
  '/wallet': {},
  '/tokens': { chainNetwork },
  '/trading/router/quote-swap': { chainNetwork, connector: 'uniswap', ...pair },
  '/trading/amm/quote-swap': { chainNetwork, connector: 'uniswap', ...pair },
  '/trading/swap/quote': { chainNetwork, connector: 'uniswap', ...pair },
  '/trading/clmm/position-info': { chainNetwork, connector: 'uniswap', positionAddress: '4711' },
}

/** The id of a quote is another one each time. */
const differing = (body: string) =>
  body.replace(/"quoteId":"[\w-]+"/, '"quoteId":…').replaceAll(/"(currentBlockNumber|blockNumber|timestamp|latency)":[\d.e-]+/g, '"$1":…')

describe('a GET of an interface that is answered beside Koa', function () {
  this.timeout(300_000)
  let ways: TwoWays
  before(async () => {
    const { kernel, certsDir } = await sharedServer()
    ways = twoWays(kernel.interfaceUrls['hummingbot'] ?? '', certsDir, differing)
  })
  after(() => ways?.close())

  for (const [path, fields] of Object.entries(asked))
    it(`has every byte that it has through Koa: ${path}`, async () => {
      const query = new URLSearchParams(fields).toString()
      for (const url of [`${path}?${query}`, `${path}?${query}&nonsense=1`, `${path}?amount=much`]) {
        const before = ways.contexts()
        await ways.bytesOf(url, {})
        expect(ways.contexts()).to.equal(before)
        const { direct, koa } = await ways.bothOf(url)
        expect(direct).to.equal(koa)
        expect(ways.contexts()).to.be.above(before)
      }
    })

  it('answers a question that is asked again and again, and the same with another amount, as if each were the first', async () => {
    const url = (amount: string) =>
      `/trading/router/quote-swap?${new URLSearchParams({ chainNetwork, connector: 'uniswap', ...pair, amount }).toString()}`
    for (const amount of ['0.0123', '0.0123', '0.5', '0.0123', '0', '1e-3', '0.0123'])
      expect(await ways.bytesOf(url(amount), {})).to.equal(await ways.bytesOf(`${url(amount)}&spelt=otherwise`, throughKoa))
  })
})
